/**
 * A file as a source: read whole or not at all, and looked at again when it changes. Knows nothing of formats' insides nor of what is
 * done with the rows.
 *
 * @since 0.1.0
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Format from "@plaza/rows/Format"
import { SourceRefused } from "@plaza/rows/Refused"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Source, SourceUnreachable } from "../Source.js"
import * as Rows from "./Rows.js"
import * as Watch from "./Watch.js"

/** @since 0.1.0 @category models */
export interface FileOptions extends Rows.RowOptions {
  readonly path: string
  /** How often it is looked at without word of a change, which network drives don't send. */
  readonly poll: Duration.Duration
}

/** @since 0.1.0 @category constructors */
export const make = (options: FileOptions): Effect.Effect<Source["Type"], never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const { path } = options
    const version = Effect.map(files.stat(path), versionOf)

    // A file that is written while it is read may give half of the old and half of the new.
    const unchanged = (before: string) =>
      Stream.unwrap(Effect.map(Effect.option(version), (after) =>
        Option.isSome(after) && after.value === before
          ? Stream.empty
          : Stream.fail(new SourceUnreachable({ source: path, message: `${path} was changed while it was read; nothing of it was taken` }))))

    return {
      name: path,
      open: (taken) =>
        Effect.gen(function*() {
          const before = yield* version
          if (Option.contains(taken, before)) return Option.none()
          const bytes = files.stream(path).pipe(Stream.mapError((error) => unreadable(path, error)))
          const rows = Rows.rows(options.format ?? Format.ofName(path), { ...options, source: path })(bytes)
          return Option.some({ version: Option.some(before), rows: Stream.concat(rows, unchanged(before)) })
        }).pipe(Effect.mapError((error) => unreadable(path, error))),
      changes: Watch.changes({
        version: Effect.option(version),
        replaced: (one, other) => fileOf(one) !== fileOf(other),
        signals: Stream.suspend(() => files.watch(paths.dirname(paths.resolve(path)))),
        poll: options.poll
      })
    }
  })

const millis = Option.match({ onNone: () => 0, onSome: (time: Date) => time.getTime() })

// Which file it is as well: one that replaces another may have its size and time, and even its number, if that has come free.
const versionOf = (info: FileSystem.File.Info): string =>
  [`${info.dev}-${Option.getOrElse(info.ino, () => 0)}-${millis(info.birthtime)}`, info.size, millis(info.mtime)].join("/")

const fileOf = (version: string): string | undefined => version.split("/")[0]

const unreadable = (source: string, error: PlatformError): SourceRefused => {
  const why = error._tag === "SystemError" && error.reason === "NotFound"
    ? "there is no such file"
    : error._tag === "SystemError" && error.reason === "PermissionDenied"
    ? "this user may not read it"
    : error._tag === "SystemError" && /EISDIR|directory/i.test(error.message)
    ? "it is a folder, not a file"
    : `it can't be read (${error.message})`
  return new SourceRefused({ source, line: undefined, message: `${source}: ${why}. Name another source with --source or STOCK_SYNC_SOURCE` })
}
