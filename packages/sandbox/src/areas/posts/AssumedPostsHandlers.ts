/**
 * Handlers of reading, editing and deleting a single post, which the document names without showing. A post is visible to
 * everyone its author is available to; only the author may change it.
 *
 * @since 0.1.0
 */
import { Forbidden } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import type { AssumedPostsGroup } from "../../AssumedApi.js"
import type { Handlers } from "../../http/Admission.js"
import * as Envelope from "../../http/Envelope.js"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Stored from "../../latitude/Stored.js"
import { Sql } from "../../storage/Sql.js"
import { toPost } from "./PostsHandlers.js"
import { PostsPolicy } from "./PostsPolicy.js"
import type { Post } from "./PostsRepo.js"
import { PostsRepo } from "./PostsRepo.js"

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<
  Handlers<typeof AssumedPostsGroup>,
  never,
  Sql | PostsRepo | PostsPolicy | CurrentLatitude
> = Effect.gen(function*() {
  const { withTransaction } = yield* Sql
  const repo = yield* PostsRepo
  const { checkFields, findVisible } = yield* PostsPolicy
  const latitude = yield* CurrentLatitude

  /** A post of the caller. */
  const findOwn = (id: string, callerId: string) =>
    Effect.filterOrFail(
      findVisible(id, callerId),
      (post) => post.authorId === callerId,
      () => new Forbidden({ message: "this is a post of another account" })
    )

  return {
    getPost: ({ path }, { caller }) => Effect.map(findVisible(path.id, caller.accountId), toPost),

    editPost: ({ path, payload: { mediaIds, text } }, { caller }) =>
      Effect.gen(function*() {
        if (text === undefined && mediaIds === undefined) {
          return yield* Envelope.invalidField("body", "has to name what is to change: text, mediaIds or both")
        }
        yield* checkFields({ text, mediaIds }, caller.accountId)
        const post = yield* findOwn(path.id, caller.accountId)
        const edited: Post = {
          ...post,
          text: text === undefined ? post.text : Stored.text(latitude.value, text),
          mediaIds: mediaIds === undefined ? post.mediaIds : Stored.mediaIds(latitude.value, mediaIds)
        }
        yield* repo.update(edited)
        return toPost(edited)
      }).pipe(withTransaction),

    deletePost: ({ path }, { caller }) =>
      Effect.flatMap(findOwn(path.id, caller.accountId), repo.delete).pipe(withTransaction)
  }
})
