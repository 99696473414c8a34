/**
 * The tables `conversations` and `messages`.
 *
 * @since 0.1.0
 */
import { ConversationId, ProfileId } from "@plaza-legacy/domain/Ids"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Sql } from "../../storage/Sql.ts"
import * as SqlSchema from "../../storage/SqlSchema.ts"

/** @since 0.1.0 @category rows */
export const Conversation = Schema.Struct({
  seq: Schema.Number,
  id: ConversationId,
  accountId: ProfileId,
  peerId: ProfileId
})
/** @since 0.1.0 @category rows */
export type Conversation = typeof Conversation.Type

/** @since 0.1.0 @category rows */
export const Message = Schema.Struct({
  seq: Schema.Number,
  /** The conversation that it was written in. */
  conversationId: ConversationId,
  senderId: ProfileId,
  text: Schema.String,
  createdAt: Schema.DateTimeUtcFromNumber
})
/** @since 0.1.0 @category rows */
export type Message = typeof Message.Type

/**
 * The id of the conversation with a sequence number, in a form that the document shows.
 *
 * @since 0.1.0
 * @category conversions
 */
export const idOf = (seq: number): string => `conv_${300 + seq}`

/**
 * The key that both conversations of two accounts share. Each account has a conversation of its own with the other; the
 * messages of both are the same.
 *
 * @since 0.1.0
 * @category conversions
 */
export const pairOf = (accountId: string, peerId: string): string => JSON.stringify([accountId, peerId].sort())

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Sql, (sql) => ({
  /** A conversation of an account; none if it belongs to another account. */
  findConversation: SqlSchema.findOne({
    Result: Conversation,
    execute: (id: string, accountId: string) =>
      sql.first`SELECT seq, id, account_id AS accountId, peer_id AS peerId FROM conversations
        WHERE id = ${id} AND account_id = ${accountId}`
  }),
  /** The conversations of an account below a sequence number, newest first. */
  findOlderConversations: SqlSchema.findAll({
    Result: Conversation,
    execute: (accountId: string, seq: number, limit: number) =>
      sql`SELECT seq, id, account_id AS accountId, peer_id AS peerId FROM conversations
        WHERE account_id = ${accountId} AND seq < ${seq} ORDER BY seq DESC LIMIT ${limit}`
  }),
  allConversations: SqlSchema.findAll({
    Result: Conversation,
    execute: () => sql`SELECT seq, id, account_id AS accountId, peer_id AS peerId FROM conversations ORDER BY seq`
  }),
  /** The sequence number of the next conversation. */
  nextConversationSeq: SqlSchema.single({
    Result: SqlSchema.Seq,
    execute: () => sql.first`SELECT coalesce(max(seq), 0) + 1 AS seq FROM conversations`
  }),
  insertConversation: ({ accountId, id, peerId, seq }: Conversation) =>
    Effect.asVoid(sql`INSERT INTO conversations (seq, id, account_id, peer_id) VALUES (${seq}, ${id}, ${accountId}, ${peerId})`),

  /** The messages of two accounts below a sequence number, newest first. */
  findOlderMessages: SqlSchema.findAll({
    Result: Message,
    execute: (pair: string, seq: number, limit: number) =>
      sql`SELECT seq, conversation_id AS conversationId, account_id AS senderId, text, created_at AS createdAt FROM messages
        WHERE pair = ${pair} AND seq < ${seq} ORDER BY seq DESC LIMIT ${limit}`
  }),
  allMessages: SqlSchema.findAll({
    Result: Message,
    execute: () =>
      sql`SELECT seq, conversation_id AS conversationId, account_id AS senderId, text, created_at AS createdAt
        FROM messages ORDER BY seq`
  }),
  /** Adds a message between the accounts of a pair and returns its sequence number. */
  insertMessage: SqlSchema.single({
    Result: SqlSchema.Seq,
    execute: (pair: string, { conversationId, createdAt, senderId, text }: Omit<Message, "seq">) =>
      sql.first`INSERT INTO messages (conversation_id, account_id, pair, text, created_at)
        VALUES (${conversationId}, ${senderId}, ${pair}, ${text}, ${DateTime.toEpochMillis(createdAt)}) RETURNING seq`
  })
}))

/** @since 0.1.0 @category services */
export class ChatRepo extends Context.Tag("@plaza-legacy/sandbox/ChatRepo")<ChatRepo, Effect.Effect.Success<typeof make>>() {}
