/**
 * Reading, editing and deleting a single post, which the document names without showing. Whoever may not reach the
 * author may not see the post; only the author may change it. Knows nothing of keys or limits.
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import { Forbidden } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import * as Envelope from "../../http/Envelope.js"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Stored from "../../latitude/Stored.js"
import * as Posts from "./PostsHandlers.js"
import { Sql } from "../../storage/Sql.js"
import { CurrentCaller, toItsEnd } from "../../http/RequiresAdmission.js"
import { ServedAssumedApi } from "../../http/ServedApi.js"

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedAssumedApi, "posts", (handlers) =>
  Effect.gen(function*() {
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

    return handlers
      .handle("getPost", ({ path }) =>   Effect.flatMap(CurrentCaller, (caller) =>
          Effect.map(reach(path.id, caller.accountId), Posts.fromRow)), toItsEnd)
      .handle("editPost", ({ path, payload }) =>
          Effect.gen(function*() {
          const caller = yield* CurrentCaller
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
        }).pipe(sql.withTransaction), toItsEnd)
      .handle("deletePost", ({ path }) =>
          Effect.gen(function*() {
          const caller = yield* CurrentCaller
          const { seq } = yield* own(path.id, caller.accountId)
          yield* sql`DELETE FROM comments WHERE post_id = ${path.id}`
          yield* sql`DELETE FROM likes WHERE post_id = ${path.id}`
          yield* sql`DELETE FROM posts WHERE seq = ${seq}`
        }).pipe(sql.withTransaction), toItsEnd)
  }))
