/**
 * A service that breaks a rule of the document: `plaza verify` finds each of them. A service is the sandbox with one kind of response
 * changed.
 */
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Redacted, Result } from "effect"
import { describe as describeResponse, type Observations } from "../src/verify/Observation.ts"
import { rules } from "../src/verify/Rules.ts"
import { contradicted, firstPost, objects, statusOf, verify } from "./support/Verifying.ts"
import * as WrongService from "./support/WrongService.ts"

type Wrong = WrongService.Wrong

const { editJson } = WrongService

/** Changes the JSON of the successful responses of a path. */
const edit = (path: RegExp, change: (value: Record<string, unknown>) => unknown): Wrong => (exchange) =>
  path.test(exchange.path) && exchange.hasKey && exchange.status < 300 && exchange.body !== ""
    ? { body: editJson(exchange.body, change) }
    : undefined

const editItems = (change: (item: object) => object) =>
  edit(/^\/me\/posts/, ({ data, ...page }) => ({ ...page, data: Array.isArray(data) ? data.map(change) : data }))

/** Replaces responses. */
const reply =
  (path: RegExp, change: Partial<WrongService.Reply>, when: (exchange: WrongService.Exchange) => boolean = () => true): Wrong =>
  (exchange) => path.test(exchange.path) && exchange.hasKey && when(exchange) ? change : undefined

const envelope = (code: string) => JSON.stringify({ error: { code, message: "no" } })

/** A documented code with another status, in the response to a request that fails anyway. */
const wrongStatus = (code: string): Wrong => reply(/^\/users\/plaza-verify-unknown$/, { status: 422, body: envelope(code) })

const shop = /^\/store\/orders/

/** A service that breaks the rule, by rule. */
const wrongs: Readonly<Record<string, Wrong>> = {
  "service.json": reply(/^\/me$/, { body: "<html>" }),
  "service.profile": wrongStatus("PROFILE_INCOMPLETE"),
  "fields.camelCase": editItems((item) => ({ ...item, author_id: "1" })),
  "fields.ids": editItems((item) => ({ ...item, id: 5 })),
  "fields.dates": editItems((item) => ({ ...item, createdAt: "2026-10-01T00:00:00Z" })),
  "fields.Profile": edit(/^\/me$/, (me) => ({ ...me, username: 5 })),
  "fields.Post": editItems((item) => ({ ...item, mediaIds: "none" })),
  "fields.Comment": edit(/\/comments$/, (comment) => ({ ...comment, text: { plain: "a" } })),
  "fields.Message": edit(/\/messages$/, (message) => ({ ...message, text: 5 })),
  "fields.Product": edit(/\/stock$/, (product) => ({ ...product, stock: "5" })),
  "fields.Order": edit(shop, (order) => ({ ...order, trackingNumber: 7 })),
  "states.shipAgain": reply(shop, { status: 200, body: "{}" }, ({ status }) => status === 409),
  "states.access": wrongStatus("DEVELOPER_ACCESS_REVOKED"),
  "endpoints.getMe": edit(/^\/me$/, (me) => [me]),
  "endpoints.getUser": edit(/^\/users\/1001$/, (user) => ({ ...user, id: "1002" })),
  "endpoints.getUserByUsername": edit(/^\/users\/by-username\/corner-shop$/, (user) => ({ ...user, username: "other" })),
  "endpoints.listPosts": edit(/^\/me\/posts/, ({ data }) => ({ items: data })),
  "endpoints.setStock": edit(/\/stock$/, (product) => ({ ...product, stock: 6 })),
  "endpoints.listConversations": reply(/^\/conversations/, { status: 405, body: envelope("NOT_FOUND") }),
  "endpoints.invalidJson": reply(/\/stock$/, { body: envelope("VALIDATION_ERROR") }, ({ body }) => body.includes("INVALID_JSON")),
  "endpoints.invalidField": reply(/\/stock$/, { status: 200, body: "{}" }, ({ body }) => body.includes("VALIDATION_ERROR")),
  "endpoints.unknownId": reply(/plaza-verify-unknown/, { status: 200, body: "{}" }),
  "lists.envelope": edit(/^\/conversations/, (page) => ({ ...page, next_cursor: 5 })),
  "lists.limit": reply(/limit=100$/, { status: 400, body: envelope("VALIDATION_ERROR") }),
  "lists.invalidLimit": reply(/limit=101$/, { status: 200, body: JSON.stringify({ data: [], next_cursor: null }) }),
  "lists.size": edit(/^\/conversations\?limit=3/, ({ data, ...page }) => ({ ...page, data: [data, {}].flat() })),
  "lists.cursor": (exchange) => /limit=3&cursor=/.test(exchange.path) ? { status: 400, body: envelope("VALIDATION_ERROR") } : undefined,
  "lists.end": edit(/^\/me\/posts\?limit=10$/, (page) => ({ ...page, next_cursor: null })),
  "auth.bearer": ({ hasKey }) => hasKey ? undefined : { status: 200, body: "{}" },
  "auth.missing": ({ hasKey }) => hasKey ? undefined : { status: 403, body: envelope("FORBIDDEN") },
  "auth.insufficientScope": wrongStatus("INSUFFICIENT_SCOPE"),
  "errors.envelope": reply(/limit=0$/, { body: JSON.stringify({ message: "no" }) }),
  ...Object.fromEntries(
    rules.flatMap(({ id }) => /^errors\.[A-Z_]+$/.test(id) ? [[id, wrongStatus(id.slice("errors.".length))] as const] : [])
  ),
  "limits.retryAfter": reply(/limit=100$/, { status: 429, headers: {}, body: envelope("RATE_LIMITED") })
}

/** Rules that no request can show to be broken. */
const uncheckable = [
  "service.review",
  "service.requestStatus",
  "fields.absent",
  "fields.unknown",
  "fields.Media",
  // A response need not show the change, and a refusal may have another reason.
  "states.ship",
  "endpoints.createComment",
  "endpoints.likePost",
  "endpoints.followUser",
  "endpoints.shipOrder",
  "endpoints.sendMessage",
  "states.keyRevoked",
  "endpoints.uploadMedia",
  "endpoints.createPost",
  "endpoints.createStory",
  // HTTP has no body with status 204.
  "endpoints.noBody",
  "lists.opaque",
  "auth.malformed",
  "auth.scopes",
  "auth.keys",
  "errors.newCodes",
  "errors.field",
  "errors.retries",
  "limits.rate",
  "limits.quotas",
  "limits.size",
  "version.changes"
]

const nothing: Observations = { baseUrl: "", keyLength: 0, keyPrefix: "", sent: [], skipped: {} }

/** Operations of the catalogue that no run sends. */
const unsent = rules.flatMap(({ id, judge }) => judge(nothing).detail === "a run does not send it" ? [id] : [])

/** These depend on the key and the base URL, which have their own tests below. */
const ofSettings = ["auth.keyForm", "version.path"]

const withPost = Effect.map(firstPost, (post) => ({ ...objects, post }))

describe("plaza verify", () => {
  it("has a test for every rule that can be contradicted", () => {
    assert.sameMembers([...Object.keys(wrongs), ...uncheckable, ...unsent, ...ofSettings], rules.map(({ id }) => id))
  })

  it("has rules with unique ids and one sentence each", () => {
    assert.strictEqual(new Set(rules.map(({ id }) => id)).size, rules.length)
    for (const { rule } of rules) assert.match(rule, /^.+\.$/)
  })

  for (const [id, wrong] of Object.entries(wrongs)) {
    it.effect(`finds a service that contradicts ${id}`, () =>
      Effect.gen(function*() {
        const { report } = yield* verify(yield* withPost)
        assert.strictEqual(statusOf(report, id), "contradicted")
        assert.isNotEmpty(report.rules.find((rule) => rule.id === id)?.detail)
      }).pipe(Effect.provide(WrongService.sandbox(wrong))))
  }

  it.effect("finds a cursor that returns the same page again", () => {
    const first = new Map<string, string>()
    const wrong: Wrong = ({ body, path }) => {
      const list = path.split("&")[0] ?? ""
      if (path === list) first.set(list, body)
      return path === list ? undefined : { body: first.get(list) ?? body }
    }
    return Effect.gen(function*() {
      const { report } = yield* verify()
      assert.strictEqual(statusOf(report, "lists.cursor"), "contradicted")
    }).pipe(Effect.provide(WrongService.sandbox(wrong)))
  })

  it.effect("does not take an item that was deleted during the run for the end of a list", () =>
    Effect.gen(function*() {
      const { report } = yield* verify()
      assert.strictEqual(statusOf(report, "lists.end"), "confirmed")
      assert.deepStrictEqual(contradicted(report), [])
    }).pipe(Effect.provide(WrongService.sandbox(
      edit(/^\/me\/posts\?limit=10$/, ({ data, ...page }) => ({ ...page, data: [data].flat().filter((_, index) => index !== 4) }))
    ))))

  it.effect("does not take items that were deleted from the end during the run for the end of a list", () =>
    Effect.gen(function*() {
      const { report } = yield* verify()
      assert.notStrictEqual(statusOf(report, "lists.end"), "contradicted")
      assert.deepStrictEqual(contradicted(report), [])
    }).pipe(Effect.provide(WrongService.sandbox(
      (exchange) =>
        exchange.path === "/me/posts?limit=100" && exchange.earlier === 0
          ? undefined
          : edit(/^\/me\/posts/, ({ data, ...page }) => ({ ...page, data: [data].flat().slice(0, 9), next_cursor: null }))(exchange)
    ))))

  it.effect("does not take a key that is revoked during the run for a contradiction", () =>
    Effect.gen(function*() {
      const { report } = yield* verify(yield* withPost)
      assert.deepStrictEqual(contradicted(report), [])
    }).pipe(Effect.provide(WrongService.sandbox(reply(/unknown$/, { status: 401, body: envelope("INVALID_API_KEY") })))))

  it.effect("reports values that are nested without end, and cuts long ones", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
    return Effect.gen(function*() {
      const { progress, report } = yield* verify()
      assert.strictEqual(statusOf(report, "fields.ids"), "contradicted")
      assert.strictEqual(statusOf(report, "fields.camelCase"), "contradicted")
      assert.isBelow(JSON.stringify(report).length, 50_000)
      for (const { result } of progress) {
        if (Result.isSuccess(result)) assert.isBelow(describeResponse(result.success).length, 100)
      }
    }).pipe(Effect.provide(WrongService.sandbox(({ path }) =>
      path === "/me"
        ? { status: 200, body: `{"id":${deep},"${"_".repeat(100_000)}":1}` }
        : path.startsWith("/conversations?limit=3")
        ? { status: 200, body: `{"data":[{"id":${deep}}],"next_cursor":"a"}` }
        : path.includes("unknown")
        ? { status: 404, body: envelope("X".repeat(100_000)) }
        : undefined
    )))
  })

  it.effect("finds a Retry-After that does not tell how long to wait", () =>
    Effect.gen(function*() {
      const { report } = yield* verify()
      assert.strictEqual(statusOf(report, "limits.retryAfter"), "contradicted")
    }).pipe(
      Effect.provide(
        WrongService.sandbox(reply(/limit=100$/, { status: 429, headers: { "retry-after": "soon" }, body: envelope("RATE_LIMITED") }))
      )
    ))

  it.effect("finds a service that accepts a key of another form", () =>
    Effect.gen(function*() {
      const { report } = yield* verify(undefined, Redacted.make("short-key"))
      assert.strictEqual(statusOf(report, "auth.keyForm"), "contradicted")
    }).pipe(Effect.provide(WrongService.sandbox(reply(/./, { status: 200, body: "{}" })))))

  it.effect("finds a service at a base URL without the version", () =>
    Effect.gen(function*() {
      const { report } = yield* verify(undefined, undefined, "http://sandbox.localhost/api")
      assert.strictEqual(statusOf(report, "version.path"), "contradicted")
    }).pipe(Effect.provide(WrongService.sandbox(reply(/./, { status: 200, body: "{}" })))))

  it.effect("accepts an account that is no user", () =>
    Effect.gen(function*() {
      const { report } = yield* verify()
      assert.deepStrictEqual(contradicted(report), [])
      assert.strictEqual(statusOf(report, "endpoints.getUser"), "notObservable")
      assert.strictEqual(statusOf(report, "endpoints.getUserByUsername"), "notObservable")
    }).pipe(Effect.provide(WrongService.sandbox(edit(/^\/me$/, (me) => ({ ...me, id: "account-7", username: "corner" }))))))

  it.effect("confirms most rules of the sandbox, and contradicts none", () =>
    Effect.gen(function*() {
      const { report } = yield* verify(yield* withPost)
      assert.deepStrictEqual(contradicted(report), [])
      const unconfirmed = Object.keys(wrongs).filter((id) => statusOf(report, id) !== "confirmed")
      assert.deepStrictEqual(unconfirmed.filter((id) => !id.startsWith("errors.")), [
        "service.profile",
        "states.access",
        "auth.insufficientScope",
        "limits.retryAfter"
      ])
    }).pipe(Effect.provide(Sandbox.layerHttpClient())))
})
