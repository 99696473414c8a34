import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, Media, Plaza, Posts, Profiles, Store } from "@plaza/client"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza/domain"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import { Operations } from "../src/internal/contract/Operations.ts"
import * as Fake from "./support/FakeService.ts"

type Call = Effect.Effect<unknown, ClientError.Failure, Plaza.Services>

const setStock = (id: string, stock: number): Call => Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make(id), stock))
const listPosts = (options: Parameters<typeof Posts.Service.list>[0]): Call =>
  Effect.flatMap(Posts, ({ list }) => Stream.runDrain(list(options)))
const listConversations = (options: Parameters<typeof Chat.Service.list>[0]): Call =>
  Effect.flatMap(Chat, ({ list }) => Stream.runDrain(list(options)))
const listOpen = (options: { readonly limit?: number; readonly pageSize?: number }): Call =>
  Stream.runDrain(Plaza.paginate({ path: "/x", item: Schema.Unknown, ...options }))
const page = (limit: number): Call => Effect.flatMap(Operations, ({ send }) => send("listPosts", { urlParams: { limit } }))
const upload = (file: { readonly fileName: string; readonly size?: number }): Call =>
  Effect.flatMap(Media, ({ upload }) => upload({ content: Stream.make(new Uint8Array(3)), ...file }))

const never = [0, -1, 1.5, 101, Number.NaN, Number.POSITIVE_INFINITY]

/** Invalid calls, each with the field that its error names. */
const wrong: ReadonlyArray<readonly [what: string, field: string, call: Call]> = [
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((stock) =>
    [`a stock of ${stock}`, "stock", setStock("p", stock)] as const
  ),
  ...never.map((limit) => [`a page of ${limit}`, "limit", page(limit)] as const),
  ...never.flatMap((pageSize) =>
    [
      [`a page size of ${pageSize} for posts`, "pageSize", listPosts({ pageSize })],
      [`a page size of ${pageSize} for conversations`, "pageSize", listConversations({ pageSize })],
      [`a page size of ${pageSize} for an open list`, "pageSize", listOpen({ pageSize })]
    ] as const
  ),
  ...[0, -1, 1.5, Number.NaN].flatMap((limit) =>
    [
      [`a total of ${limit} for posts`, "limit", listPosts({ limit })],
      [`a total of ${limit} for conversations`, "limit", listConversations({ limit })],
      [`a total of ${limit} for an open list`, "limit", listOpen({ limit })]
    ] as const
  ),
  ...["", ".", ".."].flatMap((id) =>
    [
      [`the product "${id}"`, "id", setStock(id, 1)],
      [`the profile "${id}"`, "id", Effect.flatMap(Profiles, ({ get }) => get(ProfileId.make(id)))],
      [`the user name "${id}"`, "username", Effect.flatMap(Profiles, ({ find }) => find(Username.make(id)))],
      [`the post "${id}"`, "id", Effect.flatMap(Posts, ({ like }) => like(PostId.make(id)))],
      [
        `the order "${id}"`,
        "id",
        Effect.flatMap(Store, ({ ship }) => ship(OrderId.make(id), { carrier: "c", trackingNumber: "t" }))
      ],
      [`the conversation "${id}"`, "id", Effect.flatMap(Chat, ({ send }) => send(ConversationId.make(id), "x"))]
    ] as const
  ),
  ...["", " ", "\n\t"].flatMap((blank) =>
    [
      [
        `the carrier ${JSON.stringify(blank)}`,
        "carrier",
        Effect.flatMap(Store, ({ ship }) => ship(OrderId.make("o"), { carrier: blank, trackingNumber: "t" }))
      ],
      [
        `the tracking number ${JSON.stringify(blank)}`,
        "trackingNumber",
        Effect.flatMap(Store, ({ ship }) => ship(OrderId.make("o"), { carrier: "c", trackingNumber: blank }))
      ],
      [
        `the medium ${JSON.stringify(blank)}`,
        "mediaIds",
        Effect.flatMap(Posts, ({ create }) => create({ text: "a", mediaIds: [MediaId.make("m"), MediaId.make(blank)] }))
      ]
    ] as const
  ),
  ["an upload without a file name", "fileName", upload({ fileName: "" })],
  ["an upload of -1 bytes", "size", upload({ fileName: "a", size: -1 })],
  ["an upload of NaN bytes", "size", upload({ fileName: "a", size: Number.NaN })]
]

describe("an invalid argument fails without a request, with the name of the field", () => {
  for (const [what, field, call] of wrong) {
    it.effect(what, () =>
      Effect.gen(function*() {
        const { calls, layer } = Fake.scripted([Fake.json({ id: "1", data: [], next_cursor: null })])
        const failure = yield* Effect.flip(Effect.provide(call, layer))
        expect([failure._tag, "field" in failure && failure.field]).toEqual(["InvalidInput", field])
        expect(failure.message).toMatch(new RegExp(`^${field}\\b.+`))
        expect(calls).toEqual([])
      }))
  }

  const settings: ReadonlyArray<readonly [setting: string, options: Partial<Plaza.Options>]> = [
    ...[
      "",
      ` ${Fake.key}`,
      `${Fake.key}\n`,
      `Bearer ${Fake.key}`,
      `${Fake.key}\u00e9`
    ].map((apiKey) => ["apiKey", { apiKey: Redacted.make(apiKey) }] as const),
    ...["", "/open/v1", "host/open/v1", "ftp://host/open/v1", "http://", "https://user@host/open/v1", "https://host/open/v1#x"].map(
      (baseUrl) => ["baseUrl", { baseUrl }] as const
    ),
    ...[Number.NaN, 0, -1, 0.5, Number.POSITIVE_INFINITY].map((rateLimit) => ["rateLimit", { rateLimit }] as const)
  ]
  for (const [setting, options] of settings) {
    const shown = options.apiKey === undefined ? JSON.stringify(options) : `a key of ${Redacted.value(options.apiKey).length} characters`
    it.effect(`${setting}: ${shown}`, () =>
      Effect.gen(function*() {
        const layer = Plaza.layer({ baseUrl: Fake.baseUrl, apiKey: Redacted.make(Fake.key), ...options }).pipe(
          Layer.provide(Fake.layerHttpClient(() => Effect.die(new Error("nothing may be sent"))))
        )
        const failure = yield* Effect.flip(Effect.provide(Effect.flatMap(Profiles, ({ me }) => me), layer))
        expect(failure._tag).toBe("InvalidSettings")
        expect(failure).toHaveProperty("setting", setting)
        expect(failure.message).not.toContain("kkkk")
      }))
  }
})

describe("a value that the types don't allow", () => {
  // What code without types can pass.
  const untyped = (value: unknown) => value as never

  const settings: Readonly<Record<string, ReadonlyArray<unknown>>> = {
    apiKey: [Fake.key, undefined, null, 5, Redacted.make(5)],
    baseUrl: [undefined, null, 5, new URL(Fake.baseUrl)],
    retry: [3, "5", [1], {}],
    retryBudget: ["no", 0],
    propagateTrace: ["yes", 1],
    onAttempt: [5, "log"]
  }
  for (const [setting, values] of Object.entries(settings)) {
    it.effect(`of the setting ${setting} fails the layer with one sentence`, () =>
      Effect.gen(function*() {
        for (const value of values) {
          const options = { baseUrl: Fake.baseUrl, apiKey: Redacted.make(Fake.key), [setting]: value }
          const layer = Layer.provide(Plaza.layer(untyped(options)), Fake.layerHttpClient(() => Effect.die(new Error("sent"))))
          const failure = yield* Effect.flip(Effect.provide(Effect.flatMap(Profiles, ({ me }) => me), layer))
          expect(failure).toMatchObject({ _tag: "InvalidSettings", setting })
          expect(failure.message).toMatch(new RegExp(`^${setting} must`))
        }
      }))
  }

  it.effect("in place of the settings fails the layer too", () =>
    Effect.gen(function*() {
      for (const options of [undefined, null, "https://host"]) {
        const layer = Layer.provide(Plaza.layer(untyped(options)), Fake.layerHttpClient(() => Effect.die(new Error("sent"))))
        expect(yield* Effect.flip(Layer.build(layer))).toMatchObject({ _tag: "InvalidSettings", setting: "options" })
      }
    }))

  const me = Effect.flatMap(Profiles, ({ me }) => me)
  const calls: Readonly<Record<string, Effect.Effect<unknown, { readonly _tag: string; readonly message: string }, Plaza.Services>>> = {
    "a post of a text": Effect.flatMap(Posts, ({ create }) => create(untyped("text"))),
    "a post of nothing": Effect.flatMap(Posts, ({ create }) => create(untyped(null))),
    "a post of a number": Effect.flatMap(Posts, ({ create }) => create(untyped({ text: 5 }))),
    "a post with a number for media": Effect.flatMap(Posts, ({ create }) => create(untyped({ mediaIds: [1] }))),
    "a comment of a number": Effect.flatMap(Posts, ({ comment }) => comment(untyped("1"), untyped(5))),
    "a shipment of nothing": Effect.flatMap(Store, ({ ship }) => ship(untyped("o"), untyped(undefined))),
    "a shipment without a number": Effect.flatMap(Store, ({ ship }) => ship(untyped("o"), untyped({ carrier: "C" }))),
    "a shipment with a number": Effect.flatMap(Store, ({ ship }) => ship(untyped("o"), untyped({ carrier: "C", trackingNumber: 1 }))),
    "a stock of a text": Effect.flatMap(Store, ({ setStock }) => setStock(untyped("p"), untyped("3"))),
    "an upload of a text": Effect.flatMap(Media, ({ upload }) => upload(untyped({ fileName: "a.png", content: "text" }))),
    "an upload without a name": Effect.flatMap(Media, ({ upload }) => upload(untyped({ content: new Uint8Array(1) }))),
    "a list with null": Effect.flatMap(Posts, ({ list }) => Stream.runDrain(list(untyped(null)))),
    "a request with another delivery class": Plaza.request(
      untyped({ method: "POST", path: "/notes", response: Schema.Unknown, delivery: "once" })
    ),
    "a request with another method": Plaza.request(untyped({ method: "post", path: "/notes", response: Schema.Unknown })),
    "a request without a path": Plaza.request(untyped({ method: "GET", response: Schema.Unknown })),
    "a request with a broken path": Plaza.request({ method: "GET", path: "/%zz", response: Schema.Unknown }),
    "a call with a number for its retries": Plaza.withRetry(untyped(3))(me),
    "a call with a number for its observer": Plaza.onAttempt(untyped(3))(me)
  }
  for (const [name, call] of Object.entries(calls)) {
    it.effect(`fails without a request: ${name}`, () =>
      Effect.gen(function*() {
        const layer = Fake.layerPlaza(() => Effect.die(new Error("sent")))
        expect(yield* Effect.flip(Effect.provide(call, layer))).toMatchObject({ _tag: "InvalidInput" })
      }))
  }
})
