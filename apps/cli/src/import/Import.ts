/** Runs an import: validates the whole file, opens its journal, sends the rows and reports the result. */
import * as FileSystem from "@effect/platform/FileSystem"
import { ClientError, FailureScope, Profiles, Settings } from "@plaza-legacy/client"
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import * as Folder from "@plaza/cli-kit/Folder"
import { Output } from "@plaza/cli-kit/Output"
import { Progress } from "@plaza/cli-kit/Progress"
import { excerpt } from "@plaza/cli-kit/Text"
import type * as Format from "@plaza/tabular/Format"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Path from "node:path"
import * as FailureReportFile from "./FailureReportFile.ts"
import * as ImportFile from "./ImportFile.ts"
import * as ImportPaths from "./ImportPaths.ts"
import * as ImportProgress from "./ImportProgress.ts"
import * as ImportResult from "./ImportResult.ts"
import { type ImportKind, type ImportRow, orders, stock } from "./ImportRow.ts"
import * as ImportRun from "./ImportRun.ts"
import * as Journal from "./Journal.ts"

export const kinds: Readonly<Record<ImportKind["name"], ImportKind>> = { orders, stock }

export interface Options {
  readonly kind: ImportKind
  /** A path, or `-` for standard input. */
  readonly file: string
  readonly format: Format.Format | undefined
  readonly delimiter: string | undefined
  /** Sends nothing; prints the rows that would be sent. */
  readonly dryRun: boolean
  /** Ignores the journal of earlier runs. */
  readonly again: boolean
  /** The file for failed rows (default: beside the journal). */
  readonly report: string | undefined
  readonly concurrency: number
}

/** Checks the path of the failure report before anything is sent. */
const checkReport = (file: string, report: string | undefined) =>
  Effect.gen(function*() {
    if (report === undefined) return
    const fs = yield* FileSystem.FileSystem
    if (file !== "-" && Path.resolve(file) === Path.resolve(report)) {
      return yield* new UsageError({ message: `--report would overwrite the imported file ${file}: use another file` })
    }
    const isFolder = report.trim() === "" || report.endsWith("/") ||
      (yield* Effect.orElseSucceed(Effect.map(fs.stat(report), ({ type }) => type === "Directory"), () => false))
    if (isFolder) return yield* new UsageError({ message: `--report requires a file, but "${excerpt(report)}" is none: name a file` })
    yield* fs.access(Path.dirname(Path.resolve(report)), { writable: true })
    if (yield* fs.exists(report)) yield* fs.access(report, { writable: true })
  })

const isInPlace = (history: Journal.History) => ({ id }: ImportRow): boolean => Journal.isInPlace(history.stateOf(id))

const dryRun = (options: Options, rows: ReadonlyArray<ImportRow>, history: Journal.History) =>
  Effect.gen(function*() {
    const output = yield* Output
    const { columns } = options.kind
    const [pending, inPlace] = [rows.filter((row) => !isInPlace(history)(row)), rows.filter(isInPlace(history))]
    const doubtful = pending.filter(({ id }) => history.stateOf(id) === "doubtful").length
    if (output.json) {
      const send = pending.map(({ cells }) => Object.fromEntries(columns.map((column, index) => [column, cells[index]])))
      return yield* output.value({ import: options.kind.name, dryRun: true, rows: rows.length, inPlace: inPlace.length, doubtful, send })
    }
    yield* output.list(Stream.fromIterable(pending), columns.map((head) => ({ head })), ({ cells }) => cells)
    yield* output.note(
      `${pending.length} of ${rows.length} rows would be sent. ${inPlace.length} are in place since an earlier run.` +
        (doubtful === 0 ? "" : ` The outcome of ${doubtful} rows is unknown since an earlier run.`)
    )
  })

/** Shows a progress bar, and returns its update. The time left comes from the rate limit, because rows are sent in bursts. */
const showProgress = (kind: ImportKind, rows: number, counts: ImportRun.ImportCounts) =>
  Effect.gen(function*() {
    const progress = yield* Progress
    const { rateLimit, rateWindow } = yield* Settings.Settings
    const bar = yield* progress.bar({ label: `Importing ${kind.name}`, total: rows, estimate: false })
    const startedAt = yield* Clock.currentTimeMillis
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const done = counts.sent + counts.already.length + counts.unverified.length + counts.failed.length
      const allowance = { limit: rateLimit, window: rateWindow }
      const text = ImportProgress.format(rows, done, counts.failed.length, Duration.millis(now - startedAt), allowance)
      return Effect.zipRight(bar.set(done), bar.status(text))
    })
  })

/**
 * The account that owns the journals, so that every key of the account continues them. A key that can't read its account, or whose account
 * has neither id nor username, continues only its own imports.
 */
const journalOwner = Effect.gen(function*() {
  const { apiKey } = yield* Settings.Settings
  const profiles = yield* Profiles
  const byKey = `key ${ImportPaths.digest([Redacted.value(apiKey)])}`
  return yield* profiles.me.pipe(
    Effect.map(({ id, username }) => id !== undefined ? `account ${id}` : username !== undefined ? `username ${username}` : byKey),
    // The code of a missing scope may be newer than this program.
    ClientError.catchCategory("Forbidden",
      (failure) => FailureScope.isAccountRefusal(failure) ? Effect.fail(failure) : Effect.succeed(byKey))
  )
})

/** Removes the journals of imports that this one overwrites in part. */
const removeOverwritten = (rows: ReadonlyArray<ImportRow>, paths: ImportPaths.ImportPaths) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    for (const path of yield* ImportPaths.otherJournals(paths)) {
      const history = yield* Journal.read(path)
      if (rows.some(({ id }) => history.stateOf(id) !== "open")) yield* fs.remove(path)
    }
  })

const noteInPlace = (rows: number, history: Journal.History) =>
  Effect.flatMap(Output, ({ note }) => {
    const since = Option.match(history.last, { onNone: () => "", onSome: (last) => ` since ${last.toISOString()}` })
    return note(
      rows === 0
        ? "The file has no rows. Nothing was sent."
        : `Every row is in place${since}. Nothing was sent. Use --again to send all rows, for example after changes by others.`
    )
  })

/** Imports a file. The failure says how to continue. */
export const run = Effect.fn("Import.run")(function*(options: Options) {
  const { file, kind } = options
  const fs = yield* FileSystem.FileSystem
  const output = yield* Output
  const { baseUrl } = yield* Settings.Settings
  yield* checkReport(file, options.report)
  const rows = yield* ImportFile.read(kind, { ...options, json: output.json })
  const paths = yield* ImportPaths.of({ kind, rows, baseUrl, account: yield* journalOwner })
  if (options.dryRun) return yield* dryRun(options, rows, options.again ? Journal.emptyHistory : yield* Journal.read(paths.journal))

  yield* Effect.mapError(
    Folder.make(paths.folder, { mode: 0o700 }),
    (cause) => new Explained({ cause, explanation: "An import requires a folder for its journal: set XDG_STATE_HOME to another folder." })
  )
  const ImportLock = yield* Effect.promise(() => import("./ImportLock.ts"))
  yield* ImportLock.acquire(paths)
  yield* Effect.ignore(ImportPaths.prune(paths))
  if (options.again) yield* fs.remove(paths.journal, { force: true })
  const journal = yield* Journal.open(paths.journal)
  const inPlace = rows.filter(isInPlace(journal.history)).length
  const counts = ImportRun.makeCounts()
  /** The file with the failed rows. */
  let saved: string | undefined
  const result = () => ImportResult.make(kind, rows.length, inPlace, counts, saved)
  const howToContinue = () => ImportResult.howToContinue(result(), ImportResult.unknownOf(counts))
  const saveTo = (report: string) =>
    Effect.zipRight(FailureReportFile.save(report, kind, counts.failed), Effect.sync(() => {
      saved = report
    }))
  // The result has no report if it can't be written, beside the journal neither.
  const saveFailures = Effect.ignore(Effect.suspend(() =>
    counts.failed.length > 0
      ? Effect.orElse(saveTo(options.report ?? paths.report), () => saveTo(paths.report))
      // Removes the report of an earlier run, whose rows are confirmed now. A file that the user named stays.
      : fs.remove(paths.report, { force: true })
  ))
  const reportInterruption = Effect.suspend(() => output.json ? output.value(result()) : output.note(howToContinue()))

  if (inPlace === rows.length) yield* noteInPlace(rows.length, journal.history)
  else {
    if (kind.overwrites) yield* removeOverwritten(rows, paths)
    yield* Effect.flatMap(
      showProgress(kind, rows.length - inPlace, counts),
      (onRow) => ImportRun.run({ rows, journal, counts, onRow, concurrency: options.concurrency })
    ).pipe(
      // Removes the bar before other output.
      Effect.scoped,
      Effect.tapError(() => saveFailures),
      Effect.mapError((cause) => new Explained({ cause, explanation: howToContinue(), details: { ...result() } })),
      Effect.onInterrupt(() => Effect.ignore(Effect.zipRight(saveFailures, reportInterruption)))
    )
  }
  yield* saveFailures
  yield* output.done(result(), ImportResult.toText(result()))
  const failure = ImportResult.failureOf(result(), counts)
  if (failure !== undefined) return yield* failure
}, Effect.scoped)
