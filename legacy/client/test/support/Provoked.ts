/** Provokes each documented error from the sandbox with calls of the client and a seeded state. */
import { HttpBody } from "@effect/platform"
import { Chat, type ClientError, Media, Posts, Profiles, Store } from "@plaza-legacy/client"
import { type ErrorCode, OrderId, ProductId, ProfileId } from "@plaza-legacy/domain"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Effect, Either, Schedule } from "effect"
import { Operations } from "../../src/internal/contract/Operations.ts"
import * as OnSandbox from "./OnSandbox.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)
const post = Effect.flatMap(Posts, ({ create }) => create({ text: "hello" }))
const setStock = (id: string, stock = 1) => Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make(id), stock))
const shipment = { carrier: "Post", trackingNumber: "1" }

type Provoked = Effect.Effect<unknown, ClientError.Failure | { readonly _tag: string; readonly message: string }, OnSandbox.World>

/** What makes the sandbox give each error, by its code. */
export const provoke: Record<ErrorCode, Provoked> = {
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
    yield* sandbox.setRelation(peer.id, shop.id ?? "", { follows: true, hasWritten: true, blocks: true })
    const conversation = yield* sandbox.createConversation({ peerId: peer.id })
    yield* Effect.flatMap(Chat, ({ send }) => send(conversation, "hello"))
  }),
  STORE_BLOCKED: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const shop = yield* me
    const other = yield* sandbox.createAccount()
    yield* sandbox.setProduct({ id: "theirs", accountId: other.id })
    yield* sandbox.setRelation(other.id, shop.id ?? "", { blocksFromStore: true })
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
  PAYLOAD_TOO_LARGE: Effect.flatMap(Media, ({ upload }) => upload({ fileName: "big.png", content: new Uint8Array(5_000) })),
  RATE_LIMITED: Effect.forEach(Array.from({ length: 9 }), () => me),
  INTERNAL_ERROR: Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    yield* sandbox.addFault({ kind: "status", when: "before", status: 500 })
    yield* me
  })
}

/** Where they do. A maxWait shorter than the window, so that the refusal of a rate is seen and not waited out. */
export const world = {
  sandbox: { assumptions: { requestsPerWindow: 8, maxFileBytes: 4_000 } },
  client: { retry: Schedule.stop, maxWait: "1 second" }
} satisfies OnSandbox.WorldOptions
