import { HttpBody } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { Chat, type Failures, Media, Operations, Posts, Profiles, Store } from "@plaza/client"
import { byCode, OrderId, PostId, ProductId, ProfileId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import { Duration, Effect, Either, Schedule } from "effect"
import * as OnSandbox from "./support/OnSandbox.js"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const post = Effect.flatMap(Posts, ({ create }) => create({ text: "hello" }))
const setStock = (id: string, stock = 1) => Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make(id), stock))
const shipment = { carrier: "Post", trackingNumber: "1" }

type Provoked = Effect.Effect<unknown, Failures.Failure | { readonly _tag: string; readonly message: string }, OnSandbox.World>

/** What makes the sandbox give each error, by its code. */
const provoke: Record<keyof typeof byCode, Provoked> = {
  VALIDATION_ERROR: setStock("MUG-BLUE-350", -1),
  INVALID_JSON: Effect.flatMap(Operations, ({ sendOpen }) =>
    sendOpen({
      operation: "createPost",
      area: "posts",
      delivery: "Once",
      method: "POST",
      path: "/posts",
      query: {},
      body: HttpBody.text("{\"text\":", "application/json")
    }, { decode: Either.right })),
  INVALID_API_KEY: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const { id } = yield* sandbox.createAccount()
    const key = yield* sandbox.createKey(id)
    yield* sandbox.revokeKey(key.id)
    yield* OnSandbox.asKey(key.apiKey)(me)
  }),
  INSUFFICIENT_SCOPE: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const { id } = yield* sandbox.createAccount()
    const key = yield* sandbox.createKey(id, { scopes: ["profile:read"] })
    yield* OnSandbox.asKey(key.apiKey)(post)
  }),
  DEVELOPER_ACCESS_REVOKED: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const { id } = yield* sandbox.createAccount()
    const key = yield* sandbox.createKey(id)
    yield* sandbox.setAccess(id, "suspend")
    yield* OnSandbox.asKey(key.apiKey)(me)
  }),
  PROFILE_INCOMPLETE: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const { id } = yield* sandbox.createAccount({ cover: false })
    const key = yield* sandbox.createKey(id)
    yield* OnSandbox.asKey(key.apiKey)(Effect.zipRight(me, post))
  }),
  CHAT_NOT_ALLOWED: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const peer = yield* sandbox.createAccount()
    const conversation = yield* sandbox.createConversation({ peerId: peer.id })
    yield* Effect.flatMap(Chat, ({ send }) => send(conversation, "hello"))
  }),
  CHAT_BLOCKED: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const shop = yield* me
    const peer = yield* sandbox.createAccount()
    yield* sandbox.setRelation(peer.id, shop.id, { follows: true, hasWritten: true, blocks: true })
    const conversation = yield* sandbox.createConversation({ peerId: peer.id })
    yield* Effect.flatMap(Chat, ({ send }) => send(conversation, "hello"))
  }),
  STORE_BLOCKED: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const shop = yield* me
    const other = yield* sandbox.createAccount()
    yield* sandbox.setProduct({ id: "theirs", accountId: other.id })
    yield* sandbox.setRelation(other.id, shop.id, { blocksFromStore: true })
    yield* setStock("theirs")
  }),
  USER_UNAVAILABLE: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const { id } = yield* sandbox.createAccount({ availability: "suspended" })
    yield* Effect.flatMap(Profiles, ({ get }) => get(id))
  }),
  FORBIDDEN: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const other = yield* sandbox.createAccount()
    yield* sandbox.setProduct({ id: "theirs", accountId: other.id })
    yield* setStock("theirs")
  }),
  NOT_FOUND: Effect.flatMap(Profiles, ({ get }) => get(ProfileId.make("nobody"))),
  CONFLICT: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const order = yield* sandbox.setOrder({ id: "o1" })
    const { ship } = yield* Store
    yield* ship(OrderId.make(order), shipment)
    yield* ship(OrderId.make(order), shipment)
  }),
  PAYLOAD_TOO_LARGE: Effect.flatMap(Media, ({ upload }) =>
    upload({ fileName: "big.png", content: new Uint8Array(5_000) })),
  RATE_LIMITED: Effect.forEach(Array.from({ length: 9 }), () => me),
  INTERNAL_ERROR: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    yield* sandbox.addFault({ kind: "status", when: "before", status: 500 })
    yield* me
  })
}

// A patience shorter than the window, so that the refusal of a rate is seen and not waited out.
const world = {
  sandbox: { assumptions: { requestsPerWindow: 8, maxFileBytes: 4_000 } },
  client: { retry: Schedule.stop, patience: "1 second" }
} satisfies OnSandbox.WorldOptions

const answer = (code: keyof typeof byCode) =>
  Effect.gen(function*() {
    const failure = yield* Effect.flip(provoke[code])
    expect(failure).toBeInstanceOf(byCode[code])
    const { category, status } = new byCode[code]({ message: "" })
    expect(failure).toMatchObject({ code, status, category })
    expect(failure.message).not.toBe("")
    expect(failure).toHaveProperty("requestId")
  })

describe("every row of the error table is produced by the sandbox and answered with its tagged error", () => {
  for (const code of Object.keys(byCode) as Array<keyof typeof byCode>) {
    it.effect(`${code}, in process`, () => Effect.provide(answer(code), OnSandbox.inProcess(world)))
    OnSandbox.itOnSockets(code, answer(code), world)
  }
})

it.effect("a refusal keeps what it came with: the invalid field, and the time to wait", () =>
  Effect.gen(function*() {
    expect(yield* Effect.flip(provoke.VALIDATION_ERROR)).toMatchObject({ details: { field: "stock" } })
    const limited = yield* Effect.flip(provoke.RATE_LIMITED)
    expect("retryAfter" in limited && limited.retryAfter !== undefined && Duration.toSeconds(limited.retryAfter)).toBe(60)
  }).pipe(Effect.provide(OnSandbox.inProcess(world))))

describe("an answer that the document doesn't describe is an UnrecognizedError of its status's category", () => {
  const categories = {
    400: "InvalidRequest",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    418: "InvalidRequest",
    500: "ServiceFault",
    502: "ServiceFault",
    520: "ServiceFault"
  } as const
  const unknownCode = JSON.stringify({ error: { code: "BRAND_NEW", message: "later", hint: 7 } })
  const faults = {
    "an unknown code": { kind: "status", when: "before", body: unknownCode, contentType: "application/json" },
    "an HTML body": { kind: "status", when: "before", body: "<html><h1>Bad gateway</h1></html>", contentType: "text/html" },
    "an empty body": { kind: "status", when: "before", body: "" },
    "a body cut short": { kind: "cut", when: "before", body: unknownCode }
  } as const

  const check = (status: keyof typeof categories, fault: (typeof faults)[keyof typeof faults]) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.addFault({ ...fault, status })
      const failure = yield* Effect.flip(me)
      expect(failure).toMatchObject({ _tag: "UnrecognizedError", status, category: categories[status] })
      if (fault === faults["an unknown code"]) {
        expect(failure).toMatchObject({ code: "BRAND_NEW", message: "later", details: { hint: 7 } })
      }
      if (fault === faults["an HTML body"]) {
        expect(failure).toMatchObject({ details: { body: "<html><h1>Bad gateway</h1></html>" } })
      }
    })

  for (const status of [400, 403, 404, 409, 418, 500, 502, 520] as const) {
    for (const [name, fault] of Object.entries(faults)) {
      it.effect(`${status} with ${name}, in process`, () => Effect.provide(check(status, fault), OnSandbox.inProcess(world)))
      OnSandbox.itOnSockets(`${status} with ${name}`, check(status, fault), world)
    }
  }
})

it.effect("a documented code that the contract doesn't list for the endpoint keeps its meaning, not its class", () =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    yield* sandbox.addFault({ kind: "status", when: "before", status: 403, code: "CHAT_BLOCKED" })
    const like = Effect.flatMap(Posts, ({ like }) => like(PostId.make("1")))
    expect(yield* Effect.flip(like)).toMatchObject({
      _tag: "UnrecognizedError",
      code: "CHAT_BLOCKED",
      category: "Forbidden"
    })
  }).pipe(Effect.provide(OnSandbox.inProcess(world))))

