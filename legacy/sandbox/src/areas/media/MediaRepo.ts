/**
 * The table `media`, and the id that the names of its files begin with.
 *
 * @since 0.1.0
 */
import { MediaId, ProfileId } from "@plaza-legacy/domain/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Sql } from "../../storage/Sql.ts"
import * as SqlSchema from "../../storage/SqlSchema.ts"

/** @since 0.1.0 @category rows */
export const Media = Schema.Struct({
  id: MediaId,
  accountId: ProfileId,
  name: Schema.String,
  contentType: Schema.String,
  /** In bytes. */
  size: Schema.Number,
  /** Of the bytes, in hexadecimal. */
  sha256: Schema.String
})
/** @since 0.1.0 @category rows */
export type Media = typeof Media.Type

const FolderId = Schema.Struct({ id: Schema.String }).pipe(Schema.pluck("id"))

const File = Schema.Struct({ file: Schema.String }).pipe(Schema.pluck("file"))

/**
 * Stands for a file in the row of a seeded picture, which has no file.
 *
 * @since 0.1.0
 * @category constants
 */
export const noFile = ""

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Sql, (sql) => ({
  /** Part of the name of every file: distinguishes the files of this data file. */
  folderId: SqlSchema.single({
    Result: FolderId,
    execute: () => sql.first`SELECT id FROM media_folder`
  }),
  /** Names of all files. */
  files: SqlSchema.findAll({
    Result: File,
    execute: () => sql`SELECT file FROM media`
  }),
  /** Names of the files of snapshots, which may be restored later. */
  snapshotFiles: SqlSchema.findAll({
    Result: File,
    execute: () => sql`SELECT DISTINCT file FROM snapshot_files`
  }),
  /** Whether an account has uploaded this media. */
  isOwn: (id: string, accountId: string) =>
    Effect.map(
      sql.first`SELECT 1 FROM media WHERE id = ${id} AND account_id = ${accountId}`,
      (row) => row !== undefined
    ),
  all: SqlSchema.findAll({
    Result: Media,
    execute: () => sql`SELECT id, account_id AS accountId, name, content_type AS contentType, size, sha256 FROM media ORDER BY seq`
  }),
  /** The sequence number of the next upload. */
  nextSeq: SqlSchema.single({
    Result: SqlSchema.Seq,
    execute: () => sql.first`SELECT coalesce(max(seq), 0) + 1 AS seq FROM media`
  }),
  insert: ({ accountId, contentType, file, id, name, seq, sha256, size }: Media & { readonly seq: number; readonly file: string }) =>
    Effect.asVoid(sql`INSERT INTO media (seq, id, account_id, name, content_type, size, sha256, file)
      VALUES (${seq}, ${id}, ${accountId}, ${name}, ${contentType}, ${size}, ${sha256}, ${file})`)
}))

/** @since 0.1.0 @category services */
export class MediaRepo extends Context.Tag("@plaza-legacy/sandbox/MediaRepo")<MediaRepo, Effect.Effect.Success<typeof make>>() {}
