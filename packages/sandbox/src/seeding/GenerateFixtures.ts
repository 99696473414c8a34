/**
 * Generates any number of people, follows, posts, products, orders and conversations: the same for the same seed, in
 * batches, so that a hundred thousand take seconds. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza/domain/Errors"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Chat from "../areas/chat/ChatHandlers.js"
import { invalidField } from "../http/Envelope.js"
import type { Quantities } from "./Fixtures.js"
import * as Posts from "../areas/posts/PostsHandlers.js"
import * as Seed from "./SeedData.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"
import * as Stored from "../latitude/Stored.js"
import { Sql } from "../storage/Sql.js"
import * as Names from "./Names.js"

/** Rows of one statement. */
const batch = 200

/** Between two posts or messages. */
const interval = Duration.toMillis("1 minute")

type Row = Record<string, string | number | null>

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  (quantities: Quantities, seed: number) => Effect.Effect<void, ValidationError>,
  never,
  Sql | CurrentLatitude
> = Effect.map(Effect.all([Sql, CurrentLatitude]), ([sql, latitude]) => {
  const made = (kind: Parameters<typeof Stored.id>[1], seq: number, plain: string) => Stored.id(latitude.value, kind, seq, plain)
  const first = (query: Effect.Effect<ReadonlyArray<{ readonly value: number }>>) =>
    Effect.map(query, ([row]) => row?.value ?? 0)
  const next = (table: "accounts" | "products" | "orders" | "conversations") =>
    first(sql<{ readonly value: number }>`SELECT coalesce(max(seq), 0) + 1 AS value FROM ${sql.literal(table)}`)
  /** Above every id that is a number. */
  const nextAccountNumber = first(sql<{ readonly value: number }>`
    SELECT coalesce(max(CAST(id AS INTEGER)), 0) + 1 AS value FROM accounts WHERE id NOT GLOB '*[^0-9]*' AND length(id) < 16`)

  /** Writes rows in batches; a relation that is there already becomes one that has been written along. */
  const insert = (table: string, count: number, row: (index: number) => Effect.Effect<Row | undefined>) =>
    Effect.gen(function*() {
      const added = sql.literal(table === "relations" ? "ON CONFLICT (from_id, to_id) DO UPDATE SET has_written = 1" : "")
      for (let start = 0; start < count; start += batch) {
        const rows: Array<Row> = []
        for (let index = start; index < Math.min(start + batch, count); index++) {
          const made = yield* row(index)
          if (made !== undefined) {
            rows.push(made)
          }
        }
        if (rows.length > 0) {
          yield* sql`INSERT INTO ${sql.literal(table)} ${sql.insert(rows)} ${added}`
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

      const firstNumber = yield* nextAccountNumber
      const accountSeq = yield* next("accounts")
      const idOf = (index: number) => made("user", accountSeq + index, String(firstNumber + index))
      yield* insert("accounts", people, (index) =>
        Effect.zipWith(pick(Names.first), pick(Names.last), (given, family) =>
          Seed.accountRow({ id: idOf(index), seq: accountSeq + index, username: `person-${idOf(index)}`, name: `${given} ${family}` })))

      // Everyone's list begins at a drawn place among all others and goes round, so that no follow comes twice.
      const begins: Array<number> = []
      for (let index = 0; index < Math.min(people, follows); index++) {
        begins.push(yield* below(people))
      }
      yield* insert("relations", follows, (index) =>
        Effect.sync(() => {
          const from = index % people
          const step = ((begins[from] ?? 0) + Math.floor(index / people)) % people
          const to = (from + 1 + step) % (people + 1)
          return Seed.relationRow(idOf(from), to === people ? Seed.shopId : idOf(to), { follows: true })
        }))

      // Before everything that is there, so that what was newest stays so.
      const oldest = yield* first(sql<{ readonly value: number }>`SELECT coalesce(min(created_at), ${now}) AS value FROM posts`)
      const postSeq = yield* Posts.nextSeq(sql)
      yield* insert("posts", posts, (index) =>
        Effect.zipWith(pick(Names.texts), below(Math.max(people, 1)), (text, author) => ({
          seq: postSeq + index,
          id: made("post", postSeq + index, Posts.idOf(postSeq + index)),
          account_id: people === 0 || index % 2 === 0 ? Seed.shopId : idOf(author),
          text: `${text} (${index + 1})`,
          media_ids: "[]",
          created_at: oldest - (posts - index) * interval
        })))

      const productSeq = yield* next("products")
      yield* insert("products", products, (index) =>
        Effect.zipWith(pick(Names.products), below(10), (name, tenth) => ({
          id: made("product", productSeq + index, `GEN-${String(productSeq + index).padStart(7, "0")}`),
          account_id: Seed.shopId,
          name: `${name} no. ${index + 1}`,
          stock: tenth * 8
        })))

      const orderSeq = yield* next("orders")
      yield* insert("orders", orders, (index) =>
        Effect.map(below(4), (quarter) => ({
          id: made("order", orderSeq + index, `GEN-${orderSeq + index}`),
          account_id: Seed.shopId,
          ...(quarter === 0 ? Names.shipment(index, now) : Names.notShipped)
        })))

      const conversationSeq = yield* next("conversations")
      const conversationOf = (index: number) =>
        made("conversation", conversationSeq + index, Chat.idOf(conversationSeq + index))
      yield* insert("conversations", conversations, (index) =>
        Effect.succeed({ seq: conversationSeq + index, id: conversationOf(index), account_id: Seed.shopId, peer_id: idOf(index) }))
      // Two messages each: one to the peer, and an answer for four in five.
      const isAnswer = (index: number) => index % 2 === 1
      const unanswered = (index: number) => Math.floor(index / 2) % 5 === 4
      const message = (make: (from: string, to: string, index: number) => Effect.Effect<Row>) => (index: number) => {
        const peer = idOf(Math.floor(index / 2))
        return !isAnswer(index)
          ? make(Seed.shopId, peer, index)
          : unanswered(index)
          ? Effect.succeed(undefined)
          : make(peer, Seed.shopId, index)
      }
      yield* insert("messages", 2 * conversations, message((from, to, index) =>
        Effect.map(pick(Names.texts), (text) => ({
          conversation_id: conversationOf(Math.floor(index / 2)),
          account_id: from,
          pair: Chat.pairOf(from, to),
          text,
          created_at: now - (2 * conversations - index) * interval
        }))))
      yield* insert("relations", 2 * conversations, message((from, to) =>
        Effect.succeed(Seed.relationRow(from, to, { hasWritten: true }))))
    })
})
