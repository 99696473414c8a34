/** The table `media`, and the id that the names of its files begin with. */
import { MediaId, ProfileId } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Db } from "../../storage/Db.ts"

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
export type Media = typeof Media.Type

const FolderId = Schema.Struct({ id: Schema.String })

const File = Schema.Struct({ file: Schema.String })

/** Stands for a file in the row of a seeded picture, which has no file. */
export const noFile = ""

export class MediaRepo extends Context.Service<MediaRepo>()("@plaza/sandbox/MediaRepo", {
  make: Effect.map(Db, (db) => ({
    /** Part of the name of every file: distinguishes the files of this data file. */
    folderId: () => db.one(FolderId)`SELECT id FROM media_folder`.id,
    /** Names of all files. */
    files: () => db.all(File)`SELECT file FROM media`.map(({ file }) => file),
    /** Names of the files of snapshots, which may be restored later. */
    snapshotFiles: () => db.all(File)`SELECT DISTINCT file FROM snapshot_files`.map(({ file }) => file),
    /** Whether an account has uploaded this media. */
    isOwn: (id: string, accountId: string) => db.exists`SELECT 1 FROM media WHERE id = ${id} AND account_id = ${accountId}`,
    all: () => db.all(Media)`SELECT id, account_id AS accountId, name, content_type AS contentType, size, sha256 FROM media ORDER BY seq`,
    /** The sequence number of the next upload. */
    nextSeq: () => db.seq`SELECT coalesce(max(seq), 0) + 1 AS seq FROM media`,
    insert: ({ accountId, contentType, file, id, name, seq, sha256, size }: Media & { readonly seq: number; readonly file: string }) =>
      db.run`INSERT INTO media (seq, id, account_id, name, content_type, size, sha256, file)
        VALUES (${seq}, ${id}, ${accountId}, ${name}, ${contentType}, ${size}, ${sha256}, ${file})`
  }))
}) {
  static readonly layer = Layer.effect(MediaRepo, MediaRepo.make)
}
