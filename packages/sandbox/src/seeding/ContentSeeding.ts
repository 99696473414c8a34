/**
 * Seeding of posts and conversations.
 *
 * @since 0.1.0
 */
import { ConversationId, PostId } from "@plaza/domain/Ids"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { Accounts } from "../access/Accounts.js"
import { Assumed } from "../Assumptions.js"
import * as Chat from "../areas/chat/ChatHandlers.js"
import { checkText } from "../areas/Validation.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"
import * as Stored from "../latitude/Stored.js"
import * as Posts from "../areas/posts/PostsHandlers.js"
import * as SeedData from "./SeedData.js"
import type { SeedingOperations } from "./Seeding.js"
import { Sql } from "../storage/Sql.js"
import * as SeedingQueries from "./SeedingQueries.js"

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Pick<SeedingOperations, "createPost" | "createConversation">,
  never,
  Sql | Accounts | Assumed | CurrentLatitude
> = Effect.gen(function*() {
  const sql = yield* Sql
  const latitude = yield* CurrentLatitude
  const accounts = yield* Accounts
  const { maxTextLength } = yield* Assumed
  const { getAccount, nextSeq } = yield* SeedingQueries.make
  const checkFields = yield* Posts.makeCheckFields

  /** Records that `from` has written to `to`, which decides who may write. */
  const recordWritten = (from: string, to: string) =>
    Effect.flatMap(accounts.relation(from, to), (relation) =>
      sql`INSERT OR REPLACE INTO relations ${sql.insert(SeedData.relationRow(from, to, { ...relation, hasWritten: true }))}`)

  return {
    createPost: ({ accountId = SeedData.shopId, createdAt, mediaIds = [], text }) =>
      Effect.gen(function*() {
        yield* getAccount(accountId)
        yield* checkFields({ text, mediaIds }, accountId)
        const seq = yield* Posts.nextSeq(sql)
        const id = PostId.make(Stored.id(latitude.value, "post", seq, Posts.idOf(seq)))
        yield* sql`INSERT INTO posts ${
          sql.insert({
            seq,
            id,
            account_id: accountId,
            text,
            media_ids: JSON.stringify(mediaIds),
            created_at: createdAt === undefined ? yield* Clock.currentTimeMillis : DateTime.toEpochMillis(createdAt)
          })
        }`
        return id
      }).pipe(sql.withTransaction),

    createConversation: ({ accountId = SeedData.shopId, messages = [], peerId }) =>
      Effect.gen(function*() {
        yield* getAccount(accountId)
        yield* getAccount(peerId)
        const seq = yield* nextSeq("conversations")
        const id = ConversationId.make(Stored.id(latitude.value, "conversation", seq, Chat.idOf(seq)))
        yield* sql`INSERT INTO conversations ${sql.insert({ seq, id, account_id: accountId, peer_id: peerId })}`
        for (const [index, { isOwn = false, text }] of messages.entries()) {
          yield* checkText(`messages.${index}.text`, text, maxTextLength)
          const [from, to] = isOwn ? [accountId, peerId] : [peerId, accountId]
          yield* sql`INSERT INTO messages ${
            sql.insert({
              conversation_id: id,
              account_id: from,
              pair: Chat.pairOf(accountId, peerId),
              text,
              created_at: yield* Clock.currentTimeMillis
            })
          }`
          yield* recordWritten(from, to)
        }
        return id
      }).pipe(sql.withTransaction)
  }
})
