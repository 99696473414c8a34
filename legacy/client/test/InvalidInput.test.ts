import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, Media, Plaza, Posts, Profiles, Store } from "@plaza-legacy/client"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza-legacy/domain"
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
          Layer.provide(Fake.layerHttpClient(() => Effect.dieMessage("nothing may be sent")))
        )
        const failure = yield* Effect.flip(Effect.provide(Effect.flatMap(Profiles, ({ me }) => me), layer))
        expect(failure._tag).toBe("InvalidSettings")
        expect(failure).toHaveProperty("setting", setting)
        expect(failure.message).not.toContain("kkkk")
      }))
  }
})
