/**
 * The tables `posts`, `comments` and `likes`.
 *
 * @since 0.1.0
 */
import { MediaId, PostId, ProfileId } from "@plaza-legacy/domain/Ids"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { onFirstUse } from "../../OnFirstUse.ts"
import { type Client, Sql } from "../../storage/Sql.ts"
import * as SqlSchema from "../../storage/SqlSchema.ts"

const MediaIds = Schema.parseJson(Schema.Array(MediaId))
const encodeMediaIds = onFirstUse(() => Schema.encodeSync(MediaIds))

/** @since 0.1.0 @category rows */
export const Post = Schema.Struct({
  seq: Schema.Number,
  id: PostId,
  authorId: ProfileId,
  text: Schema.String,
  mediaIds: MediaIds,
  createdAt: Schema.DateTimeUtcFromNumber
})
/** @since 0.1.0 @category rows */
export type Post = typeof Post.Type

/** @since 0.1.0 @category rows */
export const Comment = Schema.Struct({
  seq: Schema.Number,
  postId: PostId,
  authorId: ProfileId,
  text: Schema.String,
  createdAt: Schema.DateTimeUtcFromNumber
})
/** @since 0.1.0 @category rows */
export type Comment = typeof Comment.Type

/** @since 0.1.0 @category rows */
export const Like = Schema.Struct({ postId: PostId, accountId: ProfileId })
/** @since 0.1.0 @category rows */
export type Like = typeof Like.Type

/** Above the largest integer that a double holds exactly, so that clients that parse an id as a number fail here. */
const firstPostId = 9_007_199_254_740_993n

/**
 * The id of the post with a sequence number.
 *
 * @since 0.1.0
 * @category conversions
 */
export const idOf = (seq: number): string => String(firstPostId + BigInt(seq - 1))

/** Numbers posts. Deleted ones count: no id is given twice. */
const makeNumbered = (sql: Client) => {
  const decodeSeq = onFirstUse(() => Schema.decodeUnknownSync(SqlSchema.Seq))
  const readNext = () => decodeSeq(sql.unsafeRun`SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'posts'), 0) + 1 AS seq`[0])
  const insert = ({ authorId, createdAt, id, mediaIds, seq, text }: Post) =>
    sql.unsafeRun`INSERT INTO posts (seq, id, account_id, text, media_ids, created_at)
      VALUES (${seq}, ${id}, ${authorId}, ${text}, ${encodeMediaIds(mediaIds)}, ${DateTime.toEpochMillis(createdAt)})`
  const writes = () => sql.writes("posts", "sqlite_sequence")
  // Remembered as long as nothing else writes to these tables.
  let next = 0
  let validAt: number | undefined
  return {
    /** The sequence number of the next post. */
    nextSeq: () => Effect.sync(readNext),
    /**
     * Adds a post with the next sequence number at the current time, in one step: no two requests get one number, and the
     * time is read in the order of the numbers.
     */
    create: (toPost: (seq: number, now: DateTime.Utc) => Post): Effect.Effect<Post> =>
      Effect.clockWith((clock) =>
        Effect.sync(() => {
          const post = toPost(writes() === validAt ? next : readNext(), DateTime.unsafeMake(clock.unsafeCurrentTimeMillis()))
          insert(post)
          next = post.seq + 1
          validAt = writes()
          return post
        })
      )
  }
}

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Sql, (sql) => ({
  find: SqlSchema.findOne({
    Result: Post,
    execute: (id: string) =>
      sql.first`SELECT seq, id, account_id AS authorId, text, media_ids AS mediaIds, created_at AS createdAt
        FROM posts WHERE id = ${id}`
  }),
  /** The posts of an author before a position (milliseconds since 1970, sequence number), newest first. */
  findOlder: SqlSchema.findAll({
    Result: Post,
    execute: (authorId: string, [createdAt, seq]: readonly [createdAt: number, seq: number], limit: number) =>
      sql`SELECT seq, id, account_id AS authorId, text, media_ids AS mediaIds, created_at AS createdAt FROM posts
        WHERE account_id = ${authorId} AND (created_at, sort_seq) < (${createdAt}, ${seq})
        ORDER BY created_at DESC, sort_seq DESC LIMIT ${limit}`
  }),
  all: SqlSchema.findAll({
    Result: Post,
    execute: () =>
      sql`SELECT seq, id, account_id AS authorId, text, media_ids AS mediaIds, created_at AS createdAt
        FROM posts ORDER BY seq`
  }),
  ...makeNumbered(sql),
  update: ({ mediaIds, seq, text }: Post) =>
    Effect.asVoid(sql`UPDATE posts SET text = ${text}, media_ids = ${encodeMediaIds(mediaIds)} WHERE seq = ${seq}`),
  /** Deletes a post with its comments and likes. */
  delete: ({ id, seq }: Post) =>
    Effect.all([
      sql`DELETE FROM comments WHERE post_id = ${id}`,
      sql`DELETE FROM likes WHERE post_id = ${id}`,
      sql`DELETE FROM posts WHERE seq = ${seq}`
    ], { discard: true }),

  /** Adds a comment and returns its sequence number. */
  insertComment: SqlSchema.single({
    Result: SqlSchema.Seq,
    execute: ({ authorId, createdAt, postId, text }: Omit<Comment, "seq">) =>
      sql.first`INSERT INTO comments (post_id, account_id, text, created_at)
        VALUES (${postId}, ${authorId}, ${text}, ${DateTime.toEpochMillis(createdAt)}) RETURNING seq`
  }),
  allComments: SqlSchema.findAll({
    Result: Comment,
    execute: () => sql`SELECT seq, post_id AS postId, account_id AS authorId, text, created_at AS createdAt FROM comments ORDER BY seq`
  }),

  /** Adds a like; an account likes a post once. */
  insertLike: ({ accountId, postId }: Like) =>
    Effect.asVoid(sql`INSERT OR IGNORE INTO likes (post_id, account_id) VALUES (${postId}, ${accountId})`),
  allLikes: SqlSchema.findAll({
    Result: Like,
    execute: () => sql`SELECT post_id AS postId, account_id AS accountId FROM likes ORDER BY post_id, account_id`
  })
}))

/** @since 0.1.0 @category services */
export class PostsRepo extends Context.Tag("@plaza-legacy/sandbox/PostsRepo")<PostsRepo, Effect.Effect.Success<typeof make>>() {}
