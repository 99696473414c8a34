/**
 * Reads a file only when its writer has finished: once it has settled, its last line has a line end, and its done marker exists.
 *
 * A file that is written all the time never settles. After 10 seconds, or twice the settle time if that is longer, it is read all the same
 * if it is complete: it was only ever replaced by other files; or it was written in place from start to end at least twice, has not changed
 * for a second, and is at most a hundredth shorter than it has been. Any other file is refused after the settle time and `unfinishedWait`.
 */
import { SourceError } from "@plaza/tabular/SourceError"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"
import { isSettling, type SourceFailure, SourceUnreachable, unreachable } from "./Source.ts"

export interface FinishedOptions {
  /** How long a file must stay unchanged before it is read. */
  readonly settle: Duration.Duration
  /** Max wait for an unfinished file. */
  readonly unfinishedWait: Duration.Duration
  /** A file that the writer creates or touches after the source file. */
  readonly doneMarker?: string | undefined
  /** Whether `open` waits for a file to settle (default), or fails with `isSettling`, for a reader of many files. */
  readonly whileSettling?: "wait" | "fail" | undefined
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
  /** Opens the file once it has settled. Returns none if it still has the version `accepted`. */
  readonly open: (accepted: Option.Option<string>) => Effect.Effect<
    Option.Option<{ readonly version: string; readonly bytes: Stream.Stream<Uint8Array, SourceFailure> }>,
    SourceFailure
  >
  /** Ends, or fails if the file has changed since `version`. */
  readonly unchanged: (version: string) => Stream.Stream<never, SourceUnreachable>
}

// Between two checks of a file that has not settled.
const checkInterval = Duration.seconds(1)
// After this time without settling a file is read if it is complete.
const unsettledFor = Duration.seconds(10)
// How long a file must stay unchanged then.
const pause = 1_000
// Between two checks for that pause, so that most of the time until the next write is left to read the file.
const pauseCheckInterval = 200
// A writer that starts over once may be a slow one, whose file is complete later.
const minRewrites = 2

interface FileState {
  readonly version: string
  readonly info: FileSystem.File.Info
  /** Since when the file has this version, in milliseconds since the epoch. */
  readonly since: number
  readonly now: number
}

/** What was seen of a file that has not settled. */
interface Unsettled {
  readonly since: number
  readonly last: FileState
  /** At first `since`. */
  readonly writtenInPlace: number
  /** Another file has taken its place. */
  readonly isReplaced: boolean
  /** How often a write in place did not make it longer. A file that only becomes longer is not complete. */
  readonly rewrites: number
  readonly longest: bigint
}

const follow = (before: Unsettled | undefined, last: FileState): Unsettled => {
  if (before === undefined) {
    return { since: last.now, last, writtenInPlace: last.now, isReplaced: false, rewrites: 0, longest: last.info.size }
  }
  if (before.last.version === last.version) return { ...before, last }
  const longest = last.info.size > before.longest ? last.info.size : before.longest
  return fileOf(before.last.version) !== fileOf(last.version)
    ? { ...before, last, longest, isReplaced: true }
    : { ...before, last, longest, writtenInPlace: last.now, rewrites: before.rewrites + (last.info.size > before.last.info.size ? 0 : 1) }
}

export const make = Effect.fnUntraced(function*(options: WholeFileOptions) {
  const fs = yield* FileSystem.FileSystem
  const { advice, doneMarker, path } = options
  const settle = Duration.toMillis(options.settle)
  const unfinishedWait = Duration.toMillis(options.unfinishedWait)
  const interval = Duration.toMillis(checkInterval)
  const longestUnsettled = Math.max(Duration.toMillis(unsettledFor), 2 * settle)
  const unreadable = (reason: string) => new SourceError({ source: path, line: undefined, message: `${path}: ${reason}. ${advice}` })

  let seen: { readonly version: string; readonly since: number } | undefined
  const check: Effect.Effect<FileState, PlatformError> = Effect.gen(function*() {
    const info = yield* fs.stat(path)
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

  const settling = (retryAt: number) =>
    new SourceUnreachable({ source: path, message: `${path} was just written`, retryAt: DateTime.makeUnsafe(retryAt), isSettling: true })

  // Some writers remove the old file before they create the new one.
  let missingSince: number | undefined
  const present = Effect.tap(check, () => Effect.sync(() => missingSince = undefined)).pipe(
    Effect.catchIf(({ reason }) => reason._tag === "NotFound" && seen !== undefined,
      (error) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          missingSince ??= now
          return Effect.fail(now - missingSince < settle ? settling(now + Math.min(interval, settle)) : error)
        }))
  )

  // Replacements are complete. The conditions for writes in place refuse a file that was emptied a moment ago. That it was not written while
  // it was read, and ends with a line end, is checked too.
  const isComplete = ({ isReplaced, last, longest, rewrites, since, writtenInPlace }: Unsettled): boolean =>
    (isReplaced && last.now - writtenInPlace >= longestUnsettled) || (
      rewrites >= minRewrites && last.now - since >= longestUnsettled && last.now - last.since >= Math.min(pause, settle) &&
      last.info.size * 100n >= longest * 99n
    )

  let unsettled: Unsettled | undefined
  const settled = (last: FileState): Effect.Effect<void, SourceFailure> =>
    Effect.suspend((): Effect.Effect<void, SourceFailure> => {
      if (last.info.type !== "File") {
        return unreadable(last.info.type === "Directory" ? "it is a folder, not a file" : "it is a named pipe or a device, not a file")
      }
      // What happened to a file is not known after a longer time without a check.
      const before = unsettled !== undefined && last.now - unsettled.last.now > longestUnsettled ? undefined : unsettled
      unsettled = undefined
      const left = settle - (last.now - last.since)
      if (left <= 0) return Effect.void
      const seen = follow(before, last)
      const isLate = last.now - seen.since >= Math.max(unfinishedWait + settle, longestUnsettled)
      // Until it was read to its end without a change.
      if (!isLate) unsettled = seen
      if (isComplete(seen)) return Effect.void
      return isLate
        ? unreachable(path, `it is still being written: it has not stayed unchanged for ${Duration.format(options.settle)}`)
        : settling(last.now + Math.min(left, last.now - seen.since < longestUnsettled - pause ? interval : pauseCheckInterval))
    })

  let unmarked: { readonly version: string; readonly until: number } | undefined
  const marked = (marker: string, { info, now, version }: FileState): Effect.Effect<void, SourceUnreachable> =>
    Effect.flatMap(Effect.option(fs.stat(marker)), (found) => {
      if (Option.exists(found, ({ mtime }) => millis(mtime) >= millis(info.mtime))) return Effect.void
      if (unmarked?.version !== version) unmarked = { version, until: now + unfinishedWait }
      const reason = `it is not finished yet: its done marker ${marker} ${
        Option.isNone(found) ? "does not exist" : "is older than the file"
      }`
      return Effect.fail(unreachable(path, reason, now < unmarked.until ? DateTime.makeUnsafe(unmarked.until) : undefined))
    })

  const lineEnded = ({ info, now, since }: FileState): Effect.Effect<void, PlatformError | SourceUnreachable> =>
    Effect.gen(function*() {
      const written = millis(info.mtime)
      const until = (written <= now ? written : since) + unfinishedWait
      if (now >= until || info.size === 0n || (yield* endsInLineEnd(fs, path, info.size))) return
      const at = DateTime.makeUnsafe(until)
      return yield* unreachable(path,
        `its last line has no line end, so it may be unfinished. It is read as it is after ${DateTime.formatIso(at)}`, at)
    })

  const failed = ({ reason }: PlatformError): SourceError =>
    unreadable(reasons[reason._tag] ?? `it can't be read (${reason.cause instanceof Error ? reason.cause.message : reason.message})`)

  const file: WholeFile = {
    version: Effect.zipWith(
      Effect.option(check),
      doneMarker === undefined ? Effect.succeedNone : Effect.option(fs.stat(doneMarker)),
      (found, marker) => Option.map(found, ({ version }) => `${version} ${Option.match(marker, { onNone: () => "", onSome: versionOf })}`)
    ),
    unchanged: (version) =>
      Stream.unwrap(Effect.gen(function*() {
        const isSame = Option.exists(yield* Effect.option(fs.stat(path)), (info) => versionOf(info) === version)
        const wasUnsettled = unsettled !== undefined
        if (isSame) unsettled = undefined
        return isSame
          ? Stream.empty
          : Stream.fail(
            wasUnsettled && options.whileSettling === "fail"
              ? settling((yield* Clock.currentTimeMillis) + pauseCheckInterval)
              : new SourceUnreachable({ source: path, message: `${path} was changed while it was read; no row of it was used` })
          )
      })),
    open: (accepted) =>
      Effect.gen(function*() {
        const found = yield* present
        if (Option.contains(accepted, found.version)) return Option.none()
        yield* settled(found)
        if (doneMarker !== undefined) yield* marked(doneMarker, found)
        else if (options.lines) yield* lineEnded(found)
        return Option.some({ version: found.version, bytes: Stream.mapError(fs.stream(path), failed) })
      }).pipe(
        Effect.mapError((error) => error._tag === "PlatformError" ? failed(error) : error),
        options.whileSettling === "fail" ? identity : onceSettled
      )
  }
  return file
})

const reasons: Readonly<Record<string, string>> = {
  NotFound: "there is no such file",
  PermissionDenied: "this user may not read it",
  // A file system that opens regular files only refuses others with it.
  BadResource: "it is a named pipe or a device, not a file"
}

/** Opens a file again until it has settled. */
const onceSettled = <A>(open: Effect.Effect<A, SourceFailure>): Effect.Effect<A, SourceFailure> =>
  Effect.catchIf(open, isSettling, ({ retryAt }) =>
    Effect.gen(function*() {
      yield* Effect.sleep(Math.max(0, DateTime.toEpochMillis(retryAt) - (yield* Clock.currentTimeMillis)))
      return yield* onceSettled(open)
    }))

const millis = Option.match({ onNone: () => 0, onSome: (time: Date) => time.getTime() })

// Includes the identity of the file: a replacement may have the same size, time and even inode.
const versionOf = (info: FileSystem.File.Info): string =>
  [`${info.dev}-${Option.getOrElse(info.ino, () => 0n)}-${millis(info.birthtime)}`, info.size, millis(info.mtime)].join("/")

const fileOf = (version: string): string | undefined => version.split("/")[0]

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d

/** Whether a file ends with a line end. A compressed file counts as ended: if it is incomplete, decompression fails. */
const endsInLineEnd = (fs: FileSystem.FileSystem, path: string, size: bigint): Effect.Effect<boolean, PlatformError> =>
  Effect.gen(function*() {
    const file = yield* fs.open(path)
    const two = (position: bigint) => Effect.map(file.readAlloc(2, { position }), Option.getOrElse(() => new Uint8Array()))
    const [first, second] = yield* two(0n)
    if (first === 0x1f && second === 0x8b) return true
    const [before, last] = size > 1n ? yield* two(size - 2n) : [undefined, first]
    // In UTF-16LE a zero follows the line end.
    return isLineEnd(last) || (last === 0 && isLineEnd(before))
  }).pipe(Effect.scoped)
