/** The tables `posts`, `comments` and `likes`. */
import { MediaId, PostId, ProfileId } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Db } from "../../storage/Db.ts"

const MediaIds = Schema.fromJsonString(Schema.Array(MediaId))
const encodeMediaIds = Schema.encodeSync(MediaIds)

export const Post = Schema.Struct({
  seq: Schema.Number,
  id: PostId,
  authorId: ProfileId,
  text: Schema.String,
  mediaIds: MediaIds,
  createdAt: Schema.DateTimeUtcFromMillis
})
export type Post = typeof Post.Type

export const Comment = Schema.Struct({
  seq: Schema.Number,
  postId: PostId,
  authorId: ProfileId,
  text: Schema.String,
  createdAt: Schema.DateTimeUtcFromMillis
})
export type Comment = typeof Comment.Type

export const Like = Schema.Struct({ postId: PostId, accountId: ProfileId })
export type Like = typeof Like.Type

/** Beyond the precision of a double, so that clients that parse ids as numbers fail. */
const firstPostId = 9_007_199_254_740_993n

/** The id of the post with a sequence number. */
export const idOf = (seq: number): string => String(firstPostId + BigInt(seq - 1))

export class PostsRepo extends Context.Service<PostsRepo>()("@plaza/sandbox/PostsRepo", {
  make: Effect.map(Db, (db) => ({
    find: (id: string) =>
      db.first(Post)`SELECT seq, id, account_id AS authorId, text, media_ids AS mediaIds, created_at AS createdAt
          FROM posts WHERE id = ${id}`,
    /** The posts of an author before a position (milliseconds since 1970, sequence number), newest first. */
    findOlder: (authorId: string, [createdAt, seq]: readonly [createdAt: number, seq: number], limit: number) =>
      db.all(Post)`SELECT seq, id, account_id AS authorId, text, media_ids AS mediaIds, created_at AS createdAt FROM posts
          WHERE account_id = ${authorId} AND (created_at, sort_seq) < (${createdAt}, ${seq})
          ORDER BY created_at DESC, sort_seq DESC LIMIT ${limit}`,
    all: () =>
      db.all(Post)`SELECT seq, id, account_id AS authorId, text, media_ids AS mediaIds, created_at AS createdAt
          FROM posts ORDER BY seq`,
    /** The sequence number of the next post. Deleted posts count, so no id is reused. */
    nextSeq: () => db.seq`SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'posts'), 0) + 1 AS seq`,
    insert: ({ authorId, createdAt, id, mediaIds, seq, text }: Post) =>
      db.run`INSERT INTO posts (seq, id, account_id, text, media_ids, created_at)
        VALUES (${seq}, ${id}, ${authorId}, ${text}, ${encodeMediaIds(mediaIds)}, ${DateTime.toEpochMillis(createdAt)})`,
    update: ({ mediaIds, seq, text }: Post) =>
      db.run`UPDATE posts SET text = ${text}, media_ids = ${encodeMediaIds(mediaIds)} WHERE seq = ${seq}`,
    /** Deletes a post with its comments and likes. */
    delete: ({ id, seq }: Post) => {
      db.run`DELETE FROM comments WHERE post_id = ${id}`
      db.run`DELETE FROM likes WHERE post_id = ${id}`
      db.run`DELETE FROM posts WHERE seq = ${seq}`
    },

    /** Adds a comment and returns its sequence number. */
    insertComment: ({ authorId, createdAt, postId, text }: Omit<Comment, "seq">) =>
      db.seq`INSERT INTO comments (post_id, account_id, text, created_at)
          VALUES (${postId}, ${authorId}, ${text}, ${DateTime.toEpochMillis(createdAt)}) RETURNING seq`,
    allComments: () =>
      db.all(Comment)`SELECT seq, post_id AS postId, account_id AS authorId, text, created_at AS createdAt FROM comments ORDER BY seq`,

    /** Adds a like; an account likes a post once. */
    insertLike: ({ accountId, postId }: Like) => db.run`INSERT OR IGNORE INTO likes (post_id, account_id) VALUES (${postId}, ${accountId})`,
    allLikes: () => db.all(Like)`SELECT post_id AS postId, account_id AS accountId FROM likes ORDER BY post_id, account_id`
  }))
}) {
  static readonly layer = Layer.effect(PostsRepo, PostsRepo.make)
}
