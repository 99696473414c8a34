/**
 * The area of posts: creating and listing them, comments and likes. Knows nothing of keys or limits.
 *
 * Source: interface v1, "Endpoints" and "List behaviour". Newest first, which lists that grow keep stable by their
 * cursors, is assumed.
 *
 * @since 0.1.0
 */
import * as SqlClient from "@effect/sql/SqlClient"
import { MediaId, PostId, ProfileId } from "@plaza/domain/Ids"
import type { PostsGroup } from "@plaza/domain/PlazaApi"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Accounts } from "./Accounts.js"
import { Assumed } from "./Assumptions.js"
import { Cursors } from "./Cursors.js"
import * as Database from "./Database.js"
import * as Envelope from "./Envelope.js"
import { checkText } from "./Fields.js"
import type { Handlers } from "./Gate.js"

/** @since 0.1.0 @category rows */
export interface PostRow {
  readonly seq: number
  readonly id: string
  readonly account_id: string
  readonly text: string
  readonly media_ids: string
  readonly created_at: number
}

const MediaIdsColumn = Schema.parseJson(Schema.Array(MediaId))
const readMediaIds = Schema.decodeSync(MediaIdsColumn)

/** Beyond what a double holds exactly, so that whoever reads an id as a number finds out here. */
const firstPostId = 9_007_199_254_740_993n

/**
 * The id of the post with a sequence number.
 *
 * @since 0.1.0
 * @category rows
 */
export const idOf = (seq: number): string => String(firstPostId + BigInt(seq - 1))

/** @since 0.1.0 @category rows */
export const fromRow = (row: PostRow) => ({
  id: PostId.make(row.id),
  authorId: ProfileId.make(row.account_id),
  text: row.text,
  mediaIds: readMediaIds(row.media_ids),
  createdAt: DateTime.unsafeMake(row.created_at)
})

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<
  Handlers<typeof PostsGroup>,
  never,
  SqlClient.SqlClient | Accounts | Assumed | Cursors
> = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const accounts = yield* Accounts
  const cursors = yield* Cursors
  const { defaultPageSize, maxTextLength } = yield* Assumed

  /** A post that the caller may act on. */
  const reachable = (id: string, callerId: string) =>
    Effect.gen(function*() {
      const [post] = yield* Database.orDefect(sql<PostRow>`SELECT * FROM posts WHERE id = ${id}`)
      if (post === undefined) {
        return yield* Envelope.notFound("post", id)
      }
      const author = yield* accounts.find(post.account_id)
      yield* accounts.reach(callerId, Option.getOrThrow(author))
      return post
    })

  return {
    createPost: ({ payload }, { caller }) =>
      Effect.gen(function*() {
        yield* checkText("text", payload.text, maxTextLength)
        const mediaIds = payload.mediaIds ?? []
        for (const [index, id] of mediaIds.entries()) {
          const held = yield* sql`SELECT 1 FROM media WHERE id = ${id} AND account_id = ${caller.accountId}`
          if (held.length === 0) {
            return yield* Envelope.invalidField(`mediaIds.${index}`, "names no media that this account uploaded")
          }
        }
        const now = yield* Clock.currentTimeMillis
        const [{ seq } = { seq: 1 }] = yield* sql<{ readonly seq: number }>`SELECT coalesce(max(seq), 0) + 1 AS seq FROM posts`
        const row: PostRow = {
          seq,
          id: idOf(seq),
          account_id: caller.accountId,
          text: payload.text,
          media_ids: JSON.stringify(mediaIds),
          created_at: now
        }
        yield* sql`INSERT INTO posts ${sql.insert({ ...row })}`
        return fromRow(row)
      }).pipe(sql.withTransaction, Database.orDefect),

    listPosts: ({ urlParams: { cursor, limit = defaultPageSize } }, { caller }) =>
      Effect.gen(function*() {
        const [createdAt, seq] = cursor === undefined ? [] : yield* cursors.open("posts", caller.accountId, cursor)
        const after = createdAt === undefined || seq === undefined
          ? sql`1 = 1`
          : sql`(created_at, seq) < (${createdAt}, ${seq})`
        // One more than asked for tells whether there is a next page.
        const rows = yield* sql<PostRow>`SELECT * FROM posts WHERE account_id = ${caller.accountId} AND ${after}
          ORDER BY created_at DESC, seq DESC LIMIT ${limit + 1}`
        const page = rows.slice(0, limit)
        const last = page.at(-1)
        return {
          data: page.map(fromRow),
          nextCursor: rows.length > limit && last !== undefined
            ? cursors.seal("posts", caller.accountId, [last.created_at, last.seq])
            : null
        }
      }).pipe(Database.orDefect),

    createComment: ({ path, payload }, { caller }) =>
      Effect.gen(function*() {
        yield* checkText("text", payload.text, maxTextLength)
        yield* reachable(path.id, caller.accountId)
        const now = yield* Clock.currentTimeMillis
        const [created] = yield* sql<{ readonly seq: number }>`INSERT INTO comments ${
          sql.insert({ post_id: path.id, account_id: caller.accountId, text: payload.text, created_at: now })
        } RETURNING seq`
        return {
          id: String(created?.seq),
          postId: path.id,
          authorId: caller.accountId,
          text: payload.text,
          createdAt: DateTime.formatIso(DateTime.unsafeMake(now))
        }
      }).pipe(sql.withTransaction, Database.orDefect),

    likePost: ({ path }, { caller }) =>
      Effect.gen(function*() {
        yield* reachable(path.id, caller.accountId)
        yield* sql`INSERT OR IGNORE INTO likes ${sql.insert({ post_id: path.id, account_id: caller.accountId })}`
      }).pipe(sql.withTransaction, Database.orDefect)
  }
})
