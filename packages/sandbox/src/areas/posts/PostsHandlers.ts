/**
 * The area of posts: creating and listing them, comments and likes. Knows nothing of keys or limits.
 *
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type { NotFound, UserUnavailable, ValidationError } from "@plaza/domain/Errors"
import { MediaId, PostId, ProfileId } from "@plaza/domain/Ids"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Accounts } from "../../access/Accounts.js"
import { Assumed } from "../../Assumptions.js"
import * as Envelope from "../../http/Envelope.js"
import { checkText } from "../Validation.js"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Stored from "../../latitude/Stored.js"
import * as Lists from "../../storage/Lists.js"
import { type Client, Sql } from "../../storage/Sql.js"
import { CurrentCaller, toItsEnd } from "../../http/RequiresAdmission.js"
import { ServedApi } from "../../http/ServedApi.js"

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
const decodeMediaIds = Schema.decodeSync(MediaIdsColumn)
// Most posts have none.
const readMediaIds = (column: string): ReadonlyArray<MediaId> => column === "[]" ? [] : decodeMediaIds(column)

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
  // Whatever is text is an id; to have that checked for every row takes longer than to read it.
  id: PostId.make(row.id, true),
  authorId: ProfileId.make(row.account_id, true),
  text: row.text,
  mediaIds: readMediaIds(row.media_ids),
  createdAt: DateTime.unsafeMake(row.created_at)
})

/**
 * The sequence number of the next post: not one above the greatest that is left, since a deleted post's id must not
 * become another's.
 *
 * @since 0.1.0
 * @category rows
 */
export const nextSeq = (sql: Client): Effect.Effect<number> =>
  Effect.map(
    sql.first<{ readonly seq: number }>`SELECT seq + 1 AS seq FROM sqlite_sequence WHERE name = 'posts'`,
    (row) => row?.seq ?? 1
  )

/** @since 0.1.0 @category models */
export interface PostFields {
  readonly text?: string | undefined
  readonly mediaIds?: ReadonlyArray<string> | undefined
}

/**
 * Refuses fields that a post of an account can't have.
 *
 * @since 0.1.0
 * @category checks
 */
export const makeCheckFields: Effect.Effect<
  (fields: PostFields, accountId: string) => Effect.Effect<void, ValidationError>,
  never,
  Sql | Assumed
> = Effect.gen(function*() {
  const sql = yield* Sql
  const { maxTextLength } = yield* Assumed
  return ({ mediaIds = [], text }, accountId) =>
    Effect.gen(function*() {
      if (text !== undefined) {
        yield* checkText("text", text, maxTextLength)
      }
      for (const [index, id] of mediaIds.entries()) {
        if ((yield* sql.first`SELECT 1 FROM media WHERE id = ${id} AND account_id = ${accountId}`) === undefined) {
          return yield* Envelope.invalidField(`mediaIds.${index}`, "names no media that this account uploaded")
        }
      }
    })
})

/**
 * Finds a post whose author the caller can reach.
 *
 * @since 0.1.0
 * @category checks
 */
export const makeReach: Effect.Effect<
  (id: string, callerId: string) => Effect.Effect<PostRow, NotFound | UserUnavailable>,
  never,
  Sql | Accounts
> = Effect.gen(function*() {
  const sql = yield* Sql
  const accounts = yield* Accounts
  return (id, callerId) =>
    Effect.gen(function*() {
      const post = yield* sql.first<PostRow>`SELECT * FROM posts WHERE id = ${id}`
      if (post === undefined) {
        return yield* Envelope.notFound("post", id)
      }
      const author = yield* accounts.find(post.account_id)
      yield* accounts.reach(callerId, Option.getOrThrow(author))
      return post
    })
})

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedApi, "posts", (handlers) =>
  Effect.gen(function*() {
    const sql = yield* Sql
    const latitude = yield* CurrentLatitude
    const { maxTextLength } = yield* Assumed
    const checkFields = yield* makeCheckFields
    const reach = yield* makeReach
    const readPage = yield* Lists.makeReadPage

    return handlers
      .handle("createPost", ({ payload }) =>
          Effect.gen(function*() {
          const caller = yield* CurrentCaller
          const { text = "", mediaIds = [] } = payload
          yield* checkFields({ mediaIds, text: text === "" && mediaIds.length > 0 ? undefined : text }, caller.accountId)
          const now = yield* Clock.currentTimeMillis
          const seq = yield* nextSeq(sql)
          const row: PostRow = {
            seq,
            id: Stored.id(latitude.value, "post", seq, idOf(seq)),
            account_id: caller.accountId,
            text: Stored.text(latitude.value, text),
            media_ids: JSON.stringify(Stored.mediaIds(latitude.value, mediaIds)),
            created_at: now
          }
          yield* sql`INSERT INTO posts (seq, id, account_id, text, media_ids, created_at)
            VALUES (${seq}, ${row.id}, ${row.account_id}, ${row.text}, ${row.media_ids}, ${now})`
          return fromRow(row)
        }).pipe(sql.withTransaction), toItsEnd)
      .handle("listPosts", ({ urlParams }) =>   Effect.flatMap(CurrentCaller, ({ accountId }) =>
          readPage({
          name: "posts",
          accountId,
          older: ([createdAt = Lists.newest, seq = Lists.newest], most) =>
            sql.list<PostRow>`SELECT * FROM posts WHERE account_id = ${accountId} AND (created_at, turn) < (${createdAt}, ${seq})
              ORDER BY created_at DESC, turn DESC LIMIT ${most}`,
          placeOf: ({ created_at, seq }) => [created_at, seq],
          committedAt: ({ created_at }) => created_at,
          item: fromRow
        }, urlParams)), toItsEnd)
      .handle("createComment", ({ path, payload }) =>
          Effect.gen(function*() {
          const caller = yield* CurrentCaller
          yield* checkText("text", payload.text, maxTextLength)
          yield* reach(path.id, caller.accountId)
          const now = yield* Clock.currentTimeMillis
          const text = Stored.text(latitude.value, payload.text)
          const created = yield* sql.first<{ readonly seq: number }>`INSERT INTO comments ${
            sql.insert({ post_id: path.id, account_id: caller.accountId, text, created_at: now })
          } RETURNING seq`
          return {
            id: String(created?.seq),
            postId: path.id,
            authorId: caller.accountId,
            text,
            createdAt: DateTime.formatIso(DateTime.unsafeMake(now))
          }
        }).pipe(sql.withTransaction), toItsEnd)
      .handle("likePost", ({ path }) =>
          Effect.gen(function*() {
          const caller = yield* CurrentCaller
          yield* reach(path.id, caller.accountId)
          yield* sql`INSERT OR IGNORE INTO likes ${sql.insert({ post_id: path.id, account_id: caller.accountId })}`
        }).pipe(sql.withTransaction), toItsEnd)
  }))
