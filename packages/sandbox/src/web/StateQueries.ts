/** Queries of the state browser: pages of rows that contain a text, and the number of rows of each table. */
import { AccessState } from "@plaza/domain/DeveloperAccess"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Account } from "../access/AccountsRepo.ts"
import { Db, literal } from "../storage/Db.ts"

/** The number of rows on a page. */
export const pageSize = 50

const Post = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  text: Schema.String,
  mediaIds: Schema.fromJsonString(Schema.Array(Schema.String)),
  comments: Schema.Int,
  likes: Schema.Int,
  createdAt: Schema.DateTimeUtcFromMillis
})
export type Post = typeof Post.Type

const Product = Schema.Struct({
  id: Schema.String,
  accountId: Schema.String,
  account: Schema.String,
  name: Schema.String,
  stock: Schema.Int
})
export type Product = typeof Product.Type

const Order = Schema.Struct({
  id: Schema.String,
  accountId: Schema.String,
  account: Schema.String,
  carrier: Schema.NullOr(Schema.String),
  trackingNumber: Schema.NullOr(Schema.String),
  shippedAt: Schema.NullOr(Schema.DateTimeUtcFromMillis)
})
export type Order = typeof Order.Type

const Conversation = Schema.Struct({
  id: Schema.String,
  accountId: Schema.String,
  account: Schema.String,
  peerId: Schema.String,
  peer: Schema.String
})
export type Conversation = typeof Conversation.Type

const Message = Schema.Struct({ account: Schema.String, text: Schema.String, createdAt: Schema.DateTimeUtcFromMillis })
export type Message = typeof Message.Type

const Key = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  access: AccessState,
  name: Schema.String,
  scopes: Schema.fromJsonString(Schema.Array(Schema.String)),
  state: Schema.String
})
export type Key = typeof Key.Type

const ExampleIds = Schema.Struct({
  user: Schema.NullOr(Schema.String),
  username: Schema.NullOr(Schema.String),
  post: Schema.NullOr(Schema.String),
  product: Schema.NullOr(Schema.String),
  order: Schema.NullOr(Schema.String),
  conversation: Schema.NullOr(Schema.String)
})
/** Ids that an account can use in a request; null where the data has none. */
export type ExampleIds = typeof ExampleIds.Type

const Count = Schema.Struct({ rows: Schema.Int })

const Owner = Schema.Struct({ accountId: Schema.String })

const Media = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  name: Schema.String,
  contentType: Schema.String,
  size: Schema.Int
})
export type Media = typeof Media.Type

/** The tables of the state browser. */
export const kinds = ["accounts", "posts", "products", "orders", "conversations", "keys", "media"] as const
export type Kind = typeof kinds[number]

export const make = Effect.map(Db, (db) => {
  const page = literal(`LIMIT ${pageSize + 1} OFFSET`)
  return {
    /** The number of rows of each table. */
    counts: () => kinds.map((table) => [table, db.one(Count)`SELECT count(*) AS rows FROM ${literal(table)}`.rows] as const),
    /** Examples for requests of an account: the oldest of each kind that is its own and can be changed, and another account. */
    exampleIds: (accountId: string) =>
      db.one(ExampleIds)`SELECT
          (SELECT id FROM accounts WHERE id <> ${accountId} AND availability = 'available' ORDER BY seq LIMIT 1) AS user,
          (SELECT username FROM accounts WHERE id <> ${accountId} AND availability = 'available' ORDER BY seq LIMIT 1) AS username,
          (SELECT id FROM posts WHERE account_id = ${accountId} ORDER BY seq LIMIT 1) AS post,
          (SELECT id FROM products WHERE account_id = ${accountId} ORDER BY seq LIMIT 1) AS product,
          (SELECT id FROM orders WHERE account_id = ${accountId} ORDER BY shipped_at IS NOT NULL, seq LIMIT 1) AS "order",
          (SELECT id FROM conversations WHERE account_id = ${accountId} ORDER BY seq LIMIT 1) AS conversation`,
    // Each returns one row more than a page if another page follows.
    accounts: (text: string, offset: number) =>
      db.all(
        Account
      )`SELECT * FROM accounts WHERE instr(folded(id || ' ' || username || ' ' || name), ${text}) ORDER BY seq ${page} ${offset}`,
    posts: (text: string, offset: number) =>
      db.all(Post)`SELECT posts.id, username AS account, text, media_ids AS mediaIds, created_at AS createdAt,
            (SELECT count(*) FROM comments WHERE post_id = posts.id) AS comments,
            (SELECT count(*) FROM likes WHERE post_id = posts.id) AS likes
          FROM posts JOIN accounts ON accounts.id = account_id
          WHERE instr(folded(posts.id || ' ' || username || ' ' || text), ${text}) ORDER BY posts.seq DESC ${page} ${offset}`,
    products: (text: string, offset: number) =>
      db.all(Product)`SELECT products.id, account_id AS accountId, username AS account, products.name, stock
          FROM products JOIN accounts ON accounts.id = account_id
          WHERE instr(folded(products.id || ' ' || username || ' ' || products.name), ${text}) ORDER BY products.seq ${page} ${offset}`,
    product: (id: string) =>
      db.first(Product)`SELECT products.id, account_id AS accountId, username AS account, products.name, stock
          FROM products JOIN accounts ON accounts.id = account_id WHERE products.id = ${id}`,
    orders: (text: string, offset: number) =>
      db.all(Order)`SELECT orders.id, account_id AS accountId, username AS account, carrier, tracking_number AS trackingNumber,
            shipped_at AS shippedAt
          FROM orders JOIN accounts ON accounts.id = account_id
          WHERE instr(folded(orders.id || ' ' || username || ' ' || coalesce(tracking_number, '')), ${text})
          ORDER BY orders.seq ${page} ${offset}`,
    /** The owner of an order. */
    order: (id: string) => db.first(Owner)`SELECT account_id AS accountId FROM orders WHERE id = ${id}`?.accountId,
    conversations: (text: string, offset: number) =>
      db.all(
        Conversation
      )`SELECT conversations.id, account_id AS accountId, own.username AS account, peer_id AS peerId, peers.username AS peer
          FROM conversations JOIN accounts own ON own.id = account_id JOIN accounts peers ON peers.id = peer_id
          WHERE instr(folded(conversations.id || ' ' || own.username || ' ' || peers.username), ${text})
          ORDER BY conversations.seq ${page} ${offset}`,
    /** The newest messages of two accounts; see `ChatRepo.pairOf`. */
    messages: (pair: string) =>
      db.all(Message)`SELECT username AS account, text, created_at AS createdAt FROM messages JOIN accounts ON accounts.id = account_id
          WHERE pair = ${pair} ORDER BY messages.seq DESC LIMIT ${pageSize}`,
    keys: (text: string, offset: number) =>
      db.all(Key)`SELECT keys.id, username AS account, access, keys.name, scopes, state FROM keys JOIN accounts ON accounts.id = account_id
          WHERE instr(folded(keys.id || ' ' || username || ' ' || keys.name), ${text}) ORDER BY keys.seq ${page} ${offset}`,
    media: (text: string, offset: number) =>
      db.all(Media)`SELECT media.id, username AS account, media.name, content_type AS contentType, size
          FROM media JOIN accounts ON accounts.id = account_id
          WHERE instr(folded(media.id || ' ' || username || ' ' || media.name), ${text}) ORDER BY media.seq ${page} ${offset}`
  }
})
