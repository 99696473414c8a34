/** Runs an import: validates the whole file, opens its journal, sends the rows and reports the result. */
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import * as InputFile from "@plaza/cli-kit/InputFile"
import { Output } from "@plaza/cli-kit/Output"
import { Streams } from "@plaza/cli-kit/Streams"
import * as Text from "@plaza/cli-kit/Text"
import { ClientError, FailureScope, Profiles, Settings } from "@plaza/client"
import * as Format from "@plaza/tabular/Format"
import { quoted } from "@plaza/tabular/Quoted"
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
import * as ImportFolder from "./ImportFolder.ts"
import * as ImportProgress from "./ImportProgress.ts"
import * as ImportResult from "./ImportResult.ts"
import type { ImportKind, ImportRow, RejectedRow } from "./ImportRow.ts"
import * as ImportRun from "./ImportRun.ts"
import * as Journal from "./Journal.ts"

export interface Options {
  /** A path, or `-` for standard input. */
  readonly file: string
  /** The format (default: by the file's extension, else CSV). */
  readonly format: Option.Option<Format.Format>
  readonly delimiter: Option.Option<string>
  /** The sheet of a workbook. */
  readonly sheet: Option.Option<string>
  /** Sends nothing; prints the rows that would be sent. */
  readonly dryRun: boolean
  /** Ignores the journal of earlier runs. */
  readonly again: boolean
  /** The file for failed rows (default: beside the imported file; for a pipe beside the journal). */
  readonly report: Option.Option<string>
  readonly concurrency: number
}

/** The rejected rows, with duplicates, in the order of the file. */
const rejectedRows = (
  rows: ReadonlyArray<ImportRow | RejectedRow>,
  column: string,
  unit: "line" | "row"
): ReadonlyArray<RejectedRow> => {
  const first = new Map<string, number>()
  return rows.flatMap((row) => {
    if (row._tag === "Rejected") return [row]
    const earlier = first.get(row.id)
    if (earlier === undefined) {
      first.set(row.id, row.line)
      return []
    }
    const reason = `${column} ${quoted(row.id)} is also ${unit === "row" ? "in row" : "on line"} ${earlier}: keep one of them`
    return [{ _tag: "Rejected" as const, line: row.line, reason }]
  })
}

/** Reads and validates all rows of a file, once. Prints one line per rejected row, or lists them in the JSON of the failure. */
const read = Effect.fnUntraced(function*(kind: ImportKind, { delimiter, file, format: named, sheet }: Options) {
  const output = yield* Output
  const { stderr } = yield* Streams
  const name = InputFile.nameOf(file)
  const format = Option.getOrElse(named, () => Format.ofName(file))
  const decode = kind.decode(format, {
    source: name,
    delimiter: Option.getOrUndefined(delimiter),
    formatOption: "--format",
    sheet: Option.getOrUndefined(sheet),
    sheetOption: "--sheet"
  })
  const rows = yield* Stream.runCollect(decode(InputFile.bytes(file)))
  const unit = format === "xlsx" ? "row" : "line"
  const rejected = rejectedRows(rows, kind.columns[0], unit)
  if (rejected.length === 0) return rows.filter((row) => row._tag === "Valid")
  const lines = rejected.map(({ line, reason }) => Text.visible(`${name}, ${unit} ${line}: ${reason}\n`)).join("")
  if (!output.json) yield* Effect.ignore(stderr.write(lines))
  const which = rows.length === 1
    ? "its only row is"
    : `${rejected.length} of its ${rows.length} rows ${rejected.length === 1 ? "is" : "are"}`
  return yield* new Explained({
    cause: new UsageError({ message: `${name} can't be imported: ${which} invalid; nothing was sent` }),
    explanation: "Correct the listed rows and run the command again.",
    details: { file, rows: rejected.map(({ line, reason }) => ({ line, reason })) }
  })
})

/** The place of the failure report beside the imported file; undefined for a pipe. The state folder of a sandbox is removed at the end. */
const besideOf = Effect.fnUntraced(function*({ name }: ImportKind, file: string, isSandbox: boolean) {
  if (file !== "-" && (yield* InputFile.kindOf(file)) === "file") return FailureReport.besideOf(Path.resolve(file))
  return isSandbox ? yield* Effect.orElseSucceed(Effect.try(() => Path.resolve(`${name}.failed.csv`)), () => undefined) : undefined
})

const isInPlace = (history: Journal.History) => ({ id }: ImportRow): boolean => history.stateOf(id) === "inPlace"

/** Prints the rows that would be sent. `owner` is the process whose import is running. */
const printPlan = Effect.fnUntraced(function*(
  { columns, name }: ImportKind,
  rows: ReadonlyArray<ImportRow>,
  history: Journal.History,
  owner: Option.Option<string>
) {
  const output = yield* Output
  const pending = rows.filter((row) => !isInPlace(history)(row))
  const inPlace = rows.length - pending.length
  const doubtful = pending.filter(({ id }) => history.stateOf(id) === "doubtful").length
  if (output.json) {
    const send = pending.map(({ cells }) => Object.fromEntries(columns.map((column, index) => [column, cells[index]])))
    return yield* output.value({ import: name, dryRun: true, rows: rows.length, inPlace, doubtful, isRunning: Option.isSome(owner), send })
  }
  // The note says that no row would be sent.
  yield* output.list(Stream.fromIterable(pending), columns.map((head) => ({ head })), ({ cells }) => cells, { empty: undefined })
  const since = Option.isSome(owner) ? "" : " since an earlier run"
  yield* output.note([
    `${pending.length} of ${Text.count(rows.length, "row")} would be sent. ${inPlace} ${inPlace === 1 ? "is" : "are"} in place${since}.`,
    ...(doubtful === 0 ? [] : [`The outcome of ${Text.count(doubtful, "row")} is unknown${since}.`]),
    ...Option.toArray(Option.map(owner, (owner) => `An import is running (${owner}), which may be sending rows of this file.`))
  ].join(" "))
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
export const run = Effect.fn("Import.run")(function*(kind: ImportKind, options: Options) {
  const { file } = options
  const fs = yield* FileSystem.FileSystem
  const output = yield* Output
  const { baseUrl } = yield* Settings.Settings
  // A plan requires no journal.
  const state = yield* options.dryRun ? Folders.find("XDG_STATE_HOME") : Effect.asSome(Folders.get("XDG_STATE_HOME"))
  const named = Option.isNone(options.report) ? undefined : yield* FailureReport.check(options.report.value, file)
  const isSandbox = yield* EphemeralSandbox
  const beside = yield* besideOf(kind, file, isSandbox)
  const rows = yield* read(kind, options)
  if (Option.isNone(state)) return yield* printPlan(kind, rows, Journal.emptyHistory, Option.none())
  const folder = ImportFolder.of(state.value, baseUrl, yield* journalOwner, kind, rows)
  if (options.dryRun) {
    const owner = yield* ImportFolder.owner(folder)
    return yield* printPlan(kind, rows, options.again ? Journal.emptyHistory : yield* Journal.read(folder.journal), owner)
  }

  yield* ImportFolder.lock(folder)
  yield* Effect.ignore(ImportFolder.prune(folder))
  if (options.again) yield* fs.remove(folder.journal, { force: true })
  const journal = yield* Journal.open(folder.journal)
  const inPlace = rows.filter(isInPlace(journal.history)).length
  const counts = ImportRun.makeCounts()
  const report = { kind, folder, named, beside, isKept: !isSandbox }
  /** Where the failed rows are, if there are any. */
  let saved: FailureReport.Saved | undefined
  const result = () => ImportResult.make(kind, rows.length, inPlace, counts, saved)
  const saveFailures = Effect.map(Effect.suspend(() => FailureReport.save(report, counts.failed)), (written) => {
    saved = written
  })
  const reportInterruption = Effect.suspend(() =>
    output.json ? output.value(result()) : output.note(ImportResult.howToContinue(result(), counts, saved))
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
        new Explained({ cause, explanation: ImportResult.howToContinue(result(), counts, saved), details: { ...result() } })
      ),
      Effect.onInterrupt(() => Effect.ignore(Effect.andThen(saveFailures, reportInterruption)))
    )
  }
  yield* saveFailures
  yield* output.done(result(), ImportResult.toText(result()))
  const failure = ImportResult.failureOf(result(), counts, saved)
  if (failure !== undefined) return yield* failure
}, Effect.scoped)
