/**
 * Generates people, follows, posts, products, orders and conversations. The same seed gives the same data. Rows are
 * inserted in batches, so that 100,000 take seconds.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza-legacy/domain/Errors"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as Chat from "../areas/chat/ChatRepo.ts"
import * as Posts from "../areas/posts/PostsRepo.ts"
import { invalidField } from "../http/Envelope.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import * as Stored from "../latitude/Stored.ts"
import { type Row, Sql } from "../storage/Sql.ts"
import * as SqlSchema from "../storage/SqlSchema.ts"
import type { Quantities } from "./Fixtures.ts"
import * as SampleText from "./SampleText.ts"
import * as SeedData from "./SeedData.ts"

/** Rows per statement. */
const batch = 200

/** Milliseconds between two posts or messages. */
const interval = Duration.toMillis("1 minute")

const Value = Schema.Struct({ value: Schema.Int }).pipe(Schema.pluck("value"))

/**
 * The generator: inserts rows for the quantities.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<
  (quantities: Quantities, seed: number) => Effect.Effect<void, ValidationError>,
  never,
  Sql | Posts.PostsRepo | CurrentLatitude
> = Effect.map(Effect.all([Sql, Posts.PostsRepo, CurrentLatitude]), ([sql, postsRepo, latitude]) => {
  const formatId = (kind: Parameters<typeof Stored.id>[1], seq: number, plain: string) => Stored.id(latitude.value, kind, seq, plain)
  const next = SqlSchema.single({
    Result: SqlSchema.Seq,
    execute: (table: "accounts" | "products" | "orders" | "conversations") =>
      sql.first`SELECT coalesce(max(seq), 0) + 1 AS seq FROM ${sql.literal(table)}`
  })
  /** One more than the largest numeric account id. */
  const nextAccountNumber = SqlSchema.single({
    Result: Value,
    execute: () =>
      sql.first`SELECT coalesce(max(CAST(id AS INTEGER)), 0) + 1 AS value FROM accounts
        WHERE id NOT GLOB '*[^0-9]*' AND length(id) < 16`
  })
  /** When the oldest post was created, or else now; in milliseconds since 1970. */
  const oldestPost = SqlSchema.single({
    Result: Value,
    execute: (now: number) => sql.first`SELECT coalesce(min(created_at), ${now}) AS value FROM posts`
  })

  /** Inserts rows in batches. A relation that exists gets `has_written`. */
  const insert = (table: string, count: number, row: (index: number) => Effect.Effect<Row | undefined>) =>
    Effect.gen(function*() {
      const onConflict = sql.literal(table === "relations" ? "ON CONFLICT (from_id, to_id) DO UPDATE SET has_written = 1" : "")
      for (let start = 0; start < count; start += batch) {
        const rows: Array<Row> = []
        for (let index = start; index < Math.min(start + batch, count); index++) {
          const inserted = yield* row(index)
          if (inserted !== undefined) {
            rows.push(inserted)
          }
        }
        if (rows.length > 0) {
          yield* sql`INSERT INTO ${sql.literal(table)} ${sql.insert(rows)} ${onConflict}`
        }
      }
    })

  return ({ conversations = 0, follows = 0, orders = 0, people = 0, posts = 0, products = 0 }, seed) =>
    Effect.gen(function*() {
      if (follows > people * people) {
        return yield* invalidField("generate.follows", `can be at most ${people * people} among ${people} people and the shop`)
      }
      if (conversations > people) {
        return yield* invalidField("generate.conversations", `can be at most ${people}, one with each of the people that are generated`)
      }
      const random = Random.make(`fixtures of sandbox ${seed}`)
      const below = (bound: number) => random.nextIntBetween(0, bound)
      const pick = (words: ReadonlyArray<string>) => Effect.map(below(words.length), (index) => words[index] ?? "")
      const now = yield* Clock.currentTimeMillis

      const firstNumber = yield* nextAccountNumber()
      const accountSeq = yield* next("accounts")
      const idOf = (index: number) => formatId("user", accountSeq + index, String(firstNumber + index))
      yield* insert("accounts", people, (index) =>
        Effect.zipWith(pick(SampleText.first), pick(SampleText.last), (given, family) =>
          SeedData.accountRow({ id: idOf(index), seq: accountSeq + index, username: `person-${idOf(index)}`, name: `${given} ${family}` })))

      // Each person follows the others in order from a random offset, so that no follow occurs twice.
      const offsets: Array<number> = []
      for (let index = 0; index < Math.min(people, follows); index++) {
        offsets.push(yield* below(people))
      }
      yield* insert("relations", follows, (index) =>
        Effect.sync(() => {
          const from = index % people
          const step = ((offsets[from] ?? 0) + Math.floor(index / people)) % people
          const to = (from + 1 + step) % (people + 1)
          return SeedData.relationRow(idOf(from), to === people ? SeedData.shopId : idOf(to), { follows: true })
        }))

      // Older than all existing posts, so that the newest one stays the newest.
      const oldest = yield* oldestPost(now)
      const postSeq = yield* postsRepo.nextSeq()
      yield* insert("posts", posts, (index) =>
        Effect.zipWith(pick(SampleText.texts), below(Math.max(people, 1)), (text, author) => ({
          seq: postSeq + index,
          id: formatId("post", postSeq + index, Posts.idOf(postSeq + index)),
          account_id: people === 0 || index % 2 === 0 ? SeedData.shopId : idOf(author),
          text: `${text} (${index + 1})`,
          media_ids: "[]",
          created_at: oldest - (posts - index) * interval
        })))

      const productSeq = yield* next("products")
      yield* insert("products", products, (index) =>
        Effect.zipWith(pick(SampleText.products), below(10), (name, tenth) => ({
          id: formatId("product", productSeq + index, `GEN-${String(productSeq + index).padStart(7, "0")}`),
          account_id: SeedData.shopId,
          name: `${name} no. ${index + 1}`,
          stock: tenth * 8
        })))

      const orderSeq = yield* next("orders")
      yield* insert("orders", orders, (index) =>
        Effect.map(below(4), (quarter) => ({
          id: formatId("order", orderSeq + index, `GEN-${orderSeq + index}`),
          account_id: SeedData.shopId,
          ...(quarter === 0 ? SampleText.shipment(index, now) : SampleText.notShipped)
        })))

      const conversationSeq = yield* next("conversations")
      const conversationOf = (index: number) => formatId("conversation", conversationSeq + index, Chat.idOf(conversationSeq + index))
      yield* insert("conversations", conversations, (index) =>
        Effect.succeed({ seq: conversationSeq + index, id: conversationOf(index), account_id: SeedData.shopId, peer_id: idOf(index) }))
      // Two messages each: one to the peer, and a reply in four of five.
      const isReply = (index: number) =>
        index % 2 === 1
      const withoutReply = (index: number) => Math.floor(index / 2) % 5 === 4
      const message = (make: (from: string, to: string, index: number) => Effect.Effect<Row>) => (index: number) => {
        const peer = idOf(Math.floor(index / 2))
        return !isReply(index)
          ? make(SeedData.shopId, peer, index)
          : withoutReply(index)
          ? Effect.succeed(undefined)
          : make(peer, SeedData.shopId, index)
      }
      yield* insert("messages", 2 * conversations, message((from, to, index) =>
        Effect.map(pick(SampleText.texts), (text) => ({
          conversation_id: conversationOf(Math.floor(index / 2)),
          account_id: from,
          pair: Chat.pairOf(from, to),
          text,
          created_at: now - (2 * conversations - index) * interval
        }))
      ))
      yield* insert("relations", 2 * conversations, message((from, to) =>
        Effect.succeed(SeedData.relationRow(from, to, { hasWritten: true }))
      ))
    })
})
