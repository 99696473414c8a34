/** A file as a source. It is read whole or not at all, and opened again when it changes. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Format from "@plaza-legacy/tabular/Format"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Wording } from "../config/Wording.ts"
import * as Rows from "./Rows.ts"
import type { Source } from "./Source.ts"
import * as Watch from "./Watch.ts"
import * as WholeFile from "./WholeFile.ts"

export interface FileOptions extends Rows.RowOptions, WholeFile.FinishedOptions {
  readonly path: string
  /** How often the file is checked without a notification. Network drives send none. */
  readonly poll: Duration.Duration
}

export const make = (options: FileOptions): Effect.Effect<Source["Type"], never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const { place } = yield* Wording
    const { doneMarker, path } = options
    const format = options.format ?? Format.ofName(path)
    const file = yield* WholeFile.make({
      ...options,
      lines: format !== "json",
      advice: `Name another source with ${place("source")}`
    })
    // Watches the folder: a watch of the file ends when another file replaces it.
    const folders = new Set([path, ...(doneMarker === undefined ? [] : [doneMarker])].map((each) => paths.dirname(paths.resolve(each))))

    return {
      name: path,
      open: (accepted) =>
        Effect.map(file.open(accepted), Option.map(({ bytes, version }) => ({
          version: Option.some(version),
          unit: Rows.unitOf(format),
          excluded: new Set<string>(),
          rows: Stream.concat(Rows.rows(format, { ...options, source: path })(bytes), file.unchanged(version))
        }))),
      changes: Watch.changes({
        version: file.version,
        signals: Stream.mergeAll([...folders].map((folder) => Stream.suspend(() => files.watch(folder))), { concurrency: "unbounded" }),
        poll: options.poll
      })
    }
  })
