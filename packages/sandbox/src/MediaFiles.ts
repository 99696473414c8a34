/**
 * The folder that holds what was uploaded, one file each, beside the database that tells what they are. A file is there
 * before the row that names it, so that a kill at any moment leaves at most a file that no row names; those are swept
 * away at the next start. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SandboxError } from "./SandboxError.js"
import { Sql } from "./Sql.js"

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
const folderOf = (data: string) =>
  data === ":memory:"
    ? Effect.acquireRelease(
      Effect.try({
        try: () => Fs.mkdtempSync(join(tmpdir(), "plaza-sandbox-")),
        catch: (cause) =>
          new SandboxError({ message: "the folder for temporary files can't be written: uploads need room there", cause })
      }),
      (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true, force: true }))
    )
    : Effect.try({
      try: () => {
        Fs.mkdirSync(`${data}-media`, { recursive: true })
        return `${data}-media`
      },
      catch: (cause) =>
        new SandboxError({
          message: `the folder ${data}-media can't be used: uploads are kept there, beside the data file`,
          cause
        })
    })

/** Its own files have nothing but digits in their names; any other is somebody else's and stays. */
const isOwn = (name: string) => /^\d+$/.test(name)

/**
 * The files of a database. Nobody else uses them: the database is held by a lock. A failure of the disk is nobody's to
 * handle, like one of the database.
 *
 * They are written as SQLite writes its own, without leaving the calling fiber: in process an upload must take no longer
 * than the caller's clock says, and a fiber that waits for the disk would be overtaken by a clock that waits for nothing.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (data: string): Layer.Layer<MediaFiles, SandboxError, Sql> =>
  Layer.scoped(
    MediaFiles,
    Effect.gen(function*() {
      const sql = yield* Sql
      const folder = yield* folderOf(data)
      const pathOf = (file: string) => join(folder, file)
      const remove = (files: ReadonlyArray<string>) =>
        Effect.sync(() => {
          for (const file of files) {
            Fs.rmSync(pathOf(file), { force: true })
          }
        })

      const found = Fs.readdirSync(folder).filter(isOwn)
      const rows = yield* sql<{ readonly file: string }>`SELECT file FROM media`
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
            return Effect.acquireUseRelease(
              Effect.sync(() => Fs.openSync(pathOf(file), "wx")),
              (opened) => fill((bytes) => Effect.sync(() => Fs.writeFileSync(opened, bytes))),
              (opened) => Effect.sync(() => Fs.closeSync(opened))
            ).pipe(
              Effect.map((result) => ({ file, result })),
              Effect.onError(() => remove([file]))
            )
          })
      }
    })
  )
