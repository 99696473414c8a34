/**
 * The folder that holds what was uploaded, one file each, beside the database that tells what they are. A file is there
 * before the row that names it, so that a kill at any moment leaves at most a file that no row names; those are swept
 * away at the next start. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Database from "./Database.js"
import { SandboxError } from "./SandboxError.js"

/** @since 0.1.0 @category models */
export interface Written<A> {
  /** The name of the new file, which no other file ever had. */
  readonly file: string
  /** What was made of it while it was written. */
  readonly result: A
}

/** @since 0.1.0 @category services */
export class MediaFiles extends Context.Tag("@plaza/sandbox/MediaFiles")<MediaFiles, {
  /** Writes a new file piece by piece. When that fails or is interrupted, no file is left. */
  readonly write: <A, E>(
    fill: (append: (bytes: Uint8Array) => Effect.Effect<void>) => Effect.Effect<A, E>
  ) => Effect.Effect<Written<A>, E>
  readonly remove: (files: ReadonlyArray<string>) => Effect.Effect<void>
}>() {}

/** Where the files of a database are kept. What is in memory has them in a folder that ends with it. */
const folderOf = (fs: FileSystem.FileSystem, data: string) =>
  data === ":memory:"
    ? Effect.mapError(fs.makeTempDirectoryScoped({ prefix: "plaza-sandbox-" }), (cause) =>
      new SandboxError({ message: "the folder for temporary files can't be written: uploads need room there", cause }))
    : Effect.as(
      Effect.mapError(fs.makeDirectory(`${data}-media`, { recursive: true }), (cause) =>
        new SandboxError({
          message: `the folder ${data}-media can't be used: uploads are kept there, beside the data file`,
          cause
        })),
      `${data}-media`
    )

/**
 * A failure of the disk under a running sandbox is nobody's to handle, like one of the database.
 */
const orDefect: <A, R>(effect: Effect.Effect<A, PlatformError, R>) => Effect.Effect<A, never, R> = Effect.orDie

/** Its own files have nothing but digits in their names; any other is somebody else's and stays. */
const isOwn = (name: string) => /^\d+$/.test(name)

/**
 * The files of a database. Nobody else uses them: the database is held by a lock.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (data: string): Layer.Layer<MediaFiles, SandboxError, SqlClient.SqlClient> =>
  Layer.scoped(
    MediaFiles,
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const sql = yield* SqlClient.SqlClient
      const folder = yield* folderOf(fs, data)
      const remove = (files: ReadonlyArray<string>) =>
        orDefect(Effect.forEach(files, (file) => fs.remove(`${folder}/${file}`, { force: true }), { discard: true }))

      const found = (yield* orDefect(fs.readDirectory(folder))).filter(isOwn)
      const rows = yield* Database.orDefect(sql<{ readonly file: string }>`SELECT file FROM media`)
      const named = new Set(rows.map(({ file }) => file))
      yield* remove(found.filter((file) => !named.has(file)))
      // Numbers go on where they ended, so a name is never given twice.
      let last = [...found, ...named].reduce((most, file) => Math.max(most, Number(file)), 0)

      return {
        remove,
        write: (fill) =>
          Effect.suspend(() => {
            last += 1
            const file = String(last).padStart(6, "0")
            return orDefect(fs.open(`${folder}/${file}`, { flag: "wx" })).pipe(
              Effect.flatMap((opened) => fill((bytes) => orDefect(opened.writeAll(bytes)))),
              Effect.scoped,
              Effect.map((result) => ({ file, result })),
              Effect.onError(() => remove([file]))
            )
          })
      }
    })
  ).pipe(Layer.provide(NodeFileSystem.layer))
