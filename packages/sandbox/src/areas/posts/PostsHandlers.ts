/**
 * Handlers of the posts area: creating and listing posts, commenting and liking, and the assumed operations of a single post. A post
 * is visible to every account that its author is available to; only the author may change it.
 *
 * Source: interface v1, "Endpoints".
 */
import { Forbidden } from "@plaza/domain/Errors"
import { PostId } from "@plaza/domain/Ids"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { CurrentAssumptions } from "../../Assumptions.ts"
import { CurrentCaller, InterfaceApi } from "../../InterfaceApi.ts"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.ts"
import * as Stored from "../../latitude/Stored.ts"
import { Db } from "../../storage/Db.ts"
import { checkText, invalidField } from "../../Validation.ts"
import { newest, Pagination } from "../Pagination.ts"
import { PostsPolicy } from "./PostsPolicy.ts"
import type { Post } from "./PostsRepo.ts"
import { idOf, PostsRepo } from "./PostsRepo.ts"

/** A post as a response shows it. */
export const toPost = ({ authorId, createdAt, id, mediaIds, text }: Post) => ({ id, authorId, text, mediaIds, createdAt })

export const layer = HttpApiBuilder.group(InterfaceApi, "posts", (handlers) =>
  Effect.gen(function*() {
    const { transaction } = yield* Db
    const repo = yield* PostsRepo
    const { checkFields, findVisible } = yield* PostsPolicy
    const { readPage } = yield* Pagination
    const latitude = yield* CurrentLatitude
    const { maxTextLength } = yield* CurrentAssumptions

    /** A post of the caller. */
    const findOwn = (id: string, callerId: string) =>
      Effect.filterOrFail(
        findVisible(id, callerId),
        (post) => post.authorId === callerId,
        () => new Forbidden({ message: "this is a post of another account" })
      )

    return handlers.handleAll({
      createPost: Effect.fnUntraced(function*({ payload: { mediaIds = [], text: written } }) {
        const { accountId } = yield* CurrentCaller
        const text = written ?? ""
        if (written === undefined && mediaIds.length === 0) {
          return yield* invalidField("text", "is missing: a post without mediaIds requires it")
        }
        yield* checkFields({ mediaIds, text: text === "" && mediaIds.length > 0 ? undefined : text }, accountId)
        const createdAt = yield* DateTime.now
        const seq = repo.nextSeq()
        const post = {
          seq,
          id: PostId.make(Stored.id(latitude.value, "post", seq, idOf(seq))),
          authorId: accountId,
          text: Stored.text(latitude.value, text),
          mediaIds: Stored.mediaIds(latitude.value, mediaIds),
          createdAt
        }
        repo.insert(post)
        return toPost(post)
      }, transaction),
      listPosts: ({ query }) =>
        Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
            name: "posts",
            accountId,
            findOlder: ([createdAt = newest, seq = newest], limit) => repo.findOlder(accountId, [createdAt, seq], limit),
            positionOf: ({ createdAt, seq }) => [DateTime.toEpochMillis(createdAt), seq],
            committedAt: ({ createdAt }) => DateTime.toEpochMillis(createdAt),
            toItem: toPost
          }, query)),
      createComment: Effect.fnUntraced(function*({ params: { id: postId }, payload }) {
        const { accountId } = yield* CurrentCaller
        yield* checkText("text", payload.text, maxTextLength)
        yield* findVisible(postId, accountId)
        const comment = { postId, authorId: accountId, text: Stored.text(latitude.value, payload.text), createdAt: yield* DateTime.now }
        return { id: String(repo.insertComment(comment)), ...comment }
      }, transaction),
      likePost: Effect.fnUntraced(function*({ params: { id: postId } }) {
        const { accountId } = yield* CurrentCaller
        yield* findVisible(postId, accountId)
        repo.insertLike({ postId, accountId })
      }, transaction),

      getPost: ({ params }) => Effect.flatMap(CurrentCaller, ({ accountId }) => Effect.map(findVisible(params.id, accountId), toPost)),
      editPost: Effect.fnUntraced(function*({ params, payload: { mediaIds, text } }) {
        const { accountId } = yield* CurrentCaller
        if (text === undefined && mediaIds === undefined) {
          return yield* invalidField("body", "must have text, mediaIds or both")
        }
        yield* checkFields({ text: text === "" ? undefined : text, mediaIds }, accountId)
        const post = yield* findOwn(params.id, accountId)
        if ((text ?? post.text) === "" && (mediaIds ?? post.mediaIds).length === 0) {
          return yield* text === ""
            ? invalidField("text", "must not be empty: a post without mediaIds requires it")
            : invalidField("mediaIds", "must not be empty: a post without text requires them")
        }
        const edited: Post = {
          ...post,
          text: text === undefined ? post.text : Stored.text(latitude.value, text),
          mediaIds: mediaIds === undefined ? post.mediaIds : Stored.mediaIds(latitude.value, mediaIds)
        }
        repo.update(edited)
        return toPost(edited)
      }, transaction),
      deletePost: Effect.fnUntraced(function*({ params }) {
        const { accountId } = yield* CurrentCaller
        repo.delete(yield* findOwn(params.id, accountId))
      }, transaction)
    })
  }))
