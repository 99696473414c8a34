/**
 * The area of chat: listing conversations, sending messages. Knows nothing of keys or limits.
 *
 * Source: interface v1, "Endpoints", conditional errors.
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type { NotFound } from "@plaza/domain/Errors"
import { ChatBlocked, ChatNotAllowed, UserUnavailable } from "@plaza/domain/Errors"
import { ConversationId } from "@plaza/domain/Ids"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Accounts } from "../../access/Accounts.js"
import { Assumed } from "../../Assumptions.js"
import * as Envelope from "../../http/Envelope.js"
import { checkText } from "../Validation.js"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Stored from "../../latitude/Stored.js"
import * as Lists from "../../storage/Lists.js"
import { Sql } from "../../storage/Sql.js"
import { CurrentCaller, toItsEnd } from "../../http/RequiresAdmission.js"
import { ServedApi } from "../../http/ServedApi.js"

/** @since 0.1.0 @category rows */
export interface ConversationRow {
  readonly seq: number
  readonly id: string
  readonly account_id: string
  readonly peer_id: string
}

/**
 * The id of the conversation with a sequence number; the form is one that the document says occurs.
 *
 * @since 0.1.0
 * @category rows
 */
export const idOf = (seq: number): string => `conv_${300 + seq}`

/** @since 0.1.0 @category rows */
export interface MessageRow {
  readonly seq: number
  readonly conversation_id: string
  /** Who wrote it. */
  readonly account_id: string
  readonly text: string
  readonly created_at: number
}

/**
 * The name of two people who write to each other. Each has a conversation of their own with the other; the messages of
 * both are one.
 *
 * @since 0.1.0
 * @category rows
 */
export const pairOf = (one: string, other: string): string => JSON.stringify([one, other].sort())

/**
 * A message as whoever has the conversation is told of it.
 *
 * @since 0.1.0
 * @category rows
 */
export const messageFromRow = ({ account_id, created_at, seq, text }: MessageRow, conversationId: string) => ({
  id: String(seq),
  conversationId,
  senderId: account_id,
  text,
  createdAt: DateTime.formatIso(DateTime.unsafeMake(created_at))
})

/**
 * Finds a conversation of an account. One of others can't be seen, so it isn't there.
 *
 * @since 0.1.0
 * @category checks
 */
export const makeFind: Effect.Effect<
  (id: string, accountId: string) => Effect.Effect<ConversationRow, NotFound>,
  never,
  Sql
> = Effect.map(Sql, (sql) => (id, accountId) =>
  Effect.flatMap(
    sql.first<ConversationRow>`SELECT * FROM conversations WHERE id = ${id} AND account_id = ${accountId}`,
    (row) => row === undefined ? Envelope.notFound("conversation", id) : Effect.succeed(row)
  ))

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedApi, "chat", (handlers) =>
  Effect.gen(function*() {
    const sql = yield* Sql
    const latitude = yield* CurrentLatitude
    const accounts = yield* Accounts
    const { maxTextLength } = yield* Assumed
    const find = yield* makeFind
    const readPage = yield* Lists.makeReadPage

    /** The anti-spam rule: who has not written and does not follow isn't written to. */
    const mayWrite = (callerId: string, peerId: string) =>
      Effect.gen(function*() {
        const there = yield* accounts.relation(callerId, peerId)
        const back = yield* accounts.relation(peerId, callerId)
        if (there.blocks || back.blocks) {
          return yield* new ChatBlocked({ message: "one side of the conversation has blocked the other" })
        }
        const peer = yield* accounts.find(peerId)
        if (Option.exists(peer, ({ availability }) => availability === "suspended")) {
          return yield* new UserUnavailable({ message: `the user "${peerId}" is suspended` })
        }
        if (!back.hasWritten && !back.follows) {
          return yield* new ChatNotAllowed({
            message: "the recipient has not written to this account and does not follow it"
          })
        }
      })

    return handlers
      .handle("listConversations", ({ urlParams }) =>   Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
          name: "conversations",
          accountId,
          older: ([seq = Lists.newest], most) =>
            sql.list<ConversationRow>`SELECT * FROM conversations WHERE account_id = ${accountId} AND seq < ${seq}
              ORDER BY seq DESC LIMIT ${most}`,
          placeOf: ({ seq }) => [seq],
          item: ({ id, peer_id }) => ({ id: ConversationId.make(id), peerId: peer_id })
        }, urlParams)), toItsEnd)
      .handle("sendMessage", ({ path, payload: { text } }) =>
          Effect.gen(function*() {
          const caller = yield* CurrentCaller
          yield* checkText("text", text, maxTextLength)
          const conversation = yield* find(path.id, caller.accountId)
          yield* mayWrite(caller.accountId, conversation.peer_id)
          const message = {
            conversation_id: path.id,
            account_id: caller.accountId,
            text: Stored.text(latitude.value, text),
            created_at: yield* Clock.currentTimeMillis
          }
          const [{ seq } = { seq: 0 }] = yield* sql<{ readonly seq: number }>`INSERT INTO messages ${
            sql.insert({ ...message, pair: pairOf(caller.accountId, conversation.peer_id) })
          } RETURNING seq`
          // What was written to is remembered, so the peer may answer.
          yield* sql`INSERT INTO relations (from_id, to_id, has_written)
            VALUES (${caller.accountId}, ${conversation.peer_id}, 1)
            ON CONFLICT (from_id, to_id) DO UPDATE SET has_written = 1`
          return messageFromRow({ ...message, seq }, path.id)
        }).pipe(sql.withTransaction), toItsEnd)
  }))
