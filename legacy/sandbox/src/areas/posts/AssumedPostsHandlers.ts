/**
 * Handlers of reading, editing and deleting a single post, which the document names but does not show. A post is visible to
 * every account that its author is available to; only the author may change it.
 *
 * @since 0.1.0
 */
import { Forbidden } from "@plaza-legacy/domain/Errors"
import * as Effect from "effect/Effect"
import { AssumedPostsGroup } from "../../AssumedApi.ts"
import * as Endpoints from "../../http/Endpoints.ts"
import * as Envelope from "../../http/Envelope.ts"
import { CurrentCaller } from "../../http/RequiresAdmission.ts"
import { servedInterface } from "../../http/ServedApi.ts"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.ts"
import * as Stored from "../../latitude/Stored.ts"
import { Sql } from "../../storage/Sql.ts"
import { toPost } from "./PostsHandlers.ts"
import { PostsPolicy } from "./PostsPolicy.ts"
import type { Post } from "./PostsRepo.ts"
import { PostsRepo } from "./PostsRepo.ts"

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedInterface, AssumedPostsGroup, (handlers) =>
  Effect.gen(function*() {
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

    return handlers
      .handle("getPost",
        ({ path }) => Effect.flatMap(CurrentCaller, (caller) => Effect.map(findVisible(path.id, caller.accountId), toPost)))
      .handle("editPost", ({ path, payload: { mediaIds, text } }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          if (text === undefined && mediaIds === undefined) {
            return yield* Envelope.invalidField("body", "must have text, mediaIds or both")
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
        }).pipe(withTransaction))
      .handle("deletePost",
        ({ path }) =>
          Effect.flatMap(CurrentCaller, (caller) => Effect.flatMap(findOwn(path.id, caller.accountId), repo.delete).pipe(withTransaction)))
  }))
