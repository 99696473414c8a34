/**
 * Reads a file only when its writer has finished: once it has settled, its last line has a line end, and its done marker exists.
 *
 * A file that is written all the time never settles. After 10 seconds, or twice the settle time if that is longer, it is read all the same
 * if it is complete: it was only ever replaced by other files; or it was written in place from start to end at least twice, has not changed
 * for a second, and is at most a hundredth shorter than it has been. Any other file is refused after the settle time and `unfinishedWait`.
 */
import * as Format from "@plaza/tabular/Format"
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
import { isSettling, type SourceFailure, SourceUnreachable, unfinished, unreachable } from "./Source.ts"

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

/** What a place of files says about one of them. */
export interface FileInfo {
  readonly type: "file" | "folder" | "other"
  /** The path of the file: another one than was asked for if that is a pattern. */
  readonly path: string
  /** The file in messages. */
  readonly name: string
  /** Equal if the file is unchanged. */
  readonly version: string
  /** Which file it is. Another one with the same path has replaced it. Constant where that is not known. */
  readonly identity: string
  readonly size: bigint
  /** By the clock that sets it, in milliseconds since the epoch. */
  readonly mtime: number
  /** `mtime` by the clock of this machine, in milliseconds since the epoch; undefined if that is not known. */
  readonly writtenAt: number | undefined
}

/** A place of files. */
export interface Files {
  /** None if there is no such file. */
  readonly stat: (path: string) => Effect.Effect<Option.Option<FileInfo>, SourceFailure>
  readonly stream: (info: FileInfo) => Stream.Stream<Uint8Array, SourceFailure>
  /** Up to `count` bytes from a position on. */
  readonly bytes: (info: FileInfo, position: bigint, count: number) => Effect.Effect<Uint8Array, SourceFailure>
}

/** The rules for a whole file, in any place of files. They remember what they saw of the file. */
export interface Rules {
  readonly check: (files: Files) => Effect.Effect<Option.Option<FileState>, SourceFailure>
  /** Opens the file once it has settled. Returns none if it still has the version `accepted`. */
  readonly open: (files: Files, accepted: Option.Option<string>) => Effect.Effect<Option.Option<FileInfo>, SourceFailure>
  /** Ends, or fails if the file has changed. */
  readonly unchanged: (files: Files, info: Pick<FileInfo, "path" | "name" | "version">) => Stream.Stream<never, SourceFailure>
}

export interface RulesOptions extends FinishedOptions {
  readonly path: string
  /** The path in messages. */
  readonly name: string
  /** Whether a last line without a line end means that the file of this name may be unfinished. */
  readonly lines: (name: string) => boolean
  /** The sentence if there is no file. */
  readonly missing: string
  readonly unreadable: (reason: string) => SourceError
  /** The path of the done marker for a file (default: `doneMarker`). */
  readonly markerOf?: (info: FileInfo) => string
  /** The least time between two attempts of a reader of many files (default: none). */
  readonly attemptInterval?: Duration.Duration | undefined
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
  readonly unchanged: (version: string) => Stream.Stream<never, SourceFailure>
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

export interface FileState {
  readonly version: string
  readonly info: FileInfo
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
  return before.last.info.identity !== last.info.identity
    ? { ...before, last, longest, isReplaced: true }
    : { ...before, last, longest, writtenInPlace: last.now, rewrites: before.rewrites + (last.info.size > before.last.info.size ? 0 : 1) }
}

export const makeRules = (options: RulesOptions): Rules => {
  const { doneMarker, name, path, unreadable } = options
  const settle = Duration.toMillis(options.settle)
  const unfinishedWait = Duration.toMillis(options.unfinishedWait)
  const interval = Duration.toMillis(checkInterval)
  const longestUnsettled = Math.max(Duration.toMillis(unsettledFor), 2 * settle)
  const markerOf = options.markerOf ?? (() => doneMarker ?? "")

  let seen: { readonly version: string; readonly since: number } | undefined
  const check: Rules["check"] = (files) =>
    Effect.gen(function*() {
      const found = yield* files.stat(path)
      if (Option.isNone(found)) return Option.none()
      const info = found.value
      const { version, writtenAt } = info
      const now = yield* Clock.currentTimeMillis
      if (seen?.version !== version) {
        // At the first check, the modification time shows the age. Later, a file with an old time may be new here, and a time in the future
        // is from another clock.
        seen = { version, since: seen === undefined && writtenAt !== undefined && writtenAt <= now ? writtenAt : now }
      }
      return Option.some({ version, info, since: seen.since, now })
    })

  const leastWait = options.whileSettling === "fail" && options.attemptInterval !== undefined
    ? Duration.toMillis(options.attemptInterval)
    : 0
  const settling = (now: number, wait: number) =>
    new SourceUnreachable({
      source: name,
      message: `${name} was just written`,
      retryAt: DateTime.makeUnsafe(now + Math.max(leastWait, wait)),
      isSettling: true
    })

  // Some writers remove the old file before they create the new one.
  let missingSince: number | undefined
  const present = (files: Files): Effect.Effect<FileState, SourceFailure> =>
    Effect.flatMap(check(files), (found) =>
      Effect.gen(function*() {
        if (Option.isSome(found)) {
          missingSince = undefined
          return found.value
        }
        const missing = unreadable(options.missing)
        if (seen === undefined) return yield* missing
        const now = yield* Clock.currentTimeMillis
        missingSince ??= now
        return yield* now - missingSince < settle ? settling(now, Math.min(interval, settle)) : missing
      }))

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
      if (last.info.type !== "file") {
        return unreadable(last.info.type === "folder" ? "it is a folder, not a file" : "it is a named pipe or a device, not a file")
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
        ? unreachable(last.info.name, `it is still being written: it has not stayed unchanged for ${Duration.format(options.settle)}`)
        : settling(last.now, Math.min(left, last.now - seen.since < longestUnsettled - pause ? interval : pauseCheckInterval))
    })

  let unmarked: { readonly version: string; readonly until: number } | undefined
  const marked = (files: Files, { info, now, version }: FileState): Effect.Effect<void, SourceFailure> => {
    const marker = markerOf(info)
    return files.stat(marker).pipe(
      Effect.catchTag("SourceError", () => Effect.succeedNone),
      Effect.flatMap((found) => {
        if (Option.exists(found, ({ mtime }) => mtime >= info.mtime)) return Effect.void
        if (unmarked?.version !== version) unmarked = { version, until: now + unfinishedWait }
        const reason = `it is not finished yet: its done marker ${marker} ${
          Option.isNone(found) ? "does not exist" : "is older than the file"
        }`
        return Effect.fail(
          now < unmarked.until ? unfinished(info.name, reason, DateTime.makeUnsafe(unmarked.until)) : unreachable(info.name, reason)
        )
      })
    )
  }

  const lineEnded = (files: Files, { info, now, since }: FileState): Effect.Effect<void, SourceFailure> =>
    Effect.gen(function*() {
      const until = (info.writtenAt !== undefined && info.writtenAt <= now ? info.writtenAt : since) + unfinishedWait
      if (now >= until || info.size === 0n || (yield* endsInLineEnd(files, info))) return
      const at = DateTime.makeUnsafe(until)
      return yield* unfinished(info.name,
        `its last line has no line end, so it may be unfinished. It is read as it is after ${DateTime.formatIso(at)}`, at)
    })

  return {
    check,
    unchanged: (files, info) =>
      Stream.unwrap(Effect.gen(function*() {
        const found = yield* Effect.catchTag(files.stat(info.path), "SourceError", () => Effect.succeedNone)
        const wasUnsettled = unsettled !== undefined
        if (Option.exists(found, ({ version }) => version === info.version)) {
          unsettled = undefined
          return Stream.empty
        }
        return Stream.fail(
          wasUnsettled && options.whileSettling === "fail"
            ? settling(yield* Clock.currentTimeMillis, pauseCheckInterval)
            : changedWhileRead(info.name)
        )
      })),
    open: (files, accepted) =>
      Effect.gen(function*() {
        const found = yield* present(files)
        if (Option.contains(accepted, found.version)) return Option.none()
        yield* settled(found)
        if (doneMarker !== undefined) yield* marked(files, found)
        else if (options.lines(found.info.path)) yield* lineEnded(files, found)
        return Option.some(found.info)
      }).pipe(options.whileSettling === "fail" ? identity : onceSettled)
  }
}

export const changedWhileRead = (name: string): SourceUnreachable =>
  new SourceUnreachable({ source: name, message: `${name} was changed while it was read; no row of it was used` })

/** A file of this machine. */
export const make = Effect.fnUntraced(function*(options: WholeFileOptions) {
  const fs = yield* FileSystem.FileSystem
  const { advice, doneMarker, path } = options
  const unreadable = (reason: string) => new SourceError({ source: path, line: undefined, message: `${path}: ${reason}. ${advice}` })
  const failed = ({ reason }: PlatformError): SourceError =>
    unreadable(reasons[reason._tag] ?? `it can't be read (${reason.cause instanceof Error ? reason.cause.message : reason.message})`)
  const files: Files = {
    stat: (path) =>
      fs.stat(path).pipe(
        Effect.map((info) => Option.some(infoOf(path, info))),
        Effect.catch((error) => error.reason._tag === "NotFound" ? Effect.succeedNone : Effect.fail(failed(error)))
      ),
    stream: ({ path }) => Stream.mapError(fs.stream(path), failed),
    bytes: ({ path }, position, count) =>
      Effect.flatMap(fs.open(path), (file) => file.readAlloc(count, { position })).pipe(
        Effect.map(Option.getOrElse(() => new Uint8Array())),
        Effect.mapError(failed),
        Effect.scoped
      )
  }
  const rules = makeRules({ ...options, name: path, lines: () => options.lines, missing: reasons.NotFound, unreadable })

  const file: WholeFile = {
    version: Effect.zipWith(
      Effect.map(Effect.option(rules.check(files)), Option.flatten),
      doneMarker === undefined ? Effect.succeedNone : Effect.map(Effect.option(files.stat(doneMarker)), Option.flatten),
      (found, marker) =>
        Option.map(found, ({ version }) => `${version} ${Option.match(marker, { onNone: () => "", onSome: ({ version }) => version })}`)
    ),
    unchanged: (version) => rules.unchanged(files, { path, name: path, version }),
    open: (accepted) =>
      Effect.map(rules.open(files, accepted), Option.map((info) => ({ version: info.version, bytes: files.stream(info) })))
  }
  return file
})

const reasons: Readonly<Record<string, string>> & { readonly NotFound: string } = {
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

const infoOf = (path: string, info: FileSystem.File.Info): FileInfo => {
  // A replacement may have the same size, time and even inode.
  const identity = `${info.dev}-${Option.getOrElse(info.ino, () => 0n)}-${millis(info.birthtime)}`
  const mtime = millis(info.mtime)
  return {
    type: info.type === "File" ? "file" : info.type === "Directory" ? "folder" : "other",
    path,
    name: path,
    version: [identity, info.size, mtime].join("/"),
    identity,
    size: info.size,
    mtime,
    writtenAt: mtime
  }
}

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d

/** Whether a file ends with a line end. A compressed file or a workbook counts as ended: if it is incomplete, decompression fails. */
const endsInLineEnd = (files: Files, info: FileInfo): Effect.Effect<boolean, SourceFailure> =>
  Effect.gen(function*() {
    const head = yield* files.bytes(info, 0n, Format.archiveHead)
    const [first, second] = head
    if ((first === 0x1f && second === 0x8b) || Format.isArchive(head)) return true
    const [before, last] = info.size > 1n ? yield* files.bytes(info, info.size - 2n, 2) : [undefined, first]
    // In UTF-16LE a zero follows the line end.
    return isLineEnd(last) || (last === 0 && isLineEnd(before))
  })
