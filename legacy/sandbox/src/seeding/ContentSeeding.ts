/**
 * Seeding of posts and conversations.
 *
 * @since 0.1.0
 */
import { ConversationId, MediaId, PostId } from "@plaza-legacy/domain/Ids"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import * as Chat from "../areas/chat/ChatRepo.ts"
import { PostsPolicy } from "../areas/posts/PostsPolicy.ts"
import * as Posts from "../areas/posts/PostsRepo.ts"
import { checkText } from "../areas/Validation.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import * as Stored from "../latitude/Stored.ts"
import { Sql } from "../storage/Sql.ts"
import * as SeedData from "./SeedData.ts"
import type { SeedingOperations } from "./Seeding.ts"
import * as SeedingQueries from "./SeedingQueries.ts"

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Pick<SeedingOperations, "createPost" | "createConversation">,
  never,
  Sql | AccountsRepo | Chat.ChatRepo | Posts.PostsRepo | PostsPolicy | CurrentAssumptions | CurrentLatitude
> = Effect.gen(function*() {
  const sql = yield* Sql
  const latitude = yield* CurrentLatitude
  const accounts = yield* AccountsRepo
  const chat = yield* Chat.ChatRepo
  const posts = yield* Posts.PostsRepo
  const { maxTextLength } = yield* CurrentAssumptions
  const { getAccount } = yield* SeedingQueries.make
  const { checkFields } = yield* PostsPolicy

  return {
    createPost: ({ accountId = SeedData.shopId, createdAt, mediaIds = [], text }) =>
      Effect.gen(function*() {
        const author = yield* getAccount(accountId)
        yield* checkFields({ text, mediaIds }, accountId)
        const { id } = yield* posts.create((seq, now) => ({
          seq,
          id: PostId.make(Stored.id(latitude.value, "post", seq, Posts.idOf(seq))),
          authorId: author.id,
          text,
          mediaIds: mediaIds.map((mediaId) => MediaId.make(mediaId)),
          createdAt: createdAt ?? now
        }))
        return id
      }).pipe(sql.withTransaction),

    createConversation: ({ accountId = SeedData.shopId, messages = [], peerId }) =>
      Effect.gen(function*() {
        const account = yield* getAccount(accountId)
        const peer = yield* getAccount(peerId)
        const seq = yield* chat.nextConversationSeq()
        const id = ConversationId.make(Stored.id(latitude.value, "conversation", seq, Chat.idOf(seq)))
        yield* chat.insertConversation({ seq, id, accountId: account.id, peerId: peer.id })
        for (const [index, { isOwn = false, text }] of messages.entries()) {
          yield* checkText(`messages.${index}.text`, text, maxTextLength)
          const [sender, recipient] = isOwn ? [account, peer] : [peer, account]
          yield* chat.insertMessage(Chat.pairOf(accountId, peerId), {
            conversationId: id,
            senderId: sender.id,
            text,
            createdAt: yield* DateTime.now
          })
          yield* accounts.setHasWritten(sender.id, recipient.id)
        }
        return id
      }).pipe(sql.withTransaction)
  }
})
