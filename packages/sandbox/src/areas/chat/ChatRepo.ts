/** The tables `conversations` and `messages`. */
import { ConversationId, ProfileId } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Db } from "../../storage/Db.ts"

export const Conversation = Schema.Struct({
  seq: Schema.Number,
  id: ConversationId,
  accountId: ProfileId,
  peerId: ProfileId
})
export type Conversation = typeof Conversation.Type

export const Message = Schema.Struct({
  seq: Schema.Number,
  /** The conversation that it was written in. */
  conversationId: ConversationId,
  senderId: ProfileId,
  text: Schema.String,
  createdAt: Schema.DateTimeUtcFromMillis
})
export type Message = typeof Message.Type

/** The id of the conversation with a sequence number, in a form that the document shows. */
export const idOf = (seq: number): string => `conv_${300 + seq}`

/**
 * The key that both conversations of two accounts share. Each account has a conversation of its own with the other; the
 * messages of both are the same.
 */
export const pairOf = (accountId: string, peerId: string): string => JSON.stringify([accountId, peerId].sort())

export class ChatRepo extends Context.Service<ChatRepo>()("@plaza/sandbox/ChatRepo", {
  make: Effect.map(Db, (db) => ({
    /** A conversation of an account; none if it belongs to another account. */
    findConversation: (id: string, accountId: string) =>
      db.first(Conversation)`SELECT seq, id, account_id AS accountId, peer_id AS peerId FROM conversations
          WHERE id = ${id} AND account_id = ${accountId}`,
    /** The conversations of an account below a sequence number, newest first. */
    findOlderConversations: (accountId: string, seq: number, limit: number) =>
      db.all(Conversation)`SELECT seq, id, account_id AS accountId, peer_id AS peerId FROM conversations
          WHERE account_id = ${accountId} AND seq < ${seq} ORDER BY seq DESC LIMIT ${limit}`,
    allConversations: () =>
      db.all(Conversation)`SELECT seq, id, account_id AS accountId, peer_id AS peerId FROM conversations ORDER BY seq`,
    /** The sequence number of the next conversation. */
    nextConversationSeq: () => db.seq`SELECT coalesce(max(seq), 0) + 1 AS seq FROM conversations`,
    insertConversation: ({ accountId, id, peerId, seq }: Conversation) =>
      db.run`INSERT INTO conversations (seq, id, account_id, peer_id) VALUES (${seq}, ${id}, ${accountId}, ${peerId})`,

    /** The messages of two accounts below a sequence number, newest first. */
    findOlderMessages: (pair: string, seq: number, limit: number) =>
      db.all(Message)`SELECT seq, conversation_id AS conversationId, account_id AS senderId, text, created_at AS createdAt FROM messages
          WHERE pair = ${pair} AND seq < ${seq} ORDER BY seq DESC LIMIT ${limit}`,
    allMessages: () =>
      db.all(Message)`SELECT seq, conversation_id AS conversationId, account_id AS senderId, text, created_at AS createdAt
          FROM messages ORDER BY seq`,
    /** Adds a message between the accounts of a pair and returns its sequence number. */
    insertMessage: (pair: string, { conversationId, createdAt, senderId, text }: Omit<Message, "seq">) =>
      db.seq`INSERT INTO messages (conversation_id, account_id, pair, text, created_at)
          VALUES (${conversationId}, ${senderId}, ${pair}, ${text}, ${DateTime.toEpochMillis(createdAt)}) RETURNING seq`
  }))
}) {
  static readonly layer = Layer.effect(ChatRepo, ChatRepo.make)
}
