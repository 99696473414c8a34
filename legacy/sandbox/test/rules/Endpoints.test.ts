/**
 * The document's rules on resources, endpoints and lists, over a socket: one test for each row. `docs/sandbox-rules.md`
 * lists the test of each rule.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect, Redacted } from "effect"
import { call, field, layerSocket, pageOf, refusal, type Response, someone } from "../support.ts"

const options = { assumptions: { requestsPerWindow: 10_000, maxBodyBytes: 20_000 } }
const state = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)
const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const shop = "1001"

const upload = (file: File, name = "file") => {
  const form = new FormData()
  form.append(name, file)
  return call("POST", "/media", { form })
}
const picture = new File(["bytes"], "é.png", { type: "image/png" })

const record = (value: object | undefined): Readonly<Record<string, unknown>> => ({ ...value })

/** Every name and value of a response, at any depth. */
const fieldsOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => [...(Array.isArray(value) ? [] : [[name, inner] as const]), ...fieldsOf(inner)])

const everything = Effect.gen(function*() {
  const post = yield* call("POST", "/posts", { json: { text: "a", mediaIds: ["media-000001"] } })
  return [
    yield* call("GET", "/me"),
    yield* call("GET", "/users/007"),
    yield* call("GET", "/users/by-username/chloe"),
    yield* upload(picture),
    post,
    yield* call("GET", "/me/posts"),
    yield* call("POST", `/posts/${String(field(post, "id"))}/comments`, { json: { text: "a" } }),
    yield* call("PATCH", "/store/products/0042/stock", { json: { stock: 1 } }),
    yield* call("POST", "/store/orders/500020/ship", { json: { carrier: "DHL", trackingNumber: "007" } }),
    yield* call("GET", "/conversations"),
    yield* call("POST", "/conversations/conv_301/messages", { json: { text: "a" } })
  ]
})

layer(layerSocket(options), { excludeTestServices: true })("every response", (it) => {
  it.effect("has names in camelCase, except next_cursor", () =>
    Effect.gen(function*() {
      for (const reply of yield* everything) {
        assert.strictEqual(reply.status, 200, reply.text)
        for (const [name] of fieldsOf(reply.json)) {
          assert.match(name, /^(?:[a-z][a-zA-Z0-9]*|next_cursor)$/)
        }
      }
    }).pipe(Effect.ensuring(Effect.orDie(Effect.flatMap(Sandbox.Sandbox, ({ reset }) => reset)))))

  it.effect("has ids that are strings, also those that look like numbers", () =>
    Effect.gen(function*() {
      let numeric = 0
      for (const reply of yield* everything) {
        for (const [name, value] of fieldsOf(reply.json)) {
          if (/^id$|Id$/.test(name)) {
            assert.isString(value, name)
            numeric += /^\d+$/.test(String(value)) ? 1 : 0
          }
        }
      }
      assert.isAbove(numeric, 5)
      assert.strictEqual(field(yield* call("GET", "/users/007"), "id"), "007")
      assert.strictEqual(refusal(yield* call("GET", "/users/7")), "404 NOT_FOUND")
    }).pipe(Effect.ensuring(Effect.orDie(Effect.flatMap(Sandbox.Sandbox, ({ reset }) => reset)))))

  it.effect("has dates in UTC with milliseconds and Z", () =>
    Effect.gen(function*() {
      let dates = 0
      for (const reply of yield* everything) {
        for (const [name, value] of fieldsOf(reply.json)) {
          if (name.endsWith("At")) {
            assert.match(String(value), date, name)
            dates++
          }
        }
      }
      assert.isAbove(dates, 20)
    }).pipe(Effect.ensuring(Effect.orDie(Effect.flatMap(Sandbox.Sandbox, ({ reset }) => reset)))))

  it.effect("is JSON, or has status 204 and no body", () =>
    Effect.gen(function*() {
      for (const reply of yield* everything) {
        assert.match(reply.headers["content-type"] ?? "", /^application\/json/)
      }
      const { posts: [post] } = yield* state
      for (const path of [`/posts/${String(post?.id)}/like`, "/users/1002/follow"]) {
        const reply = yield* call("POST", path)
        assert.deepStrictEqual([reply.status, reply.text, reply.headers["content-type"]], [204, "", undefined])
      }
    }).pipe(Effect.ensuring(Effect.orDie(Effect.flatMap(Sandbox.Sandbox, ({ reset }) => reset)))))
})

layer(layerSocket(options), { excludeTestServices: true })("a request", (it) => {
  it.effect("may omit an optional value or send null: both mean the same", () =>
    Effect.gen(function*() {
      const created = [
        yield* call("POST", "/posts", { json: { text: "a" } }),
        yield* call("POST", "/posts", { json: { text: "a", mediaIds: null } })
      ]
      assert.deepStrictEqual(created.map((reply) => [reply.status, field(reply, "mediaIds")]), [[200, []], [200, []]])
    }))

  it.effect("may have unknown fields and parameters", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* call("POST", "/posts", { json: { text: "a", colour: "red" } })).status, 200)
      assert.strictEqual((yield* call("GET", "/me/posts?limit=1&colour=red")).status, 200)
    }))

  it.effect("has a JSON body with the content type of JSON", () =>
    Effect.gen(function*() {
      const text = JSON.stringify({ text: "a" })
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"]) {
        assert.strictEqual(refusal(yield* call("POST", "/posts", { text, headers: { "content-type": type } })),
          "400 VALIDATION_ERROR Content-Type")
      }
      assert.strictEqual((yield* call("POST", "/posts", { text, headers: { "content-type": "application/json; charset=utf-8" } })).status,
        200)
    }))

  it.effect("with a body that isn't valid JSON is refused", () =>
    Effect.gen(function*() {
      for (const text of ["", "{", "{\"text\":\"a\"", "{'text':'a'}", "text=a", "{\"text\":\"a\"}}"]) {
        assert.strictEqual(refusal(yield* call("POST", "/posts", { text })), "400 INVALID_JSON", text)
      }
    }))

  it.effect("with a missing or invalid parameter or field is refused with its name", () =>
    Effect.gen(function*() {
      for (
        const [method, path, json, name] of [
          ["POST", "/posts", {}, "text"],
          ["POST", "/posts", { text: 7 }, "text"],
          ["POST", "/posts", { text: "a", mediaIds: [7] }, "mediaIds.0"],
          ["POST", "/posts/9007199254740993/comments", { text: null }, "text"],
          ["PATCH", "/store/products/0042/stock", { stock: "7" }, "stock"],
          ["POST", "/store/orders/500001/ship", { carrier: "DHL" }, "trackingNumber"],
          ["POST", "/store/orders/500001/ship", { trackingNumber: "1" }, "carrier"],
          ["POST", "/conversations/conv_301/messages", {}, "text"],
          ["GET", "/me/posts?limit=0", undefined, "limit"],
          ["GET", "/conversations?cursor=made-up", undefined, "cursor"]
        ] as const
      ) {
        assert.strictEqual(refusal(yield* call(method, path, { json })), `400 VALIDATION_ERROR ${name}`, path)
      }
    }))

  it.effect("accepts an id with any characters as one segment of the path", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      for (const id of ["a/b?c=1#d", "007", "1e3", "%2F", "ŁÓDŹ 1", "..%2f.."]) {
        yield* sandbox.setProduct({ id })
        const reply = yield* call("PATCH", `/store/products/${encodeURIComponent(id)}/stock`, { json: { stock: 3 } })
        assert.deepInclude(reply.json, { id, stock: 3 })
      }
    }))

  it.effect("has a path below /open/v1; there is no other version", () =>
    Effect.gen(function*() {
      const { apiKey, baseUrl } = yield* Sandbox.Sandbox
      assert.isTrue(baseUrl.endsWith("/open/v1"))
      const headers = { authorization: `Bearer ${Redacted.value(apiKey)}` }
      for (const [path, status] of [["/open/v1/me", 200], ["/open/v2/me", 404], ["/me", 404]] as const) {
        const response = yield* Effect.promise(() => fetch(new URL(path, baseUrl), { headers }))
        assert.strictEqual(response.status, status, path)
      }
    }))
})

layer(layerSocket(options), { excludeTestServices: true })("the endpoint", (it) => {
  const isPost = (reply: Response, json: Readonly<Record<string, unknown>>) => {
    assert.strictEqual(reply.status, 200)
    assert.deepInclude(reply.json, json)
    assert.isString(field(reply, "id"))
    assert.match(String(field(reply, "createdAt")), date)
  }

  it.effect("GET /me returns the account that owns the key", () =>
    Effect.gen(function*() {
      assert.deepInclude((yield* call("GET", "/me")).json, { id: shop, username: "corner-shop" })
    }))

  it.effect("GET /users/{id} returns the user's profile", () =>
    Effect.gen(function*() {
      assert.deepInclude((yield* call("GET", "/users/007")).json, { id: "007", username: "emi" })
    }))

  it.effect("GET /users/by-username/{username} returns the user's profile", () =>
    Effect.gen(function*() {
      assert.deepInclude((yield* call("GET", "/users/by-username/emi")).json, { id: "007", username: "emi" })
    }))

  it.effect("POST /media accepts one file part named file, and returns its id", () =>
    Effect.gen(function*() {
      const mediaId = field(yield* upload(picture), "mediaId")
      assert.isString(mediaId)
      assert.deepInclude(record((yield* state).media.find(({ id }) => id === mediaId)), {
        name: "é.png",
        contentType: "image/png",
        size: 5
      })
      assert.strictEqual(refusal(yield* upload(picture, "photo")), "400 VALIDATION_ERROR file")
      assert.strictEqual(refusal(yield* call("POST", "/media", { json: { file: "x" } })), "400 VALIDATION_ERROR file")
    }))

  it.effect("POST /posts returns the created post with its media", () =>
    Effect.gen(function*() {
      const mediaIds = [field(yield* upload(picture), "mediaId"), "media-000001"]
      const reply = yield* call("POST", "/posts", { json: { text: "Ünï", mediaIds } })
      isPost(reply, { text: "Ünï", mediaIds })
      assert.strictEqual((yield* state).posts.filter(({ id }) => id === field(reply, "id")).length, 1)
    }))

  it.effect("GET /me/posts returns a list of the account's own posts", () =>
    Effect.gen(function*() {
      const { key } = yield* someone
      const mine = yield* call("POST", "/posts", { key, json: { text: "mine" } })
      const reply = yield* call("GET", "/me/posts", { key })
      assert.deepStrictEqual(reply.json, { data: [mine.json], next_cursor: null })
    }))

  it.effect("POST /posts/{id}/comments returns the created comment", () =>
    Effect.gen(function*() {
      const { posts: [post] } = yield* state
      const reply = yield* call("POST", `/posts/${String(post?.id)}/comments`, { json: { text: "nice" } })
      assert.deepStrictEqual([reply.status, field(reply, "text")], [200, "nice"])
      assert.deepInclude(record((yield* state).comments.at(-1)), { postId: post?.id, authorId: shop, text: "nice" })
    }))

  it.effect("POST /posts/{id}/like confirms, and a second call changes nothing", () =>
    Effect.gen(function*() {
      const { posts: [post] } = yield* state
      for (let time = 0; time < 2; time++) {
        assert.strictEqual((yield* call("POST", `/posts/${String(post?.id)}/like`)).status, 204)
        assert.strictEqual((yield* state).likes.filter(({ postId }) => postId === post?.id).length, 1)
      }
    }))

  it.effect("POST /users/{id}/follow confirms, and a second call changes nothing", () =>
    Effect.gen(function*() {
      const { id } = yield* someone
      for (let time = 0; time < 2; time++) {
        assert.strictEqual((yield* call("POST", `/users/${id}/follow`)).status, 204)
        assert.strictEqual((yield* state).relations.filter(({ follows, to }) => follows && to === id).length, 1)
      }
    }))

  it.effect("PATCH /store/products/{id}/stock returns the product with its new stock", () =>
    Effect.gen(function*() {
      for (const stock of [12, 0]) {
        assert.deepInclude((yield* call("PATCH", "/store/products/0042/stock", { json: { stock } })).json, { id: "0042", stock })
        assert.strictEqual((yield* state).products.find(({ id }) => id === "0042")?.stock, stock)
      }
    }))

  it.effect("POST /store/orders/{id}/ship records carrier and tracking number once; a second call is a conflict and changes nothing", () =>
    Effect.gen(function*() {
      const ship = (carrier: string) => call("POST", "/store/orders/500002/ship", { json: { carrier, trackingNumber: "00340" } })
      const order = Effect.map(state, ({ orders }) => orders.find(({ id }) => id === "500002")?.shipment)
      assert.isNull(yield* order)
      assert.deepInclude((yield* ship("DHL")).json, { id: "500002", carrier: "DHL", trackingNumber: "00340" })
      assert.deepStrictEqual(yield* order, { carrier: "DHL", trackingNumber: "00340" })
      assert.strictEqual(refusal(yield* ship("UPS")), "409 CONFLICT")
      assert.deepStrictEqual(yield* order, { carrier: "DHL", trackingNumber: "00340" })
    }))

  it.effect("GET /conversations returns a list of the account's own conversations, whose ids are a prefix and digits", () =>
    Effect.gen(function*() {
      const { ids, next } = pageOf(yield* call("GET", "/conversations?limit=100"))
      assert.strictEqual(ids.length, 8)
      assert.isTrue(ids.every((id) => /^[a-z]+_\d+$/.test(id)), ids.join())
      assert.isNull(next)
    }))

  it.effect("POST /conversations/{id}/messages returns the created message", () =>
    Effect.gen(function*() {
      const reply = yield* call("POST", "/conversations/conv_301/messages", { json: { text: "hello" } })
      assert.deepStrictEqual([reply.status, field(reply, "text")], [200, "hello"])
      assert.deepInclude(record((yield* state).messages.at(-1)), { conversationId: "conv_301", senderId: shop, text: "hello" })
    }))

  it.effect("POST /stories exists and accepts a story", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* call("POST", "/stories", { json: { mediaId: "media-000001" } })).status, 200)
      assert.deepStrictEqual((yield* state).stories.at(-1)?.payload, { mediaId: "media-000001" })
    }))
})

describe("a list", () => {
  layer(layerSocket(options), { excludeTestServices: true })((it) => {
    const lists = ["/me/posts", "/conversations"]

    it.effect("accepts a limit that is a whole number from 1 to 100", () =>
      Effect.gen(function*() {
        for (const path of lists) {
          for (const limit of ["1", "3", "100"]) {
            const { ids } = pageOf(yield* call("GET", `${path}?limit=${limit}`))
            assert.isAtMost(ids.length, Number(limit))
            assert.isAtLeast(ids.length, 1)
          }
          for (const limit of ["0", "101", "-1", "1.5", "1e1", "0x10", "+5", "%205", "", "many"]) {
            assert.strictEqual(refusal(yield* call("GET", `${path}?limit=${limit}`)), "400 VALIDATION_ERROR limit", limit)
          }
        }
      }))

    it.effect("starts without a cursor and continues with that of the previous page, until it is null", () =>
      Effect.gen(function*() {
        for (const path of lists) {
          const whole = pageOf(yield* call("GET", `${path}?limit=100`))
          assert.isNull(whole.next)
          const ids: Array<string> = []
          let cursor = ""
          do {
            const page: ReturnType<typeof pageOf> = pageOf(yield* call("GET", `${path}?limit=3${cursor}`))
            ids.push(...page.ids)
            cursor = page.next === null ? "" : `&cursor=${encodeURIComponent(page.next)}`
          } while (cursor !== "")
          assert.deepStrictEqual(ids, whole.ids)
        }
      }))

    it.effect("is an object with data and next_cursor, also if it is empty", () =>
      Effect.gen(function*() {
        const { key } = yield* someone
        for (const path of lists) {
          assert.strictEqual((yield* call("GET", path, { key })).text, "{\"data\":[],\"next_cursor\":null}")
          assert.match((yield* call("GET", path)).text, /^\{"data":\[\{.*\}\],"next_cursor":(?:null|"[^"]+")\}$/)
        }
      }))

    it.effect("refuses a cursor that was built, altered or is of another list", () =>
      Effect.gen(function*() {
        const { key } = yield* someone
        const { next } = pageOf(yield* call("GET", "/me/posts?limit=3"))
        const cursor = next ?? assert.fail("there is no next page")
        const flipped = cursor.slice(0, -3) + (cursor.at(-3) === "A" ? "B" : "A") + cursor.slice(-2)
        for (
          const [path, text, request] of [
            ["/me/posts", flipped, {}],
            ["/me/posts", "2", {}],
            ["/me/posts", btoa("{\"offset\":3}"), {}],
            ["/conversations", cursor, {}],
            ["/me/posts", cursor, { key }]
          ] as const
        ) {
          assert.strictEqual(refusal(yield* call("GET", `${path}?cursor=${encodeURIComponent(text)}`, request)),
            "400 VALIDATION_ERROR cursor")
        }
      }))
  })
})
