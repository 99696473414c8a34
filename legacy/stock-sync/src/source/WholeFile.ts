/**
 * Reads a file only when its writer has finished: once it has settled, its last line has a line end, and its done marker exists.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { type SourceFailure, SourceUnreachable } from "./Source.ts"
import { isMissing, unreadable } from "./UnreadableFile.ts"

export interface FinishedOptions {
  /** How long a file must stay unchanged before it is read. */
  readonly settle: Duration.Duration
  /** Max wait for an unfinished file. */
  readonly unfinishedWait: Duration.Duration
  /** A file that the writer creates or touches after the source file. */
  readonly doneMarker?: string | undefined
}

export interface WholeFileOptions extends FinishedOptions {
  readonly path: string
  /** Whether a last line without a line end means that the file may be unfinished. */
  readonly lines: boolean
  /** What to change if the file can't be read. */
  readonly advice: string
}

export interface WholeFile {
  /** The version of the file and of its done marker; none if there is no file. */
  readonly version: Effect.Effect<Option.Option<string>>
  /** Waits until the file has settled. Returns none if it still has the version `accepted`. */
  readonly open: (accepted: Option.Option<string>) => Effect.Effect<
    Option.Option<{ readonly version: string; readonly bytes: Stream.Stream<Uint8Array, SourceFailure> }>,
    SourceFailure
  >
  /** Ends, or fails if the file has changed since `version`. */
  readonly unchanged: (version: string) => Stream.Stream<never, SourceUnreachable>
}

// Between two checks of a file that has not settled.
const checkInterval = Duration.seconds(1)
// A file that is replaced all the time never settles, but each replacement is complete. After this time without a write in place, it is
// read.
const replacedFor = Duration.seconds(10)

interface FileState {
  readonly version: string
  readonly info: FileSystem.File.Info
  /** Since when the file has this version, in milliseconds since the epoch. */
  readonly since: number
  readonly now: number
}

export const make = (options: WholeFileOptions): Effect.Effect<WholeFile, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const { doneMarker, path } = options
    const settle = Duration.toMillis(options.settle)
    const unfinishedWait = Duration.toMillis(options.unfinishedWait)
    const watchReplaced = Math.max(Duration.toMillis(replacedFor), 2 * settle)
    const unfinished = (what: string, retryAt?: number) =>
      new SourceUnreachable({
        source: path,
        message: `${path}: ${what}`,
        retryAt: retryAt === undefined ? undefined : DateTime.unsafeMake(retryAt)
      })

    let seen: { readonly version: string; readonly since: number } | undefined
    const check: Effect.Effect<FileState, PlatformError> = Effect.gen(function*() {
      const info = yield* files.stat(path)
      const now = yield* Clock.currentTimeMillis
      const version = versionOf(info)
      if (seen?.version !== version) {
        // At the first check, the modification time shows the age. Later, a file with an old time may be new here, and a time in the future
        // is from another clock.
        const written = millis(info.mtime)
        seen = { version, since: seen === undefined && written <= now ? written : now }
      }
      return { version, info, since: seen.since, now }
    })

    // Some writers remove the old file before they create the new one.
    const present = Effect.retry(check, {
      while: (error) => isMissing(error) && seen !== undefined && settle > 0,
      schedule: Schedule.intersect(Schedule.spaced(Duration.min(checkInterval, options.settle)), Schedule.recurUpTo(options.settle))
    })

    const settled: Effect.Effect<FileState, PlatformError | SourceUnreachable> = Effect.gen(function*() {
      let last = yield* present
      if (last.info.type !== "File") return last
      const start = last.now
      let replaced = false
      let writtenInPlace = start
      while (last.now - last.since < settle) {
        if (replaced && last.now - writtenInPlace >= watchReplaced) return last
        if (last.now - start >= Math.max(unfinishedWait + settle, watchReplaced)) {
          return yield* unfinished(
            `it is still being written: it has not stayed unchanged for ${Duration.format(options.settle)}; no row of it was used`
          )
        }
        yield* Effect.sleep(Math.min(settle - (last.now - last.since), Duration.toMillis(checkInterval)))
        const next = yield* present
        if (next.version !== last.version) {
          if (fileOf(next.version) === fileOf(last.version)) writtenInPlace = next.now
          else replaced = true
        }
        last = next
      }
      return last
    })

    let unmarked: { readonly version: string; readonly until: number } | undefined
    const marked = (marker: string, { info, now, version }: FileState): Effect.Effect<void, SourceUnreachable> =>
      Effect.flatMap(Effect.option(files.stat(marker)), (found) => {
        if (Option.exists(found, ({ mtime }) => millis(mtime) >= millis(info.mtime))) return Effect.void
        if (unmarked?.version !== version) unmarked = { version, until: now + unfinishedWait }
        const what = Option.isNone(found) ? "does not exist" : "is older than the file"
        return unfinished(`it is not finished yet: its done marker ${marker} ${what}; no row of it was used`,
          now < unmarked.until ? unmarked.until : undefined)
      })

    const lineEnded = ({ info, now, since }: FileState): Effect.Effect<void, PlatformError | SourceUnreachable> =>
      Effect.gen(function*() {
        const written = millis(info.mtime)
        const until = (written <= now ? written : since) + unfinishedWait
        if (now >= until || info.type !== "File" || info.size === FileSystem.Size(0) || (yield* endsInLineEnd(files, path, info.size)))
          return
        return yield* unfinished(
          `its last line has no line end, so it may be unfinished. It is read as it is after ${
            new Date(until).toISOString()
          }; no row of it was used`,
          until
        )
      })

    const unchanged: WholeFile["unchanged"] = (version) =>
      Stream.unwrap(Effect.map(Effect.option(files.stat(path)), (after) =>
        Option.exists(after, (info) => versionOf(info) === version)
          ? Stream.empty
          : Stream.fail(
            new SourceUnreachable({ source: path, message: `${path} was changed while it was read; no row of it was used` })
          )))

    const failed = unreadable(path, options.advice)
    return {
      version: Effect.option(check).pipe(
        Effect.zipWith(doneMarker === undefined ? Effect.succeedNone : Effect.option(files.stat(doneMarker)),
          (file, marker) =>
            Option.map(file, ({ version }) => `${version} ${Option.match(marker, { onNone: () => "", onSome: versionOf })}`))
      ),
      unchanged,
      open: (accepted) =>
        Effect.gen(function*() {
          if (Option.contains(accepted, (yield* present).version)) return Option.none()
          const found = yield* settled
          if (Option.contains(accepted, found.version)) return Option.none()
          if (doneMarker !== undefined) yield* marked(doneMarker, found)
          else if (options.lines) yield* lineEnded(found)
          return Option.some({ version: found.version, bytes: Stream.mapError(files.stream(path), failed) })
        }).pipe(Effect.mapError((error) => error._tag === "SourceUnreachable" ? error : failed(error)))
    }
  })

const millis = Option.match({ onNone: () => 0, onSome: (time: Date) => time.getTime() })

// Includes the identity of the file: a replacement may have the same size, time and even inode.
const versionOf = (info: FileSystem.File.Info): string =>
  [`${info.dev}-${Option.getOrElse(info.ino, () => 0)}-${millis(info.birthtime)}`, info.size, millis(info.mtime)].join("/")

const fileOf = (version: string): string | undefined => version.split("/")[0]

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d

/** Whether a file ends with a line end. A compressed file counts as ended: if it is incomplete, decompression fails. */
const endsInLineEnd = (files: FileSystem.FileSystem, path: string, size: FileSystem.Size): Effect.Effect<boolean, PlatformError> =>
  Effect.gen(function*() {
    const file = yield* files.open(path)
    const two = (offset: bigint) =>
      Effect.zipRight(file.seek(offset, "start"), Effect.map(file.readAlloc(2), Option.getOrElse(() => new Uint8Array())))
    const [first, second] = yield* two(0n)
    if (first === 0x1f && second === 0x8b) return true
    const [before, last] = size > 1n ? yield* two(size - 2n) : [undefined, first]
    // In UTF-16LE a zero follows the line end.
    return isLineEnd(last) || (last === 0 && isLineEnd(before))
  }).pipe(Effect.scoped)
