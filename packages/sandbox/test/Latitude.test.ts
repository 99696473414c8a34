/**
 * The effect of every field of a latitude, in process and in virtual time; and every drawn latitude is a service that the
 * document permits.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Errors from "@plaza/domain/Errors"
import { isWrite, names } from "@plaza/domain/Operations"
import { type Fault, Latitude, Sandbox } from "@plaza/sandbox"
import { between } from "@plaza/testing/Generators"
import { Array as Arr, Clock, Duration, Effect, Exit, Fiber, Predicate, Redacted, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import { call, control, field, layerInProcess, layerSocket, messageOf, refusal, type Response, someone } from "./support.ts"

const add = (fault: Fault) => Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.addFault(fault))
const set = (change: Latitude.Change | number) => Effect.flatMap(Sandbox.Sandbox, ({ setLatitude }) => setLatitude(change))
const state = Effect.flatMap(Sandbox.Sandbox, ({ state }) => state)
const commits = Effect.flatMap(Sandbox.Sandbox, ({ commits }) => commits)
const post = (text: string, mediaIds?: ReadonlyArray<string>) =>
  call("POST", "/posts", { json: { text, ...(mediaIds === undefined ? {} : { mediaIds }) } })
const list = (query = "") => call("GET", `/me/posts${query}`)
const upload = Effect.suspend(() => {
  const form = new FormData()
  form.append("file", new File(["a"], "a.txt", { type: "text/plain" }))
  return call("POST", "/media", { form })
})
const has = (value: unknown, name: string): boolean => Predicate.isReadonlyObject(value) && Object.hasOwn(value, name)
const Items = Schema.Struct({
  data: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
  next_cursor: Schema.optional(Schema.NullOr(Schema.String))
})
const pageOf = (reply: Response) => Schema.decodeUnknownSync(Items)(reply.json)
const ids = (reply: Response): ReadonlyArray<string> => pageOf(reply).data.map(({ id }) => String(id))
const newest = Effect.map(list("?limit=1"), (reply) => pageOf(reply).data[0])
const stored = Effect.map(state, ({ posts }) => posts.at(-1)?.text)
const orders = Effect.map(state, ({ orders }) => orders.filter(({ shipment }) => shipment === null).map(({ id }) => id))
const ship = (id: string) =>
  call("POST", `/store/orders/${encodeURIComponent(id)}/ship`, { json: { carrier: "Post", trackingNumber: "1" } })
const setStock = (id = "0042") => call("PATCH", `/store/products/${id}/stock`, { json: { stock: 5 } })
const like = Effect.flatMap(state, ({ posts }) => call("POST", `/posts/${posts[0]?.id ?? ""}/like`))
const comment = (text: string) =>
  Effect.flatMap(state, ({ posts }) => call("POST", `/posts/${encodeURIComponent(posts[0]?.id ?? "")}/comments`, { json: { text } }))
const send = (text: string) => call("POST", "/conversations/conv_301/messages", { json: { text } })
/** Walks a list to its end. */
const walk = (
  path: string,
  limit: number
): Effect.Effect<ReadonlyArray<ReadonlyArray<string>>, unknown, Effect.Services<ReturnType<typeof call>>> =>
  Effect.gen(function*() {
    const pages: Array<ReadonlyArray<string>> = []
    let cursor: string | null | undefined = undefined
    do {
      const query: string = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`
      const reply: Response = yield* call("GET", `${path}?limit=${limit}${query}`)
      assert.strictEqual(reply.status, 200, reply.text)
      const page = pageOf(reply)
      pages.push(ids(reply))
      cursor = page.next_cursor === "" ? null : page.next_cursor ?? null
    } while (cursor !== null && pages.length < 300)
    return pages
  })
const inSandbox = (options: Sandbox.Options = {}) => <A, E>(test: Effect.Effect<A, E, Effect.Services<ReturnType<typeof call>>>) =>
  Effect.provide(test, layerInProcess({ ...options, assumptions: { requestsPerWindow: 100_000, ...options.assumptions } }))

describe("fields of resources", () => {
  it.effect("are present, null or omitted, each independently, in lists and in single responses", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<
        readonly [keyof Latitude.Latitude, string, Effect.Effect<unknown, unknown, Effect.Services<ReturnType<typeof call>>>]
      > = [
        ["profileId", "id", Effect.map(call("GET", "/me"), ({ json }) => json)],
        ["username", "username", Effect.map(call("GET", "/users/1002"), ({ json }) => json)],
        ["postTextInList", "text", newest],
        ["postMediaIdsInList", "mediaIds", newest],
        ["postCreatedAtInList", "createdAt", newest],
        ["postTextInResponse", "text", Effect.map(post("a"), ({ json }) => json)],
        ["postMediaIdsInResponse", "mediaIds", Effect.map(post("a"), ({ json }) => json)],
        ["postCreatedAtInResponse", "createdAt", Effect.map(post("a"), ({ json }) => json)],
        ["commentText", "text", Effect.map(comment("a"), ({ json }) => json)],
        ["messageText", "text", Effect.map(send("a"), ({ json }) => json)],
        ["stock", "stock", Effect.map(setStock(), ({ json }) => json)],
        ["carrier", "carrier", Effect.flatMap(orders, ([id = ""]) => Effect.map(ship(id), ({ json }) => json))],
        ["trackingNumber", "trackingNumber", Effect.flatMap(orders, ([id = ""]) => Effect.map(ship(id), ({ json }) => json))]
      ]
      for (const [name, shown, ask] of cases) {
        for (const presence of ["present", "null", "omitted"] as const) {
          yield* set({ ...Latitude.defaults, [name]: presence })
          const value = yield* ask
          assert.strictEqual(has(value, shown), presence !== "omitted", `${name} ${presence}`)
          if (Predicate.isReadonlyObject(value)) {
            assert.strictEqual(value[shown] === null, presence === "null", `${name} ${presence}`)
          }
        }
      }
    }).pipe(inSandbox()))

  it.effect("that the document does not show appear in objects, list items, list envelopes and errors", () =>
    Effect.gen(function*() {
      assert.isTrue(has((yield* call("GET", "/me")).json, "addedLater"))
      const page = yield* list("?limit=1")
      assert.isTrue(has(page.json, "addedLater"))
      assert.isTrue(has(pageOf(page).data[0], "addedLater"))
      const refused = yield* post("")
      assert.isTrue(has(refused.json, "traceId"))
      assert.isTrue(has(field(refused, "error"), "docs"))
      assert.strictEqual(refusal(refused), "400 VALIDATION_ERROR text")
    }).pipe(inSandbox({ latitude: { extraFields: true, extraErrorFields: true } })))
})

describe("what is stored", () => {
  it.effect("differs from the sent text by the active forms, in posts, comments and messages; commits keep the sent text", () =>
    Effect.gen(function*() {
      const sent = " <b>\r\n Cafe\u0301 \"x\"  & 'y' "
      for (
        const [text, expected] of [
          [["trimmed"], sent.trim()],
          [["lf"], sent.replace("\r\n", "\n")],
          [["collapsed"], " <b> Cafe\u0301 \"x\" & 'y' "],
          [["htmlEscaped"], " &lt;b&gt;\r\n Cafe\u0301 &quot;x&quot;  &amp; &#39;y&#39; "],
          [["nfc"], " <b>\r\n Caf\u00e9 \"x\"  & 'y' "],
          [["namedEntities"], sent],
          [["numericEntities"], " <b>\r\n Cafe&#769; \"x\"  & 'y' "],
          [["smartPunctuation"], " <b>\r\n Cafe\u0301 \u201cx\u201d  & \u2018y\u2019 "],
          [["nfc", "namedEntities", "smartPunctuation"], " <b>\r\n Caf&eacute; &ldquo;x&rdquo;  & &lsquo;y&rsquo; "],
          [["nfc", "collapsed", "trimmed"], "<b> Caf\u00e9 \"x\" & 'y'"],
          [[], sent]
        ] as const
      ) {
        yield* set({ text })
        assert.strictEqual(field(yield* post(sent), "text"), expected)
        assert.strictEqual(yield* stored, expected)
        assert.strictEqual(field(yield* comment(sent), "text"), expected)
        assert.strictEqual(field(yield* send(sent), "text"), expected)
      }
      const payloads = (yield* commits).map(({ payload }) => payload)
      assert.isTrue(payloads.every((payload) => Predicate.isReadonlyObject(payload) && payload["text"] === sent))
      assert.lengthOf(payloads, 33)
    }).pipe(inSandbox()))

  it.effect("has short links, names of emoji and typographic punctuation if those forms are active", () =>
    Effect.gen(function*() {
      for (
        const [text, sent, expected] of [
          [["linksShortened"], "read https://example.org/a/long/path?x=1&y=2 now", /^read https:\/\/l\.example\/[\da-f]{8} now$/],
          [["emojiCodes"], "party \u{1f389}\u{1f525} \u{1f991}!", /^party :tada::fire: :emoji_1f991:!$/],
          [["smartPunctuation"], "\"it's on\" -- at 8...", /^\u201cit\u2019s on\u201d \u2014 at 8\u2026$/],
          [["namedEntities"], "sch\u00f6n, 5 \u20ac, \u4f60", /^sch&ouml;n, 5 &euro;, \u4f60$/],
          [["numericEntities"], "sch\u00f6n \u{1f389}", /^sch&#246;n &#127881;$/],
          [["htmlEscaped", "namedEntities"], "<\u00f6>", /^&lt;&ouml;&gt;$/]
        ] as const
      ) {
        yield* set({ text })
        assert.match(String(field(yield* post(sent), "text")), expected)
      }
    }).pipe(inSandbox()))

  it.effect("is cut at the length limit, with or without an ellipsis", () =>
    Effect.gen(function*() {
      yield* set({ storedTextLength: 3 })
      assert.strictEqual(field(yield* post("a😀bc"), "text"), "a😀b")
      assert.strictEqual(field(yield* post("a😀b"), "text"), "a😀b")
      yield* set({ ellipsis: true })
      assert.strictEqual(field(yield* post("a😀bc"), "text"), "a😀…")
    }).pipe(inSandbox()))

  it.effect("has media as sent, reversed or sorted", () =>
    Effect.gen(function*() {
      const uploaded = yield* Effect.replicateEffect(upload, 3)
      const [a = "", b = "", c = ""] = uploaded.map((reply) => String(field(reply, "mediaId")))
      for (const [mediaOrder, expected] of [["asSent", [b, a, c]], ["reversed", [c, a, b]], ["sorted", [a, b, c]]] as const) {
        yield* set({ mediaOrder })
        assert.deepStrictEqual(field(yield* post("x", [b, a, c]), "mediaIds"), expected)
      }
    }).pipe(inSandbox()))

  it.effect("has ids of any form, which can be used in paths and bodies", () =>
    Effect.gen(function*() {
      for (
        const [idForm, form] of [
          ["plain", /^\d+$/],
          ["uuid", /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/],
          ["special", /[/ %?#&"☃😀]/u],
          ["prefixed", /^post_\d{8}$/]
        ] as const
      ) {
        yield* set({ idForm })
        const mediaId = String(field(yield* upload, "mediaId"))
        const id = String(field(yield* post("a", [mediaId]), "id"))
        assert.match(id, form)
        assert.strictEqual((yield* call("POST", `/posts/${encodeURIComponent(id)}/like`)).status, 204)
      }
      const { createConversation } = yield* Sandbox.Sandbox
      assert.match(yield* createConversation({ peerId: "1002" }), /^conversation_/)
    }).pipe(inSandbox()))

  it.effect("has accounts, products and orders with ids of that form if the sandbox generates them; given ids stay unchanged", () =>
    Effect.gen(function*() {
      const { createAccount, setProduct } = yield* Sandbox.Sandbox
      const { id } = yield* createAccount()
      assert.match(id, /^user\/é/)
      assert.strictEqual((yield* call("GET", `/users/${encodeURIComponent(id)}`)).status, 200)
      assert.strictEqual((yield* createAccount({ id: "own" })).id, "own")
      assert.strictEqual(yield* setProduct({ id: "SKU 1" }), "SKU 1")
      const { accounts, conversations, orders, products } = yield* state
      for (const [kind, all] of [["user", accounts], ["product", products], ["order", orders], ["conversation", conversations]] as const) {
        assert.lengthOf(all.filter((thing) => thing.id.startsWith(`${kind}/é `)), kind === "user" ? 4 : 3, kind)
      }
      const product = products.find((thing) => thing.id.startsWith("product/"))?.id ?? ""
      assert.strictEqual((yield* setStock(encodeURIComponent(product))).status, 200)
    }).pipe(inSandbox({
      latitude: { idForm: "special" },
      fixtures: { generate: { people: 3, products: 3, orders: 3, conversations: 3 } }
    })))
})

describe("time", () => {
  it.effect("createdAt has whole seconds in value and milliseconds in form, and differs from Date by its offset", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-10-01T12:00:00.700Z"))
      yield* set({ dateHeader: "present", createdAtPrecision: "seconds" })
      const whole = yield* post("a")
      assert.strictEqual(field(whole, "createdAt"), "2026-10-01T12:00:00.000Z")
      assert.strictEqual(whole.headers["date"], "Thu, 01 Oct 2026 12:00:00 GMT")
      yield* set({ createdAtPrecision: "milliseconds", createdAtOffsetMillis: -150 })
      assert.strictEqual(field(yield* post("a"), "createdAt"), "2026-10-01T12:00:00.550Z")
      yield* set({ clockOffsetMillis: 600_000 })
      const ahead = yield* post("a")
      assert.strictEqual(field(ahead, "createdAt"), "2026-10-01T12:10:00.550Z")
      assert.strictEqual(ahead.headers["date"], "Thu, 01 Oct 2026 12:10:00 GMT")
      yield* set({ dateHeader: "absent" })
      assert.isUndefined((yield* post("a")).headers["date"])
    }).pipe(inSandbox()))

  it.effect("a list shows a post only after the lag", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("1 day")
      const id = field(yield* post("a"), "id")
      yield* TestClock.adjust("699 millis")
      assert.notInclude(ids(yield* list()), id)
      yield* TestClock.adjust("1 millis")
      assert.include(ids(yield* list()), id)
    }).pipe(inSandbox({ latitude: { listLagMillis: 700 } })))
})

describe("lists", () => {
  it.effect("hold every item once, in each order, form of cursor and filling of pages", () =>
    Effect.gen(function*() {
      const whole = (yield* walk("/me/posts", 100)).flat()
      const shuffled: Array<string> = []
      const orders = ["newestFirst", "oldestFirst", "shuffled"] as const
      const fillings = ["full", "short", "someEmpty"] as const
      const cases: ReadonlyArray<Pick<Latitude.Latitude, "listOrder" | "cursorForm" | "pages">> = [
        ...orders.flatMap((listOrder) => fillings.map((pages) => ({ listOrder, cursorForm: "base64url", pages } as const))),
        ...(["decimal", "uuid", "special", "long"] as const).map((
          cursorForm
        ) => ({ listOrder: "shuffled", cursorForm, pages: "full" } as const))
      ]
      for (const latitude of cases) {
        yield* set(latitude)
        const { listOrder, pages } = latitude
        const walked = yield* walk("/me/posts", 6)
        const flat = walked.flat()
        assert.deepStrictEqual([...flat].sort(), [...whole].sort(), JSON.stringify(latitude))
        if (listOrder === "shuffled") {
          shuffled.push(flat.join())
        } else {
          assert.deepStrictEqual(flat, listOrder === "newestFirst" ? whole : [...whole].reverse())
        }
        const sizes = walked.slice(0, -1).map((page) => page.length)
        assert.strictEqual(sizes.some((size) => size < 6), pages !== "full", `${JSON.stringify(latitude)} ${sizes.join()}`)
        assert.strictEqual(sizes.includes(0), pages === "someEmpty", `${JSON.stringify(latitude)} ${sizes.join()}`)
      }
      assert.lengthOf(Arr.dedupe(shuffled), 1)
      assert.notInclude([whole.join(), [...whole].reverse().join()], shuffled[0])
    }).pipe(inSandbox()))

  it.effect("have cursors of the form, and refuse an expired one", () =>
    Effect.gen(function*() {
      for (
        const [cursorForm, form] of [
          ["decimal", /^\d+$/],
          ["uuid", /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-/],
          ["special", /^\/\+=&\? %"#é☃😀/],
          ["long", /^.{2000}$/]
        ] as const
      ) {
        yield* set({ cursorForm })
        const cursor = pageOf(yield* list("?limit=1")).next_cursor ?? ""
        assert.match(cursor, form)
        assert.strictEqual(refusal(yield* list(`?cursor=${encodeURIComponent(`${cursor}0`)}`)), "400 VALIDATION_ERROR cursor")
      }
      yield* set({ cursorForm: "base64url", cursorExpiresAfterMillis: 1_000 })
      const cursor = pageOf(yield* list("?limit=1")).next_cursor ?? ""
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* list(`?cursor=${cursor}`)).status, 200)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(refusal(yield* list(`?cursor=${cursor}`)), "400 VALIDATION_ERROR cursor")
    }).pipe(inSandbox()))

  it.effect("end with null, an omitted field or an empty string, and have their own page size", () =>
    Effect.gen(function*() {
      for (const [lastCursor, expected] of [["null", null], ["omitted", undefined], ["emptyString", ""]] as const) {
        yield* set({ lastCursor })
        assert.strictEqual(pageOf(yield* list("?limit=100")).next_cursor, expected)
      }
      yield* set({ defaultPageSize: 3 })
      assert.lengthOf(ids(yield* list()), 3)
      assert.lengthOf(ids(yield* list("?limit=5")), 5)
    }).pipe(inSandbox()))
})

describe("success", () => {
  it.effect("has the status and the body of the endpoint's action", () =>
    Effect.gen(function*() {
      const creates = [post("a"), comment("a"), send("a")]
      const updates = [setStock(), Effect.flatMap(orders, ([id = ""]) => ship(id))]
      const confirms = [like, call("POST", "/users/1002/follow")]
      for (const status of [200, 201, 204] as const) {
        for (const shape of ["resource", "none", "unexpected"] as const) {
          yield* set({
            createStatus: status,
            createBody: shape,
            updateStatus: status,
            updateBody: shape,
            confirmStatus: status,
            confirmBody: shape === "resource" ? "none" : shape
          })
          for (
            const [asks, confirmed] of [[creates, shape], [updates, shape], [confirms, shape === "resource" ? "none" : shape]] as const
          ) {
            for (const ask of asks) {
              const reply = yield* ask
              assert.strictEqual(reply.status, status, reply.text)
              assert.strictEqual(reply.text === "", status === 204 || confirmed === "none")
              if (status !== 204 && confirmed === "unexpected") {
                assert.deepStrictEqual(reply.json, { ok: true })
              }
            }
          }
          assert.strictEqual((yield* call("GET", "/me")).status, 200)
        }
      }
      yield* set({ uploadStatus: 201 })
      const uploaded = yield* upload
      assert.strictEqual(uploaded.status, 201)
      assert.isString(field(uploaded, "mediaId"))
    }).pipe(inSandbox()))

  it.effect("and failures are JSON in any form, with any JSON content type, with or without x-request-id", () =>
    Effect.gen(function*() {
      yield* set({ json: "escaped", contentType: "application/json", requestId: false })
      const reply = yield* post("a/ü+😀")
      assert.include(reply.text, "a\\/\\u00fc\\u002b\\ud83d\\ude00")
      assert.strictEqual(field(reply, "text"), "a/ü+😀")
      assert.strictEqual(reply.headers["content-type"], "application/json")
      assert.isUndefined(reply.headers["x-request-id"])
      yield* set({ json: "indented" })
      const refused = yield* post("")
      assert.include(refused.text, "\n  ")
      assert.strictEqual(refusal(refused), "400 VALIDATION_ERROR text")
      assert.isUndefined(refused.headers["x-request-id"])
    }).pipe(inSandbox()))

  it.effect("has no body if the response has none, whatever the form of JSON", () =>
    Effect.gen(function*() {
      for (const contentType of ["application/json; charset=utf-8", "application/problem+json"]) {
        for (const json of ["plain", "escaped", "indented"] as const) {
          for (const fault of [{ kind: "status", when: "after" }, { kind: "slow", when: "after", millis: 1_000 }] as const) {
            yield* set({ ...Latitude.defaults, requestId: false })
            yield* add({ ...fault, status: 204, times: 2 })
            const expected = yield* like
            yield* set({ json, contentType, clockOffsetMillis: 1 })
            const { headers, status, text } = yield* like
            assert.deepStrictEqual([status, text, headers["content-type"]], [204, "", expected.headers["content-type"]])
            assert.sameMembers(Object.keys(headers), Object.keys(expected.headers))
          }
          yield* add({ kind: "cut", when: "after", status: 204 })
          assert.isTrue(Exit.isFailure(yield* Effect.exit(like)))
        }
      }
    }).pipe(inSandbox()))
})

describe("failures", () => {
  it.effect("have new codes in place of the given ones, of the service and of faults", () =>
    Effect.gen(function*() {
      assert.strictEqual(refusal(yield* call("GET", "/users/nobody")), "404 NEW_NOT_FOUND")
      yield* add({ kind: "status", when: "before", status: 500 })
      assert.strictEqual(refusal(yield* post("a")), "500 NEW_INTERNAL_ERROR")
      assert.strictEqual(refusal(yield* post("")), "400 VALIDATION_ERROR text")
    }).pipe(inSandbox({ latitude: { newCodes: ["NOT_FOUND", "INTERNAL_ERROR"] } })))

  it.effect("have a new code for each status of the document", () =>
    Effect.gen(function*() {
      const codes = Object.keys(Errors.byCode)
      yield* set({ newCodes: codes })
      for (const status of [400, 401, 403, 404, 409, 413, 429, 500]) {
        yield* add({ kind: "status", when: "before", status })
        const reply = yield* post("a")
        assert.strictEqual(reply.status, status)
        assert.match(refusal(reply), new RegExp(`^${status} NEW_[A-Z_]+$`))
      }
      const drawn = new Set(Arr.makeBy(300, (seed) => Latitude.fromSeed(seed).newCodes).flat())
      assert.sameMembers([...drawn], codes)
    }).pipe(inSandbox()))

  it.effect("have Retry-After in seconds or as a date of the service's clock; that of a fault stays unchanged", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-10-01T12:00:00.300Z"))
      yield* post("a")
      assert.strictEqual((yield* post("a")).headers["retry-after"], "60")
      yield* set({ retryAfter: "date", clockOffsetMillis: 600_000 })
      const refused = yield* post("a")
      assert.strictEqual(refused.headers["retry-after"], "Thu, 01 Oct 2026 12:11:01 GMT")
      assert.strictEqual(refused.headers["date"], "Thu, 01 Oct 2026 12:10:00 GMT")
      yield* TestClock.adjust("1 minute")
      yield* add({ kind: "status", when: "before", status: 503 })
      assert.isUndefined((yield* post("a")).headers["retry-after"])
      yield* set({ retryAfterOn503Seconds: 2, retryAfter: "seconds" })
      yield* add({ kind: "status", when: "before", status: 503, body: "<h1>" })
      const page = yield* post("a")
      assert.deepStrictEqual([page.headers["retry-after"], page.text], ["2", "<h1>"])
      yield* add({ kind: "status", when: "before", status: 503, retryAfter: "soon" })
      assert.strictEqual((yield* post("a")).headers["retry-after"], "soon")
    }).pipe(Effect.provide(layerInProcess({ assumptions: { requestsPerWindow: 1 } }))))

  it.effect("count a daily quota per account, per area or per operation", () =>
    Effect.gen(function*() {
      const outcome = Effect.map(
        Effect.all([post("a"), list("?limit=1"), post("a"), call("GET", "/me"), like]),
        (replies) => replies.map(({ status }) => status === 429 ? 429 : 200)
      )
      for (
        const [quotaPer, expected] of [
          ["account", [200, 200, 429, 429, 429]],
          ["area", [200, 200, 429, 200, 429]],
          ["operation", [200, 200, 200, 200, 200]]
        ] as const
      ) {
        yield* TestClock.adjust("1 day")
        yield* set({ quotaPer, dailyQuota: 2 })
        assert.deepStrictEqual(yield* outcome, [...expected], quotaPer)
      }
    }).pipe(inSandbox()))

  it.effect("count the rate in a sliding window, in fixed minutes, or by a token bucket", () =>
    Effect.gen(function*() {
      const accepted = (count: number) =>
        Effect.map(Effect.replicateEffect(call("GET", "/me"), count), (replies) => replies.filter(({ status }) => status === 200).length)
      const retryAfter = Effect.map(call("GET", "/me"), ({ headers }) => headers["retry-after"])
      for (
        const [latitude, counts] of [
          [{ rateCounting: "slidingWindow" }, [2, 8, 0, 2]],
          [{ rateCounting: "fixedWindow" }, [2, 8, 10, 0]],
          [{ rateCounting: "tokenBucket" }, [2, 10, 1, 5]],
          [{ rateCounting: "tokenBucket", rateBurst: 3 }, [2, 3, 1, 3]],
          [{ rateCounting: "tokenBucket", rateBurst: 1_000 }, [2, 10, 1, 5]]
        ] as const
      ) {
        const { reset } = yield* Sandbox.Sandbox
        yield* reset
        yield* set({ ...Latitude.defaults, ...latitude })
        yield* TestClock.adjust(60_000 - ((yield* Clock.currentTimeMillis) % 60_000))
        yield* TestClock.adjust("8 seconds")
        const found: Array<number> = []
        for (const [tries, pause] of [[2, 47], [20, 10], [20, 30], [20, 0]] as const) {
          found.push(yield* accepted(tries))
          yield* TestClock.adjust(Duration.seconds(pause))
        }
        assert.deepStrictEqual(found, [...counts], JSON.stringify(latitude))
        const wait = Number(yield* retryAfter)
        yield* TestClock.adjust(Duration.seconds(wait))
        assert.strictEqual((yield* call("GET", "/me")).status, 200)
      }
    }).pipe(Effect.provide(layerInProcess({ assumptions: { requestsPerWindow: 10 } }))))

  it.effect("count refused requests against the rate if the latitude says so", () =>
    Effect.gen(function*() {
      for (const [countRefused, expected] of [[null, 200], [false, 200], [true, 429]] as const) {
        yield* set({ countRefused })
        yield* TestClock.adjust("1 hour")
        yield* Effect.replicateEffect(call("GET", "/me"), 2)
        yield* TestClock.adjust("30 seconds")
        yield* Effect.replicateEffect(call("GET", "/me"), 2)
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual((yield* call("GET", "/me")).status, expected, String(countRefused))
      }
    }).pipe(Effect.provide(layerInProcess({ assumptions: { requestsPerWindow: 2 } }))))

  it.effect("include a redirect or 408 for every nth request, before the service receives it or after it was carried out", () =>
    Effect.gen(function*() {
      for (const gatewayStatus of [301, 302, 303, 307, 308, 408] as const) {
        for (const gatewayStatusWhen of ["before", "after"] as const) {
          const { requests, reset } = yield* Sandbox.Sandbox
          yield* reset
          yield* set({ gatewayStatus, gatewayStatusEvery: 3, gatewayStatusWhen })
          const replies = yield* Effect.all(Arr.makeBy(7, (index) => post(`text ${index}`)))
          assert.deepStrictEqual(replies.map(({ status }) => status), [200, 200, gatewayStatus, 200, 200, gatewayStatus, 200])
          assert.deepStrictEqual([replies[2]?.text, replies[2]?.headers["location"]], [
            "",
            gatewayStatus === 408 ? undefined : "/elsewhere"
          ])
          assert.lengthOf(yield* commits, gatewayStatusWhen === "before" ? 5 : 7)
          const log = yield* requests
          assert.deepInclude(log[2], gatewayStatusWhen === "before"
            ? { status: null, deliveredStatus: gatewayStatus, delivered: "replaced", rule: "gateway", faults: [] }
            : { status: 200, deliveredStatus: gatewayStatus, delivered: "replaced", rule: "posts.createPost", faults: [] })
        }
      }
      yield* set({ gatewayStatus: 307, gatewayStatusEvery: 1 })
      yield* add({ kind: "status", when: "before", status: 503 })
      assert.strictEqual((yield* post("a")).status, 503)
    }).pipe(inSandbox()))

  it.effect("include redirects, which a fault sends with a location", () =>
    Effect.gen(function*() {
      yield* add({ kind: "status", when: "before", status: 307, location: "https://example.org/elsewhere" })
      const reply = yield* post("a")
      assert.deepStrictEqual([reply.status, reply.headers["location"]], [307, "https://example.org/elsewhere"])
    }).pipe(inSandbox()))
})

describe("keys", () => {
  it.effect("have any prefix, and keys with an earlier prefix stay valid", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      assert.match(Redacted.value(sandbox.apiKey), /^sk-live\.[A-Za-z0-9]{40}$/)
      const { key } = yield* someone
      assert.match(Redacted.value(key), /^sk-live\.[A-Za-z0-9]{40}$/)
      assert.strictEqual((yield* call("GET", "/me", { key })).status, 200)
      yield* set({ keyPrefix: "p" })
      assert.match(Redacted.value(sandbox.apiKey), /^p[A-Za-z0-9]{40}$/)
      assert.strictEqual((yield* call("GET", "/me")).status, 200)
      assert.strictEqual((yield* call("GET", "/me", { key })).status, 200)
      const secret = Redacted.value(key).slice(-40)
      assert.strictEqual(refusal(yield* call("GET", "/me", { key: `key_${secret}` })), "401 INVALID_API_KEY")
      assert.strictEqual(refusal(yield* call("GET", "/me", { key: secret })), "401 INVALID_API_KEY")
    }).pipe(inSandbox({ latitude: { keyPrefix: "sk-live." } })))
})

describe("late commits", () => {
  const count = (text: string) => Effect.map(state, ({ posts }) => posts.filter((post) => post.text === text).length)

  it.effect("happen after a dropped connection, a 502 or a 504, and not after another failure", () =>
    Effect.gen(function*() {
      for (
        const [text, fault, happens] of [
          ["a", { kind: "drop", when: "before" }, 1],
          ["b", { kind: "status", when: "before", status: 502 }, 1],
          ["c", { kind: "status", when: "before", status: 504 }, 1],
          ["d", { kind: "status", when: "before", status: 500 }, 0],
          ["e", { kind: "status", when: "after", status: 504 }, 1]
        ] as const
      ) {
        yield* add(fault)
        yield* Effect.exit(post(text))
        yield* TestClock.adjust("2999 millis")
        assert.strictEqual(yield* count(text), text === "e" ? 1 : 0, text)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* count(text), happens, text)
      }
      assert.deepStrictEqual(
        (yield* commits).map(({ isLate, operation, payload }) => [operation, payload, isLate]),
        [["createPost", { text: "a" }, true], ["createPost", { text: "b" }, true], ["createPost", { text: "c" }, true], ["createPost", {
          text: "e"
        }, false]]
      )
      const { requests } = yield* Sandbox.Sandbox
      assert.deepInclude((yield* requests)[0], { status: 200, rule: "posts.createPost", delivered: "dropped" })
    }).pipe(inSandbox({ latitude: { lateCommitMillis: 3_000 } })))

  it.effect("happen after the given statuses", () =>
    Effect.gen(function*() {
      for (const status of [500, 502, 503, 504] as const) {
        for (const lateCommitStatuses of [[], [status], [500, 502, 503, 504]] as const) {
          yield* set({ lateCommitStatuses: [...lateCommitStatuses] })
          const text = `${status} ${lateCommitStatuses.join()}`
          yield* add({ kind: "status", when: "before", status })
          assert.strictEqual((yield* post(text)).status, status)
          yield* TestClock.adjust("300 millis")
          assert.strictEqual(yield* count(text), lateCommitStatuses.length > 0 ? 1 : 0, text)
        }
      }
      yield* set({ lateCommitStatuses: [] })
      yield* add({ kind: "drop", when: "before" })
      yield* Effect.exit(post("dropped"))
      yield* TestClock.adjust("300 millis")
      assert.strictEqual(yield* count("dropped"), 1)
    }).pipe(inSandbox({ latitude: { lateCommitMillis: 300 } })))

  it.effect("happen after a caller closes the connection during a delay; a caller that waits gets its response", () =>
    Effect.gen(function*() {
      yield* add({ kind: "delay", when: "before", millis: 5_000, times: 2 })
      const left = yield* Effect.forkChild(Effect.timeoutOption(post("left"), "1 second"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(left))._tag, "None")
      yield* TestClock.adjust("299 millis")
      assert.strictEqual(yield* count("left"), 0)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* count("left"), 1)
      const waits = yield* Effect.forkChild(post("waits"))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(waits)).status, 200)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual([yield* count("left"), yield* count("waits")], [1, 1])
    }).pipe(inSandbox({ latitude: { lateCommitMillis: 300 } })))

  it.effect("are cancelled by a reset, and a refused request commits nothing", () =>
    Effect.gen(function*() {
      const { reset } = yield* Sandbox.Sandbox
      yield* add({ kind: "drop", when: "before", times: 2 })
      yield* Effect.exit(post("a"))
      yield* Effect.exit(post(""))
      yield* reset
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* count("a"), 0)
      assert.deepStrictEqual(yield* commits, [])
    }).pipe(inSandbox({ latitude: { lateCommitMillis: 300 } })))
})

describe("over a socket", () => {
  it.live("there is no Date if the latitude has none, and a write is carried out after its connection was closed", () =>
    Effect.gen(function*() {
      const { requests } = yield* Sandbox.Sandbox
      assert.isUndefined((yield* post("a")).headers["date"])
      yield* set({ dateHeader: "present" })
      assert.isString((yield* post("b")).headers["date"])
      yield* set({ clockOffsetMillis: -600_000 })
      const behind = yield* post("c")
      assert.isBelow(Math.abs(Date.parse(behind.headers["date"] ?? "") - Date.parse(String(field(behind, "createdAt")))), 60_000)
      yield* add({ kind: "delay", when: "before", millis: 60_000 })
      const request = yield* Effect.forkChild(post("left"))
      const until = (isDone: Effect.Effect<boolean, never, Sandbox.Sandbox>) =>
        Effect.repeat(isDone, { until: (done) => done, schedule: Schedule.spaced("1 millis") })
      yield* until(Effect.map(requests, (all) => all.at(-1)?.faults.length === 1))
      yield* Fiber.interrupt(request)
      yield* until(
        Effect.map(commits, (all) =>
          all.some(({ isLate, payload }) => isLate && Predicate.isReadonlyObject(payload) && payload["text"] === "left"))
      )
      assert.deepInclude((yield* requests).at(-1), { status: 200, delivered: "abandoned", deliveredStatus: null })
    }).pipe(Effect.provide(layerSocket({ latitude: { dateHeader: "absent", lateCommitMillis: 5 } }))))
})

describe("commits", () => {
  it.effect("list every write that was carried out, with its payload and created id, and no refused request and no read", () =>
    Effect.gen(function*() {
      yield* upload
      const id = field(yield* post("a"), "id")
      yield* post("")
      yield* list()
      const [order = ""] = yield* orders
      yield* ship(order)
      yield* ship(order)
      yield* setStock()
      const all = yield* commits
      assert.deepStrictEqual(
        all.map(({ accountId, createdId, operation, params, requestId }) => ({ accountId, createdId, operation, params, requestId })),
        [
          { accountId: "1001", createdId: "media-000002", operation: "uploadMedia", params: {}, requestId: "req_1" },
          { accountId: "1001", createdId: String(id), operation: "createPost", params: {}, requestId: "req_2" },
          { accountId: "1001", createdId: null, operation: "shipOrder", params: { id: order }, requestId: "req_5" },
          { accountId: "1001", createdId: null, operation: "setStock", params: { id: "0042" }, requestId: "req_7" }
        ]
      )
      assert.deepInclude(all[0]?.payload, { name: "a.txt", contentType: "text/plain", size: 1 })
      assert.deepStrictEqual(all.slice(1).map(({ payload }) => payload), [{ text: "a" }, { carrier: "Post", trackingNumber: "1" }, {
        stock: 5
      }])
      const told = yield* control("GET", "/commits")
      assert.strictEqual((told.json as { data: ReadonlyArray<unknown> }).data.length, 4)
    }).pipe(inSandbox()))
})

describe("a latitude", () => {
  it.effect("is read and changed over the control API, and a reset restores the first one", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      assert.deepStrictEqual((yield* control("GET", "/latitude")).json, { ...Latitude.defaults, listLagMillis: 5 })
      const changed = yield* control("POST", "/latitude", { json: { listOrder: "oldestFirst" } })
      assert.deepStrictEqual(changed.json, { ...Latitude.defaults, listLagMillis: 5, listOrder: "oldestFirst" })
      assert.deepStrictEqual((yield* control("POST", "/latitude", { json: { seed: 42 } })).json, Latitude.fromSeed(42))
      assert.deepStrictEqual(
        (yield* control("POST", "/latitude", { json: { seed: 42, createStatus: 201 } })).json,
        { ...Latitude.fromSeed(42), createStatus: 201 }
      )
      const wrong = yield* control("POST", "/latitude", { json: { listOrder: "random" } })
      assert.strictEqual(refusal(wrong), "400 VALIDATION_ERROR listOrder")
      assert.include(messageOf(wrong), "must be one of newestFirst, oldestFirst, shuffled")
      assert.strictEqual(refusal(yield* control("POST", "/latitude", { json: { listLag: 1 } })), "400 VALIDATION_ERROR listLag")
      yield* sandbox.reset
      assert.deepStrictEqual(yield* sandbox.latitude, { ...Latitude.defaults, listLagMillis: 5 })
    }).pipe(inSandbox({ latitude: { listLagMillis: 5 } })))

  it.effect("with an invalid value prevents the sandbox from starting, and the error names the field", () =>
    Effect.gen(function*() {
      for (
        const [latitude, problem] of [
          [{ keyPrefix: "" }, "\"keyPrefix\" must be 1 to 100 printable ASCII characters without spaces"],
          [{ storedTextLength: 0 }, "\"storedTextLength\" must be null or a whole number from 1 to 1000000"],
          [
            { text: ["upper" as "nfc"] },
            "\"text\" must be a list of linksShortened, emojiCodes, smartPunctuation, trimmed, lf, collapsed, htmlEscaped, nfc, namedEntities, numericEntities"
          ],
          [{ lateCommitStatuses: [501 as 500] }, "\"lateCommitStatuses\" must be a list of 500, 502, 503, 504"],
          [{ gatewayStatus: 304 as 307 }, "\"gatewayStatus\" must be one of"],
          [1.5, "\"seed\" must be a whole number"]
        ] as const
      ) {
        const error = yield* Effect.flip(Effect.provide(call("GET", "/me"), layerInProcess({ latitude })))
        assert.include(String(error), problem)
      }
      assert.deepStrictEqual(Latitude.decode({ lag: 1 }), Latitude.decode({ lag: 2 }))
    }))

  it("sometimes draws clocks that are wrong by minutes, hours and a day", () => {
    const offsets = Arr.makeBy(600, (seed) => Math.abs(Latitude.fromSeed(seed).createdAtOffsetMillis))
    assert.isTrue(offsets.some((offset) => offset >= 60_000 && offset < 3_600_000))
    assert.isTrue(offsets.some((offset) => offset > 24 * 3_600_000))
    assert.isBelow(offsets.filter((offset) => offset > 2_000).length, 120)
  })

  it("is the same for the same number, draws every field, and can be decoded from JSON", () => {
    const drawn = Arr.makeBy(400, (index) => Latitude.fromSeed(index * 7_919 - 1_000_000))
    for (const [index, latitude] of drawn.entries()) {
      assert.deepStrictEqual(latitude, Latitude.fromSeed(index * 7_919 - 1_000_000))
      assert.deepStrictEqual(Schema.decodeUnknownSync(Latitude.Latitude)(JSON.parse(JSON.stringify(latitude))), latitude)
    }
    for (const name of Object.keys(Latitude.defaults)) {
      const values = drawn.map((latitude) => JSON.stringify(Object.entries(latitude).find(([key]) => key === name)))
      assert.isAbove(Arr.dedupe(values).length, 1, name)
    }
  })

  it.effect.prop("of any seed is a service that the document permits", { seed: between(-(2 ** 31), 2 ** 31 - 1) },
    ({ seed }) => permitted(seed), {
    arbitrary: { runs: 15 },
    timeout: 300_000
  })
})

/** A body need not be the resource, so nothing is required. */
const optional = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const anyPost = Schema.decodeUnknownSync(
  Schema.Struct({
    id: optional(Schema.String),
    text: optional(Schema.String),
    mediaIds: optional(Schema.Array(Schema.String)),
    createdAt: optional(Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)))
  })
)
const anyProfile = Schema.decodeUnknownSync(Schema.Struct({ id: optional(Schema.String), username: optional(Schema.String) }))
const anyProduct = Schema.decodeUnknownSync(Schema.Struct({ id: optional(Schema.String), stock: optional(Schema.Finite) }))
const anyOrder = Schema.decodeUnknownSync(
  Schema.Struct({ id: optional(Schema.String), carrier: optional(Schema.String), trackingNumber: optional(Schema.String) })
)
const anyText = Schema.decodeUnknownSync(Schema.Struct({ text: optional(Schema.String) }))
const anyError = Schema.decodeUnknownSync(Schema.Struct({ error: Schema.Struct({ code: Schema.NonEmptyString, message: Schema.String }) }))

/** Calls every endpoint of a service, and checks each response. */
const permitted = (seed: number) =>
  Effect.gen(function*() {
    const isConfirmed = (reply: Response, read: (json: unknown) => unknown) => {
      assert.include([200, 201, 204], reply.status, reply.text)
      if (reply.text !== "") {
        assert.notStrictEqual(reply.status, 204)
        read(reply.json)
      }
    }
    const isRead = (reply: Response, read: (json: unknown) => unknown) => {
      assert.strictEqual(reply.status, 200, reply.text)
      read(reply.json)
    }
    const isRefused = (reply: Response, status: number) => {
      assert.strictEqual(reply.status, status)
      anyError(reply.json)
    }
    isRead(yield* call("GET", "/me"), anyProfile)
    isRead(yield* call("GET", "/users/1002"), anyProfile)
    isRead(yield* call("GET", "/users/by-username/chloe"), anyProfile)
    isConfirmed(yield* call("POST", "/users/1002/follow"), () => {})
    const uploaded = yield* upload
    assert.include([200, 201], uploaded.status)
    const mediaId = String(field(uploaded, "mediaId"))
    isConfirmed(yield* post("  a\r\n<b> ", [mediaId]), anyPost)
    yield* TestClock.adjust("10 seconds")
    const page = yield* list()
    isRead(page, (json) => Schema.decodeUnknownSync(Items)(json).data.map((item) => anyPost(item)))
    const postId = (yield* state).posts.at(-1)?.id ?? ""
    isConfirmed(yield* call("POST", `/posts/${encodeURIComponent(postId)}/comments`, { json: { text: "a" } }), anyText)
    isConfirmed(yield* call("POST", `/posts/${encodeURIComponent(postId)}/like`), () => {})
    isConfirmed(yield* setStock(), anyProduct)
    const [order = ""] = yield* orders
    isConfirmed(yield* ship(order), anyOrder)
    isRefused(yield* ship(order), 409)
    isRead(yield* call("GET", "/conversations"), (json) => Schema.decodeUnknownSync(Items)(json))
    isConfirmed(yield* send("a"), anyText)
    isRefused(yield* post(""), 400)
    isRefused(yield* call("GET", "/users/nobody"), 404)
    isRefused(yield* call("GET", "/me", { key: "nothing" }), 401)
    isRefused(yield* list("?limit=0"), 400)
    assert.strictEqual((yield* walk("/me/posts", 9)).flat().length, 26)
    yield* add({ kind: "status", when: "before", status: 503 })
    isRefused(yield* post("a"), 503)
    assert.deepStrictEqual((yield* commits).map(({ operation }) => operation), [
      "followUser",
      "uploadMedia",
      "createPost",
      "createComment",
      "likePost",
      "setStock",
      "shipOrder",
      "sendMessage"
    ])
    assert.sameMembers(
      (yield* commits).map(({ operation }) => operation),
      names.filter((name) => isWrite(name) && name !== "createStory"),
      "call a new write above"
    )
  }).pipe(
    inSandbox({
      latitude: { ...Latitude.fromSeed(seed), dailyQuota: null, cursorExpiresAfterMillis: 0, gatewayStatus: null, rateBurst: null }
    })
  )
