/** Runs an import: validates the whole file, opens its journal, sends the rows and reports the result. */
import { Explained } from "@plaza/cli-kit/CliError"
import * as InputFile from "@plaza/cli-kit/InputFile"
import { Output } from "@plaza/cli-kit/Output"
import { ClientError, FailureScope, Profiles, Settings } from "@plaza/client"
import type * as Format from "@plaza/tabular/Format"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Path from "node:path"
import * as Folders from "../Folders.ts"
import { EphemeralSandbox } from "../sandbox/EphemeralSandbox.ts"
import * as FailureReport from "./FailureReport.ts"
import * as ImportFile from "./ImportFile.ts"
import * as ImportFolder from "./ImportFolder.ts"
import * as ImportProgress from "./ImportProgress.ts"
import * as ImportResult from "./ImportResult.ts"
import type { ImportKind, ImportRow } from "./ImportRow.ts"
import * as ImportRun from "./ImportRun.ts"
import * as Journal from "./Journal.ts"

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
  /** The file for failed rows (default: beside the imported file; for a pipe beside the journal). */
  readonly report: string | undefined
  readonly concurrency: number
}

/** The place of the failure report beside the imported file; undefined for a pipe. The state folder of a sandbox is removed at the end. */
const besideOf = Effect.fnUntraced(function*({ file, kind }: Options, isSandbox: boolean) {
  if (file !== "-" && (yield* InputFile.kindOf(file)) === "file") return FailureReport.besideOf(Path.resolve(file))
  return isSandbox ? yield* Effect.orElseSucceed(Effect.try(() => Path.resolve(`${kind.name}.failed.csv`)), () => undefined) : undefined
})

const isInPlace = (history: Journal.History) => ({ id }: ImportRow): boolean => Journal.isInPlace(history.stateOf(id))

/** Prints the rows that would be sent. */
const printPlan = Effect.fnUntraced(function*({ columns, name }: ImportKind, rows: ReadonlyArray<ImportRow>, history: Journal.History) {
  const output = yield* Output
  const pending = rows.filter((row) => !isInPlace(history)(row))
  const inPlace = rows.length - pending.length
  const doubtful = pending.filter(({ id }) => history.stateOf(id) === "doubtful").length
  if (output.json) {
    const send = pending.map(({ cells }) => Object.fromEntries(columns.map((column, index) => [column, cells[index]])))
    return yield* output.value({ import: name, dryRun: true, rows: rows.length, inPlace, doubtful, send })
  }
  // The note says that no row would be sent.
  yield* output.list(Stream.fromIterable(pending), columns.map((head) => ({ head })), ({ cells }) => cells, { empty: undefined })
  yield* output.note(
    `${pending.length} of ${rows.length} rows would be sent. ${inPlace} are in place since an earlier run.` +
      (doubtful === 0 ? "" : ` The outcome of ${doubtful} rows is unknown since an earlier run.`)
  )
})

/**
 * The account that owns the journals, so that every key of the account continues them. A key that can't read its account, or whose account
 * has neither id nor username, continues only its own imports.
 */
const journalOwner = Effect.gen(function*() {
  const { apiKey } = yield* Settings.Settings
  const profiles = yield* Profiles
  const byKey = `key ${ImportFolder.digest([Redacted.value(apiKey)])}`
  return yield* profiles.me.pipe(
    Effect.map(({ id, username }) => id !== undefined ? `account ${id}` : username !== undefined ? `username ${username}` : byKey),
    // The code of a missing scope may be newer than this program.
    ClientError.catchCategory("Forbidden",
      (failure) => FailureScope.isAccountRefusal(failure) ? Effect.fail(failure) : Effect.succeed(byKey))
  )
})

/** Removes the journals of imports that this one overwrites in part. */
const removeOverwritten = Effect.fnUntraced(function*(rows: ReadonlyArray<ImportRow>, folder: ImportFolder.ImportFolder) {
  const fs = yield* FileSystem.FileSystem
  for (const path of yield* ImportFolder.otherJournals(folder)) {
    const history = yield* Journal.read(path)
    if (rows.some(({ id }) => history.stateOf(id) !== "open")) yield* fs.remove(path)
  }
})

const noteInPlace = Effect.fnUntraced(function*(rows: number, history: Journal.History) {
  const output = yield* Output
  const since = Option.match(history.last, { onNone: () => "", onSome: (last) => ` since ${DateTime.formatIso(last)}` })
  yield* output.note(
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
  // A plan requires no journal.
  const state = yield* options.dryRun ? Folders.find("XDG_STATE_HOME") : Effect.asSome(Folders.get("XDG_STATE_HOME"))
  const named = options.report === undefined ? undefined : yield* FailureReport.check(options.report, file)
  const isSandbox = yield* EphemeralSandbox
  const beside = yield* besideOf(options, isSandbox)
  const rows = yield* ImportFile.read(kind, { ...options, json: output.json })
  if (Option.isNone(state)) return yield* printPlan(kind, rows, Journal.emptyHistory)
  const folder = ImportFolder.of(state.value, { kind, rows, baseUrl, account: yield* journalOwner })
  if (options.dryRun) return yield* printPlan(kind, rows, options.again ? Journal.emptyHistory : yield* Journal.read(folder.journal))

  yield* ImportFolder.lock(folder)
  yield* Effect.ignore(ImportFolder.prune(folder))
  if (options.again) yield* fs.remove(folder.journal, { force: true })
  const journal = yield* Journal.open(folder.journal)
  const inPlace = rows.filter(isInPlace(journal.history)).length
  const counts = ImportRun.makeCounts()
  const report = { kind, folder, named, beside, isKept: !isSandbox }
  /** The file with the failed rows. */
  let saved: string | undefined
  const result = () => ImportResult.make(kind, rows.length, inPlace, counts, saved)
  const saveFailures = Effect.suspend(() =>
    counts.failed.length === 0
      ? Effect.ignore(FailureReport.remove(report))
      : Effect.map(FailureReport.save(report, counts.failed), (path) => {
        saved = path
      })
  )
  const reportInterruption = Effect.suspend(() =>
    output.json ? output.value(result()) : output.note(ImportResult.howToContinue(result(), counts))
  )

  if (inPlace === rows.length) yield* noteInPlace(rows.length, journal.history)
  else {
    if (kind.overwrites) yield* removeOverwritten(rows, folder)
    yield* Effect.flatMap(
      ImportProgress.show(kind.name, rows.length - inPlace, counts),
      (onRow) => ImportRun.run({ rows, journal, counts, onRow, concurrency: options.concurrency })
    ).pipe(
      // Removes the bar before other output.
      Effect.scoped,
      Effect.tapError(() => saveFailures),
      Effect.mapError((cause) =>
        new Explained({ cause, explanation: ImportResult.howToContinue(result(), counts), details: { ...result() } })
      ),
      Effect.onInterrupt(() => Effect.ignore(Effect.andThen(saveFailures, reportInterruption)))
    )
  }
  yield* saveFailures
  yield* output.done(result(), ImportResult.toText(result()))
  const failure = ImportResult.failureOf(result(), counts)
  if (failure !== undefined) return yield* failure
}, Effect.scoped)
