/**
 * Generates people, follows, posts, products, orders and conversations. The same seed gives the same data. Rows are
 * inserted in batches, so that 100,000 take seconds.
 */
import type { ValidationError } from "@plaza/domain/Errors"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Chat from "../areas/chat/ChatRepo.ts"
import * as Posts from "../areas/posts/PostsRepo.ts"
import * as Generator from "../Generator.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import * as Stored from "../latitude/Stored.ts"
import { Db, insert, literal, type Row } from "../storage/Db.ts"
import { invalidField } from "../Validation.ts"
import type { Quantities } from "./Fixtures.ts"
import * as SampleText from "./SampleText.ts"
import * as SeedData from "./SeedData.ts"

/** Rows per statement. */
const batch = 200

/** Milliseconds between two posts or messages. */
const interval = Duration.toMillis("1 minute")

const Value = Schema.Struct({ value: Schema.Int })

/** Inserts rows for the quantities. */
export const make = Effect.gen(function*() {
  const db = yield* Db
  const postsRepo = yield* Posts.PostsRepo
  const latitude = yield* CurrentLatitude
  const formatId = (kind: Parameters<typeof Stored.id>[1], seq: number, plain: string) => Stored.id(latitude.value, kind, seq, plain)
  const next = (table: "accounts" | "products" | "orders" | "conversations") =>
    db.seq`SELECT coalesce(max(seq), 0) + 1 AS seq FROM ${literal(table)}`
  /** One more than the largest numeric account id. */
  const nextAccountNumber = () =>
    db.one(Value)`SELECT coalesce(max(CAST(id AS INTEGER)), 0) + 1 AS value FROM accounts
      WHERE id NOT GLOB '*[^0-9]*' AND length(id) < 16`.value
  /** When the oldest post was created, or else now; in milliseconds since 1970. */
  const oldestPost = (now: number) => db.one(Value)`SELECT coalesce(min(created_at), ${now}) AS value FROM posts`.value

  /** Inserts rows in batches. A relation that exists gets `has_written`. */
  const insertAll = (table: string, count: number, row: (index: number) => Row | undefined): void => {
    const onConflict = literal(table === "relations" ? "ON CONFLICT (from_id, to_id) DO UPDATE SET has_written = 1" : "")
    for (let start = 0; start < count; start += batch) {
      const rows: Array<Row> = []
      for (let index = start; index < Math.min(start + batch, count); index++) {
        const inserted = row(index)
        if (inserted !== undefined) {
          rows.push(inserted)
        }
      }
      if (rows.length > 0) {
        db.run`INSERT INTO ${literal(table)} ${insert(rows)} ${onConflict}`
      }
    }
  }

  return Effect.fnUntraced(function*(
    { conversations = 0, follows = 0, orders = 0, people = 0, posts = 0, products = 0 }: Quantities,
    seed: number
  ): Effect.fn.Return<void, ValidationError> {
    if (follows > people * people) {
      return yield* invalidField("generate.follows", `can be at most ${people * people} among ${people} people and the shop`)
    }
    if (conversations > people) {
      return yield* invalidField("generate.conversations", `can be at most ${people}, one with each of the people that are generated`)
    }
    const random = Generator.make(`fixtures of sandbox ${seed}`)
    const below = (bound: number) => random.between(0, bound)
    const pick = (words: ReadonlyArray<string>) => words[below(words.length)] ?? ""
    const now = yield* Clock.currentTimeMillis

    const firstNumber = nextAccountNumber()
    const accountSeq = next("accounts")
    const idOf = (index: number) => formatId("user", accountSeq + index, String(firstNumber + index))
    insertAll("accounts", people, (index) => {
      const [given, family] = [pick(SampleText.first), pick(SampleText.last)]
      return SeedData.accountRow({
        id: idOf(index),
        seq: accountSeq + index,
        username: `person-${idOf(index)}`,
        name: `${given} ${family}`
      })
    })

    // Each person follows the others in order from a random offset, so that no follow occurs twice.
    const offsets = Array.from({ length: Math.min(people, follows) }, () => below(people))
    insertAll("relations", follows, (index) => {
      const from = index % people
      const step = ((offsets[from] ?? 0) + Math.floor(index / people)) % people
      const to = (from + 1 + step) % (people + 1)
      return SeedData.relationRow(idOf(from), to === people ? SeedData.shopId : idOf(to), { follows: true })
    })

    // Older than all existing posts, so that the newest one stays the newest.
    const oldest = oldestPost(now)
    const postSeq = postsRepo.nextSeq()
    insertAll("posts", posts, (index) => {
      const [text, author] = [pick(SampleText.texts), below(Math.max(people, 1))]
      return {
        seq: postSeq + index,
        id: formatId("post", postSeq + index, Posts.idOf(postSeq + index)),
        account_id: people === 0 || index % 2 === 0 ? SeedData.shopId : idOf(author),
        text: `${text} (${index + 1})`,
        media_ids: "[]",
        created_at: oldest - (posts - index) * interval
      }
    })

    const productSeq = next("products")
    insertAll("products", products, (index) => {
      const [name, tenth] = [pick(SampleText.products), below(10)]
      return {
        id: formatId("product", productSeq + index, `GEN-${String(productSeq + index).padStart(7, "0")}`),
        account_id: SeedData.shopId,
        name: `${name} no. ${index + 1}`,
        stock: tenth * 8
      }
    })

    const orderSeq = next("orders")
    insertAll("orders", orders, (index) => ({
      id: formatId("order", orderSeq + index, `GEN-${orderSeq + index}`),
      account_id: SeedData.shopId,
      ...(below(4) === 0 ? SampleText.shipment(index, now) : SampleText.notShipped)
    }))

    const conversationSeq = next("conversations")
    const conversationOf = (index: number) => formatId("conversation", conversationSeq + index, Chat.idOf(conversationSeq + index))
    insertAll("conversations", conversations, (index) => ({
      seq: conversationSeq + index,
      id: conversationOf(index),
      account_id: SeedData.shopId,
      peer_id: idOf(index)
    }))
    // Two messages each: one to the peer, and a reply in four of five.
    const message = (make: (from: string, to: string, index: number) => Row) => (index: number): Row | undefined => {
      const conversation = Math.floor(index / 2)
      const peer = idOf(conversation)
      return index % 2 === 0
        ? make(SeedData.shopId, peer, index)
        : conversation % 5 === 4
        ? undefined
        : make(peer, SeedData.shopId, index)
    }
    insertAll("messages", 2 * conversations, message((from, to, index) => ({
      conversation_id: conversationOf(Math.floor(index / 2)),
      account_id: from,
      pair: Chat.pairOf(from, to),
      text: pick(SampleText.texts),
      created_at: now - (2 * conversations - index) * interval
    })))
    insertAll("relations", 2 * conversations, message((from, to) => SeedData.relationRow(from, to, { hasWritten: true })))
  })
})
