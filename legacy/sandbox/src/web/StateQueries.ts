/**
 * Queries of the state browser: pages of rows that contain a text, and the number of rows of each table.
 *
 * @since 0.1.0
 */
import { AccessState } from "@plaza-legacy/domain/DeveloperAccess"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Account } from "../access/AccountsRepo.ts"
import { Sql } from "../storage/Sql.ts"
import * as SqlSchema from "../storage/SqlSchema.ts"

/**
 * The number of rows on a page.
 *
 * @since 0.1.0
 * @category constants
 */
export const pageSize = 50

const Post = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  text: Schema.String,
  mediaIds: Schema.parseJson(Schema.Array(Schema.String)),
  comments: Schema.Int,
  likes: Schema.Int,
  createdAt: Schema.DateTimeUtcFromNumber
})
/** @since 0.1.0 @category rows */
export type Post = typeof Post.Type

const Product = Schema.Struct({
  id: Schema.String,
  accountId: Schema.String,
  account: Schema.String,
  name: Schema.String,
  stock: Schema.Int
})
/** @since 0.1.0 @category rows */
export type Product = typeof Product.Type

const Order = Schema.Struct({
  id: Schema.String,
  accountId: Schema.String,
  account: Schema.String,
  carrier: Schema.NullOr(Schema.String),
  trackingNumber: Schema.NullOr(Schema.String),
  shippedAt: Schema.NullOr(Schema.DateTimeUtcFromNumber)
})
/** @since 0.1.0 @category rows */
export type Order = typeof Order.Type

const Conversation = Schema.Struct({
  id: Schema.String,
  accountId: Schema.String,
  account: Schema.String,
  peerId: Schema.String,
  peer: Schema.String
})
/** @since 0.1.0 @category rows */
export type Conversation = typeof Conversation.Type

const Message = Schema.Struct({ account: Schema.String, text: Schema.String, createdAt: Schema.DateTimeUtcFromNumber })
/** @since 0.1.0 @category rows */
export type Message = typeof Message.Type

const Key = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  access: AccessState,
  name: Schema.String,
  scopes: Schema.parseJson(Schema.Array(Schema.String)),
  state: Schema.String
})
/** @since 0.1.0 @category rows */
export type Key = typeof Key.Type

const Media = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  name: Schema.String,
  contentType: Schema.String,
  size: Schema.Int
})
/** @since 0.1.0 @category rows */
export type Media = typeof Media.Type

/**
 * The tables of the state browser.
 *
 * @since 0.1.0
 * @category constants
 */
export const kinds = ["accounts", "posts", "products", "orders", "conversations", "keys", "media"] as const
/** @since 0.1.0 @category models */
export type Kind = typeof kinds[number]

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Sql, (sql) => {
  const Count = Schema.Struct({ rows: Schema.Int }).pipe(Schema.pluck("rows"))
  const count = SqlSchema.single({
    Result: Count,
    execute: (table: string) => sql.first`SELECT count(*) AS rows FROM ${sql.literal(table)}`
  })
  const page = sql.literal(`LIMIT ${pageSize + 1} OFFSET`)
  return {
    /** The number of rows of each table. */
    counts: Effect.forEach(kinds, (table) => Effect.map(count(table), (rows) => [table, rows] as const)),
    // Each returns one row more than a page if another page follows.
    accounts: SqlSchema.findAll({
      Result: Account,
      execute: (text: string, offset: number) =>
        sql`SELECT * FROM accounts WHERE instr(lower(id || ' ' || username || ' ' || name), ${text}) ORDER BY seq ${page} ${offset}`
    }),
    posts: SqlSchema.findAll({
      Result: Post,
      execute: (text: string, offset: number) =>
        sql`SELECT posts.id, username AS account, text, media_ids AS mediaIds, created_at AS createdAt,
            (SELECT count(*) FROM comments WHERE post_id = posts.id) AS comments,
            (SELECT count(*) FROM likes WHERE post_id = posts.id) AS likes
          FROM posts JOIN accounts ON accounts.id = account_id
          WHERE instr(lower(posts.id || ' ' || username || ' ' || text), ${text}) ORDER BY posts.seq DESC ${page} ${offset}`
    }),
    products: SqlSchema.findAll({
      Result: Product,
      execute: (text: string, offset: number) =>
        sql`SELECT products.id, account_id AS accountId, username AS account, products.name, stock
          FROM products JOIN accounts ON accounts.id = account_id
          WHERE instr(lower(products.id || ' ' || username || ' ' || products.name), ${text}) ORDER BY products.seq ${page} ${offset}`
    }),
    product: SqlSchema.findOne({
      Result: Product,
      execute: (id: string) =>
        sql.first`SELECT products.id, account_id AS accountId, username AS account, products.name, stock
          FROM products JOIN accounts ON accounts.id = account_id WHERE products.id = ${id}`
    }),
    orders: SqlSchema.findAll({
      Result: Order,
      execute: (text: string, offset: number) =>
        sql`SELECT orders.id, account_id AS accountId, username AS account, carrier, tracking_number AS trackingNumber,
            shipped_at AS shippedAt
          FROM orders JOIN accounts ON accounts.id = account_id
          WHERE instr(lower(orders.id || ' ' || username || ' ' || coalesce(tracking_number, '')), ${text})
          ORDER BY orders.seq ${page} ${offset}`
    }),
    order: SqlSchema.findOne({
      Result: Schema.Struct({ accountId: Schema.String }).pipe(Schema.pluck("accountId")),
      execute: (id: string) => sql.first`SELECT account_id AS accountId FROM orders WHERE id = ${id}`
    }),
    conversations: SqlSchema.findAll({
      Result: Conversation,
      execute: (text: string, offset: number) =>
        sql`SELECT conversations.id, account_id AS accountId, own.username AS account, peer_id AS peerId, peers.username AS peer
          FROM conversations JOIN accounts own ON own.id = account_id JOIN accounts peers ON peers.id = peer_id
          WHERE instr(lower(conversations.id || ' ' || own.username || ' ' || peers.username), ${text})
          ORDER BY conversations.seq ${page} ${offset}`
    }),
    /** The newest messages of two accounts; see `ChatRepo.pairOf`. */
    messages: SqlSchema.findAll({
      Result: Message,
      execute: (pair: string) =>
        sql`SELECT username AS account, text, created_at AS createdAt FROM messages JOIN accounts ON accounts.id = account_id
          WHERE pair = ${pair} ORDER BY messages.seq DESC LIMIT ${pageSize}`
    }),
    keys: SqlSchema.findAll({
      Result: Key,
      execute: (text: string, offset: number) =>
        sql`SELECT keys.id, username AS account, access, keys.name, scopes, state FROM keys JOIN accounts ON accounts.id = account_id
          WHERE instr(lower(keys.id || ' ' || username || ' ' || keys.name), ${text}) ORDER BY keys.seq ${page} ${offset}`
    }),
    media: SqlSchema.findAll({
      Result: Media,
      execute: (text: string, offset: number) =>
        sql`SELECT media.id, username AS account, media.name, content_type AS contentType, size
          FROM media JOIN accounts ON accounts.id = account_id
          WHERE instr(lower(media.id || ' ' || username || ' ' || media.name), ${text}) ORDER BY media.seq ${page} ${offset}`
    })
  }
})
