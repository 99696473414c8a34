/**
 * Reading, editing and deleting a single post, which the document names without showing. Whoever may not reach the
 * author may not see the post; only the author may change it. Knows nothing of keys or limits.
 *
 * @since 0.1.0
 */
import { Forbidden } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import type { Accounts } from "../../access/Accounts.js"
import type { AssumedPostsGroup } from "../../AssumedApi.js"
import type { Assumed } from "../../Assumptions.js"
import * as Envelope from "../../http/Envelope.js"
import type { Handlers } from "../../http/Admission.js"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Stored from "../../latitude/Stored.js"
import * as Posts from "./PostsHandlers.js"
import { Sql } from "../../storage/Sql.js"

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<
  Handlers<typeof AssumedPostsGroup>,
  never,
  Sql | Accounts | Assumed | CurrentLatitude
> = Effect.gen(function*() {
  const sql = yield* Sql
  const latitude = yield* CurrentLatitude
  const checkFields = yield* Posts.makeCheckFields
  const reach = yield* Posts.makeReach

  /** A post of the caller's own. */
  const own = (id: string, callerId: string) =>
    Effect.filterOrFail(
      reach(id, callerId),
      (post) => post.account_id === callerId,
      () => new Forbidden({ message: "this is a post of another account" })
    )

  return {
    getPost: ({ path }, { caller }) => Effect.map(reach(path.id, caller.accountId), Posts.fromRow),

    editPost: ({ path, payload }, { caller }) =>
      Effect.gen(function*() {
        if (payload.text === undefined && payload.mediaIds === undefined) {
          return yield* Envelope.invalidField("body", "has to name what is to change: text, mediaIds or both")
        }
        yield* checkFields(payload, caller.accountId)
        const post = yield* own(path.id, caller.accountId)
        const edited: Posts.PostRow = {
          ...post,
          text: payload.text === undefined ? post.text : Stored.text(latitude.value, payload.text),
          media_ids: payload.mediaIds === undefined
            ? post.media_ids
            : JSON.stringify(Stored.mediaIds(latitude.value, payload.mediaIds))
        }
        yield* sql`UPDATE posts SET text = ${edited.text}, media_ids = ${edited.media_ids} WHERE seq = ${post.seq}`
        return Posts.fromRow(edited)
      }).pipe(sql.withTransaction),

    deletePost: ({ path }, { caller }) =>
      Effect.gen(function*() {
        const { seq } = yield* own(path.id, caller.accountId)
        yield* sql`DELETE FROM comments WHERE post_id = ${path.id}`
        yield* sql`DELETE FROM likes WHERE post_id = ${path.id}`
        yield* sql`DELETE FROM posts WHERE seq = ${seq}`
      }).pipe(sql.withTransaction)
  }
})
