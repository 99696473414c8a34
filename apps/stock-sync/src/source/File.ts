/** A file as a source. It is read whole or not at all, and opened again when it changes. */
import * as Format from "@plaza/tabular/Format"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { Wording } from "../Wording.ts"
import * as Rows from "./Rows.ts"
import { polled, type Source } from "./Source.ts"
import * as WholeFile from "./WholeFile.ts"

export interface FileOptions extends Rows.RowOptions, WholeFile.FinishedOptions {
  readonly path: string
  /** How often the file is checked without a notification. Network drives send none. */
  readonly poll: Duration.Duration
}

export const make = Effect.fnUntraced(function*(options: FileOptions) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const { place } = yield* Wording
  const { doneMarker, path } = options
  const format = options.format ?? Format.ofName(path)
  const file = yield* WholeFile.make({ ...options, lines: format !== "json", advice: `Name another source with ${place("source")}` })
  // Watches the folder: a watch of the file ends when another file replaces it.
  const folders = new Set([path, ...(doneMarker === undefined ? [] : [doneMarker])].map((each) => paths.dirname(paths.resolve(each))))

  const source: Source["Service"] = {
    name: path,
    open: (accepted) =>
      Effect.map(file.open(accepted), Option.map(({ bytes, version }) => ({
        version: Option.some(version),
        unit: Rows.unitOf(format),
        excluded: new Set<string>(),
        // A change is also the reason why rows of it are invalid.
        rows: Rows.rows(format, { ...options, source: path })(bytes).pipe(
          Stream.catch((failure) => Stream.concat(file.unchanged(version), Stream.fail(failure))),
          Stream.concat(file.unchanged(version))
        )
      }))),
    changes: changes({
      version: file.version,
      signals: Stream.mergeAll([...folders].map((folder) => Stream.suspend(() => fs.watch(folder))), { concurrency: "unbounded" }),
      poll: options.poll
    })
  }
  return source
})

export interface WatchOptions<E> {
  /** The version of the file; none if there is no file. */
  readonly version: Effect.Effect<Option.Option<string>>
  /** Emits after a change in the file's folder. */
  readonly signals: Stream.Stream<unknown, E>
  readonly poll: Duration.Duration
}

/**
 * Emits after a signal if the version differs, and after each `poll` always, so that the reader notices a missing file.
 */
export const changes = <E>({ poll, signals, version }: WatchOptions<E>): Stream.Stream<void> => {
  // Without the folder, or with too many watchers on the machine, watching fails, and is retried after each interval. The platform throws a
  // defect then.
  const changed = signals.pipe(
    Stream.catchCause(() => Stream.empty),
    Stream.repeat(Schedule.spaced(poll)),
    // Signals during a check are merged.
    Stream.buffer({ capacity: 1, strategy: "sliding" })
  )
  return Stream.unwrap(Effect.map(version, (first) => {
    let known = first
    const differs = Effect.map(version, (found) => {
      const different = !Equal.equals(found, known)
      known = found
      return different
    })
    return Stream.merge(
      Stream.filterEffect(changed, () => differs),
      Stream.tap(polled(poll), () => differs)
    ).pipe(Stream.as(undefined))
  }))
}
