/**
 * The area of chat: listing conversations, sending messages. Knows nothing of keys or limits.
 *
 * Source: interface v1, "Endpoints", conditional errors. Newest conversation first is assumed.
 *
 * @since 0.1.0
 */
import * as SqlClient from "@effect/sql/SqlClient"
import { ChatBlocked, ChatNotAllowed, UserUnavailable } from "@plaza/domain/Errors"
import { ConversationId } from "@plaza/domain/Ids"
import type { ChatGroup } from "@plaza/domain/PlazaApi"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Accounts } from "./Accounts.js"
import { Assumed } from "./Assumptions.js"
import { Cursors } from "./Cursors.js"
import * as Database from "./Database.js"
import * as Envelope from "./Envelope.js"
import { checkText } from "./Fields.js"
import type { Handlers } from "./Gate.js"

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

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<
  Handlers<typeof ChatGroup>,
  never,
  SqlClient.SqlClient | Accounts | Assumed | Cursors
> = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const accounts = yield* Accounts
  const cursors = yield* Cursors
  const { defaultPageSize, maxTextLength } = yield* Assumed

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

  return {
    listConversations: ({ urlParams: { cursor, limit = defaultPageSize } }, { caller }) =>
      Effect.gen(function*() {
        const [seq] = cursor === undefined ? [] : yield* cursors.open("conversations", caller.accountId, cursor)
        const rows = yield* sql<ConversationRow>`SELECT * FROM conversations WHERE account_id = ${caller.accountId}
          AND ${seq === undefined ? sql`1 = 1` : sql`seq < ${seq}`} ORDER BY seq DESC LIMIT ${limit + 1}`
        const page = rows.slice(0, limit)
        const last = page.at(-1)
        return {
          data: page.map(({ id, peer_id }) => ({ id: ConversationId.make(id), peerId: peer_id })),
          nextCursor: rows.length > limit && last !== undefined
            ? cursors.seal("conversations", caller.accountId, [last.seq])
            : null
        }
      }).pipe(Database.orDefect),

    sendMessage: ({ path, payload: { text } }, { caller }) =>
      Effect.gen(function*() {
        yield* checkText("text", text, maxTextLength)
        // A conversation of others can't be seen, so it isn't there.
        const [conversation] = yield* sql<ConversationRow>`SELECT * FROM conversations
          WHERE id = ${path.id} AND account_id = ${caller.accountId}`
        if (conversation === undefined) {
          return yield* Envelope.notFound("conversation", path.id)
        }
        yield* mayWrite(caller.accountId, conversation.peer_id)
        const now = yield* Clock.currentTimeMillis
        const [created] = yield* sql<{ readonly seq: number }>`INSERT INTO messages ${
          sql.insert({ conversation_id: path.id, account_id: caller.accountId, text, created_at: now })
        } RETURNING seq`
        // What was written to is remembered, so the peer may answer.
        yield* sql`INSERT INTO relations (from_id, to_id, has_written)
          VALUES (${caller.accountId}, ${conversation.peer_id}, 1)
          ON CONFLICT (from_id, to_id) DO UPDATE SET has_written = 1`
        return {
          id: String(created?.seq),
          conversationId: path.id,
          senderId: caller.accountId,
          text,
          createdAt: DateTime.formatIso(DateTime.unsafeMake(now))
        }
      }).pipe(sql.withTransaction, Database.orDefect)
  }
})
