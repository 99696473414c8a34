/**
 * The contract as a server and a client that are built from it see it.
 */
import { afterAll, describe, expect, it } from "@effect/vitest"
import { Context, DateTime, Duration, Effect, Layer, Stream } from "effect"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiClient } from "effect/http-api"
import { NotFound, RateLimited } from "../src/Errors.ts"
import { ConversationId, Cursor, MediaId, OrderId, PostId, ProductId } from "../src/Ids.ts"
import { names, operations } from "../src/Operations.ts"
import { Authorization, ChatGroup, Delivery, MediaGroup, PlazaApi, PlazaApiWithStories, PostsGroup, StoreGroup } from "../src/PlazaApi.ts"

class Api extends HttpApi.make("plaza").add(MediaGroup, PostsGroup, StoreGroup, ChatGroup).middleware(Authorization) {}

const createdAt = DateTime.makeUnsafe("2026-10-01T12:00:00.000Z")

const groups = Layer.mergeAll(
  HttpApiBuilder.group(Api, "media",
    (handlers) =>
      handlers.handle("uploadMedia", ({ payload }) =>
        Effect.orDie(Stream.runCollect(payload)).pipe(
          Effect.map((parts) => ({
            mediaId: MediaId.make(parts.map((part) => `${part.key}:${part._tag === "File" ? part.name : ""}`).join())
          }))
        ))),
  HttpApiBuilder.group(Api, "posts", (handlers) =>
    handlers
      .handle("createPost", ({ payload }) => Effect.succeed({ id: PostId.make("1"), ...payload, createdAt }))
      .handle("listPosts",
        ({ query }) => Effect.succeed({ data: [{ id: PostId.make(String(query.limit)) }], nextCursor: query.cursor ?? null }))
      .handle("createComment", ({ params }) => Effect.fail(new NotFound({ message: "no such post", details: { id: params.id } })))
      .handle("likePost", () => Effect.void)),
  HttpApiBuilder.group(Api, "store", (handlers) =>
    handlers
      .handle("setStock", ({ params, payload }) => Effect.succeed({ id: params.id, stock: payload.stock }))
      .handle("shipOrder", () => Effect.fail(new RateLimited({ message: "wait", retryAfter: Duration.millis(1_500) })))),
  HttpApiBuilder.group(Api, "chat", (handlers) =>
    handlers
      .handle("listConversations", () => Effect.fail(new RateLimited({ message: "wait" })))
      .handle("sendMessage", ({ payload }) => Effect.succeed(payload)))
)

const { dispose, handler } = HttpRouter.toWebHandler(
  HttpApiBuilder.layer(Api).pipe(
    Layer.provide(groups),
    Layer.provide(Layer.succeed(Authorization, { bearer: (handler) => handler })),
    Layer.provide(HttpServer.layerServices)
  ),
  { disableLogger: true }
)
afterAll(dispose)

const send = (method: string, path: string, body?: unknown) =>
  Effect.promise(async () => {
    const response = await handler(
      new Request(`http://service.test${path}`, {
        method,
        ...(body === undefined ? {} : body instanceof FormData
          ? { body }
          : { body: JSON.stringify(body), headers: { "content-type": "application/json" } })
      }),
      Context.empty()
    )
    const text = await response.text()
    return {
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      body: text === "" ? undefined : JSON.parse(text) as unknown
    }
  })

const client = HttpApiClient.make(Api, { baseUrl: "http://service.test" }).pipe(
  Effect.provide(Layer.provide(
    FetchHttpClient.layer,
    Layer.succeed(FetchHttpClient.Fetch, (input, init) => handler(new Request(input, init), Context.empty()))
  ))
)

describe("a server of the contract", () => {
  it.effect("encodes an error to the envelope, with its status and details", () =>
    Effect.gen(function*() {
      expect(yield* send("POST", "/posts/a%2Fb/comments", { text: "hi" })).toMatchObject({
        status: 404,
        body: { error: { code: "NOT_FOUND", message: "no such post", id: "a/b" } }
      })
    }))

  it.effect("sends Retry-After in whole seconds, rounded up, exactly if the error has a wait", () =>
    Effect.gen(function*() {
      const body = { error: { code: "RATE_LIMITED", message: "wait" } }
      expect(yield* send("POST", "/store/orders/1/ship", { carrier: "a", trackingNumber: "b" })).toEqual({
        status: 429,
        retryAfter: "2",
        body
      })
      expect(yield* send("GET", "/conversations")).toEqual({ status: 429, retryAfter: null, body })
    }))

  it.effect("treats null and absent alike, and ignores unknown fields", () =>
    Effect.gen(function*() {
      for (const more of [{}, { mediaIds: null }, { unknown: 1 }]) {
        expect(yield* send("POST", "/posts", { text: "a", ...more })).toMatchObject({
          status: 200,
          body: { id: "1", text: "a", createdAt: "2026-10-01T12:00:00.000Z" }
        })
      }
    }))

  it.effect("rejects an invalid limit before the handler", () =>
    Effect.gen(function*() {
      for (const limit of ["0", "101", "NaN", "ten", "1&limit=2"]) {
        expect((yield* send("GET", `/me/posts?limit=${limit}`)).status).toBe(400)
      }
      expect(yield* send("GET", "/me/posts?limit=7&cursor=c")).toMatchObject({
        status: 200,
        body: { data: [{ id: "7" }], next_cursor: "c" }
      })
    }))

  it.effect("responds with 204 to a success without a body", () =>
    Effect.gen(function*() {
      expect(yield* send("POST", "/posts/1/like")).toMatchObject({ status: 204, body: undefined })
    }))

  it.effect("streams the parts of an upload", () =>
    Effect.gen(function*() {
      const form = new FormData()
      form.set("file", new File(["tea"], "tea.jpg", { type: "image/jpeg" }))
      expect(yield* send("POST", "/media", form)).toMatchObject({ status: 200, body: { mediaId: "file:tea.jpg" } })
    }))
})

describe("a client of the contract", () => {
  it.effect("has one method for each operation, with the decoded success", () =>
    Effect.gen(function*() {
      const { createPost, likePost, listPosts, setStock } = yield* client
      expect(yield* createPost({ payload: { text: "a", mediaIds: undefined } })).toEqual({ id: "1", text: "a", createdAt })
      expect(yield* listPosts({ query: { limit: 5, cursor: Cursor.make("c") } })).toEqual({ data: [{ id: "5" }], nextCursor: "c" })
      expect(yield* listPosts({ query: {} })).toEqual({ data: [{ id: "undefined" }], nextCursor: null })
      expect(yield* likePost({ params: { id: PostId.make("1") } })).toBeUndefined()
      expect(yield* setStock({ params: { id: ProductId.make("a/b?c") }, payload: { stock: 0.5 } })).toEqual({ id: "a/b?c", stock: 0.5 })
    }))

  it.effect("fails with the error, and with its wait", () =>
    Effect.gen(function*() {
      const { createComment, listConversations, shipOrder } = yield* client
      expect(yield* Effect.flip(createComment({ params: { id: PostId.make("7") }, payload: { text: "" } }))).toEqual(
        new NotFound({ message: "no such post", details: { id: "7" } })
      )
      expect(yield* Effect.flip(shipOrder({ params: { id: OrderId.make("7") }, payload: { carrier: "", trackingNumber: "" } }))).toEqual(
        new RateLimited({ message: "wait", retryAfter: Duration.seconds(2) })
      )
      expect(yield* Effect.flip(listConversations({ query: {} }))).toMatchObject({ _tag: "RateLimited", message: "wait" })
    }))

  it.effect("sends no id that isn't one path segment", () =>
    Effect.gen(function*() {
      const { sendMessage } = yield* client
      for (const id of ["", ".", ".."]) {
        expect(yield* Effect.flip(sendMessage({ params: { id: ConversationId.make(id) }, payload: { text: "a" } }))).toMatchObject({
          _tag: "SchemaError"
        })
      }
    }))
})

describe("the contract", () => {
  const deliveries = (api: typeof PlazaApi | typeof PlazaApiWithStories) => {
    const found = new Map<string, string>()
    HttpApi.reflect<"plaza", never>(api as never, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, mergedAnnotations }) => {
        found.set(endpoint.identifier, Context.get(mergedAnnotations as Context.Context<Delivery>, Delivery))
      }
    })
    return found
  }

  it("has every operation with its delivery class, stories only where they are asked for", () => {
    expect(deliveries(PlazaApiWithStories)).toEqual(new Map(names.map((name) => [name, operations[name].delivery])))
    expect(deliveries(PlazaApi)).toEqual(
      new Map(names.filter((name) => name !== "createStory").map((name) => [name, operations[name].delivery]))
    )
  })
})
