/**
 * Handlers of the posts area: creating and listing posts, commenting and liking.
 *
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 */
import { PostId } from "@plaza-legacy/domain/Ids"
import { PostsGroup } from "@plaza-legacy/domain/PlazaApi"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { CurrentAssumptions } from "../../Assumptions.ts"
import * as Endpoints from "../../http/Endpoints.ts"
import * as Envelope from "../../http/Envelope.ts"
import { CurrentCaller } from "../../http/RequiresAdmission.ts"
import { servedInterface } from "../../http/ServedApi.ts"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.ts"
import * as Stored from "../../latitude/Stored.ts"
import { newest, Pagination } from "../../storage/Pagination.ts"
import { Sql } from "../../storage/Sql.ts"
import { checkText } from "../Validation.ts"
import { PostsPolicy } from "./PostsPolicy.ts"
import type { Post } from "./PostsRepo.ts"
import { idOf, PostsRepo } from "./PostsRepo.ts"

/**
 * A post as a response shows it.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toPost = ({ authorId, createdAt, id, mediaIds, text }: Post) => ({ id, authorId, text, mediaIds, createdAt })

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedInterface, PostsGroup, (handlers) =>
  Effect.gen(function*() {
    const { withTransaction } = yield* Sql
    const repo = yield* PostsRepo
    const { checkFields, findVisible } = yield* PostsPolicy
    const { readPage } = yield* Pagination
    const latitude = yield* CurrentLatitude
    const { maxTextLength } = yield* CurrentAssumptions

    return handlers
      .handle("createPost", ({ payload: { mediaIds = [], text: given } }) => {
        const create = Effect.gen(function*() {
          const caller = yield* CurrentCaller
          const text = given ?? ""
          if (given === undefined && mediaIds.length === 0) {
            return yield* Envelope.invalidField("text", "is missing: a post without mediaIds requires it")
          }
          yield* checkFields({ mediaIds, text: text === "" && mediaIds.length > 0 ? undefined : text }, caller.accountId)
          const post = yield* repo.create((seq, now) => ({
            seq,
            id: PostId.make(Stored.id(latitude.value, "post", seq, idOf(seq))),
            authorId: caller.accountId,
            text: Stored.text(latitude.value, text),
            mediaIds: Stored.mediaIds(latitude.value, mediaIds),
            createdAt: now
          }))
          return toPost(post)
        })
        // Without media nothing is checked against stored rows, and the post is added in one step.
        return mediaIds.length === 0 ? create : withTransaction(create)
      })
      .handle("listPosts", ({ urlParams }) =>
        Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
            name: "posts",
            accountId,
            findOlder: ([createdAt = newest, seq = newest], limit) => repo.findOlder(accountId, [createdAt, seq], limit),
            positionOf: ({ createdAt, seq }) => [DateTime.toEpochMillis(createdAt), seq],
            committedAt: ({ createdAt }) => DateTime.toEpochMillis(createdAt),
            toItem: toPost
          }, urlParams)))
      .handle("createComment", ({ path, payload }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          yield* checkText("text", payload.text, maxTextLength)
          yield* findVisible(path.id, caller.accountId)
          const comment = {
            postId: path.id,
            authorId: caller.accountId,
            text: Stored.text(latitude.value, payload.text),
            createdAt: yield* DateTime.now
          }
          const seq = yield* repo.insertComment(comment)
          return { id: String(seq), ...comment, createdAt: DateTime.formatIso(comment.createdAt) }
        }).pipe(withTransaction))
      .handle("likePost", ({ path }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          yield* findVisible(path.id, caller.accountId)
          yield* repo.insertLike({ postId: path.id, accountId: caller.accountId })
        }).pipe(withTransaction))
  }))
