/** Requests and responses between the client and the sandbox, checked by Prism against the OpenAPI file. */
import { describe, expect, it } from "@effect/vitest"
import { Chat, Media, Plaza, Posts, Profiles, Store, Stories } from "@plaza/client"
import { OrderId, Post, type PostId, Product, ProductId, ProfileId, Username } from "@plaza/domain"
import { byCode } from "@plaza/domain/Errors"
import type { OperationName } from "@plaza/domain/Operations"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Schema, Stream } from "effect"
import type * as OnSandbox from "./support/OnSandbox.ts"
import * as Prism from "./support/Prism.ts"
import { codes, provoke, world } from "./support/Provoked.ts"

type Call = Effect.Effect<unknown, unknown, OnSandbox.World>

const newPost = Effect.flatMap(Posts, ({ create }) => create({ text: "through a proxy 🪞", mediaIds: [] }))
const withPost = (call: (posts: Posts["Service"], id: PostId) => Call): Call =>
  Effect.gen(function*() {
    yield* call(yield* Posts, (yield* newPost).id)
  })

/** A conversation of a shop with a user who has written to it. */
const conversation = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  const peer = yield* sandbox.createAccount()
  yield* sandbox.setRelation(peer.id, (yield* (yield* Profiles).me).id ?? "", { hasWritten: true })
  return yield* sandbox.createConversation({ peerId: peer.id })
})

/** A call that succeeds, and how many requests it sends. */
type Success = readonly [requests: number, call: Call]

/** A success of each operation. */
const documented: Readonly<Record<Exclude<OperationName, "createStory">, Success>> = {
  getMe: [1, Effect.flatMap(Profiles, ({ me }) => me)],
  getUser: [1, Effect.flatMap(Profiles, ({ get }) => get(ProfileId.make("007")))],
  getUserByUsername: [
    2,
    Effect.gen(function*() {
      const { find, get } = yield* Profiles
      const { username } = yield* get(ProfileId.make("007"))
      yield* find(Username.make(username ?? ""))
    })
  ],
  followUser: [1, Effect.flatMap(Profiles, ({ follow }) => follow(ProfileId.make("007")))],
  uploadMedia: [1, Effect.flatMap(Media, ({ upload }) => upload({ fileName: "ä \"1\".txt", content: new TextEncoder().encode("hello") }))],
  createPost: [1, newPost],
  listPosts: [2, Effect.flatMap(Posts, ({ list }) => Stream.runDrain(list({ pageSize: 6, limit: 12 })))],
  createComment: [2, withPost(({ comment }, id) => comment(id, "hello"))],
  likePost: [2, withPost(({ like }, id) => like(id))],
  setStock: [1, Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("ŁÓDŹ-PRINT"), 4))],
  shipOrder: [
    1,
    Effect.gen(function*() {
      const order = yield* (yield* Sandbox.Sandbox).setOrder({ id: "o/1" })
      yield* (yield* Store).ship(OrderId.make(order), { carrier: "Post", trackingNumber: "00 1" })
    })
  ],
  listConversations: [2, Effect.flatMap(Chat, ({ list }) => Stream.runDrain(list({ pageSize: 2, limit: 4 })))],
  sendMessage: [
    2,
    Effect.gen(function*() {
      yield* (yield* Chat).send(yield* conversation, "hello")
    })
  ]
}

const read = (path: string, response: Schema.Decoder<unknown>) => Plaza.request({ method: "GET", path, response })

/** The same for the endpoints beside the contract. */
const assumed: Readonly<Record<string, Success>> = {
  createStory: [1, Effect.flatMap(Stories, ({ create }) => create({ text: "once" }))],
  getPost: [2, withPost((_, id) => read(`/posts/${id}`, Post))],
  editPost: [2, withPost((_, id) => Plaza.request({ method: "PATCH", path: `/posts/${id}`, payload: { text: "edited" }, response: Post }))],
  deletePost: [2, withPost((_, id) => Plaza.request({ method: "DELETE", path: `/posts/${id}`, response: Schema.Void }))],
  getStore: [1, read("/store", Schema.Unknown)],
  listProducts: [2, Stream.runDrain(Plaza.paginate({ path: "/store/products", item: Product, pageSize: 3, limit: 6 }))],
  getProduct: [1, read("/store/products/007", Product)],
  listOrders: [1, Stream.runDrain(Plaza.paginate({ path: "/store/orders", item: Schema.Unknown, limit: 3 }))],
  getOrder: [1, read("/store/orders/SO%2F2026%2F26", Schema.Unknown)],
  listMessages: [
    2,
    Effect.flatMap(conversation,
      (id) => Stream.runDrain(Plaza.paginate({ path: `/conversations/${id}/messages`, item: Schema.Unknown, limit: 3 })))
  ]
}

const succeed = (requests: number, call: Call) =>
  Effect.gen(function*() {
    yield* call
    const { findings } = yield* Prism.Prism
    expect(findings).toHaveLength(requests)
    expect(findings.flatMap(({ request, response }) => [...request, ...response])).toEqual([])
    expect(findings.map(({ status }) => status).filter((status) => status !== 200 && status !== 204)).toEqual([])
  })

describe("Prism reports no violation in requests and responses", () => {
  for (const [name, [requests, call]] of Object.entries(documented)) {
    it.live(`of ${name}`, () => Effect.provide(succeed(requests, call), Prism.between(Prism.files.contract)))
  }

  for (const [name, [requests, call]] of Object.entries(assumed)) {
    it.live(`of ${name}, as the sandbox assumes it`, () => Effect.provide(succeed(requests, call), Prism.between(Prism.files.sandbox)))
  }
})

describe("Prism reports no violation in the refusal", () => {
  // Prism doesn't pass on what isn't JSON.
  for (const code of codes.filter((code) => code !== "INVALID_JSON")) {
    it.live(code, () =>
      Effect.gen(function*() {
        const failure = yield* Effect.flip(provoke[code])
        expect(failure).toBeInstanceOf(byCode[code])
        const { findings } = yield* Prism.Prism
        expect(findings.at(-1)?.status).toBe(new byCode[code]({ message: "" }).status)
        expect(findings.flatMap(({ request, response }) => [...request, ...response])).toEqual([])
      }).pipe(Effect.provide(Prism.between(Prism.files.contract, world))))
  }
})

it.live("Prism reports an undocumented status and an id that is a number", () =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    yield* sandbox.addFault({ kind: "status", when: "before", status: 418, path: "/me" })
    yield* sandbox.addFault({ kind: "garbage", body: `{"id":7}`, contentType: "application/json", path: "/users/007", times: 5 })
    const { get, me } = yield* Profiles
    yield* Effect.flip(me)
    yield* Effect.flip(get(ProfileId.make("007")))
    const { findings } = yield* Prism.Prism
    // A read is repeated as long as its response can't be read.
    const [teapot, ...numbers] = findings.map(({ response }) => response.join())
    expect(teapot).toContain("status code")
    expect(numbers).toHaveLength(5)
    for (const finding of numbers) {
      expect(finding).toContain("id must be string")
    }
  }).pipe(Effect.provide(Prism.between(Prism.files.contract))))
