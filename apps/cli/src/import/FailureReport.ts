/** The failure report of an import: the failed rows with their reasons, as a file that can be imported again. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as FileProblem from "@plaza/cli-kit/FileProblem"
import { oneLine } from "@plaza/cli-kit/Text"
import * as Format from "@plaza/tabular/Format"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import * as Path from "node:path"
import * as OutputFile from "../OutputFile.ts"
import { digest, type ImportFolder } from "./ImportFolder.ts"
import { type Failure, type ImportKind, type ImportRow, reasonOf } from "./ImportRow.ts"

export interface FailedRow {
  readonly row: ImportRow
  readonly failure: Failure
}

/** Where the report is. */
export interface Saved {
  /** Undefined if it could not be written anywhere. */
  readonly path: string | undefined
  /** Why it is not where the user expects it. */
  readonly problems: ReadonlyArray<string>
}

export interface Options {
  readonly kind: ImportKind
  readonly folder: ImportFolder
  /** The path that the user names. */
  readonly named: string | undefined
  /** The path beside the imported file; undefined for a pipe. */
  readonly beside: string | undefined
  /** Whether the folder of the journal stays. That of a sandbox is removed at the end. */
  readonly isKept: boolean
}

const cell = (text: string): string => /[",\r\n;\t|]|^\s|\s$/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text

// Spreadsheets take such a text for a formula. The cells of the row are the user's own, so they stay as they are.
const withoutFormula = (text: string): string => text.replace(/^(?=[=+\-@])/, "'")

/** The rows in the order of their lines, in the format of the path's extension. */
const contentOf = (path: string, { columns }: ImportKind, failed: ReadonlyArray<FailedRow>): string => {
  const format = Format.ofName(path)
  const head = [...columns, "code", "reason"]
  const rows = failed.toSorted((one, other) => one.row.line - other.row.line).map(({ failure, row }) => {
    const code = "code" in failure && failure.code !== undefined ? failure.code : failure._tag
    const added = [code, reasonOf(failure)].map(oneLine)
    return [...row.cells, ...(format === "csv" ? added.map(withoutFormula) : added)]
  })
  if (format === "csv") return [head, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("")
  const objects = rows.map((row) => JSON.stringify(Object.fromEntries(head.map((column, index) => [column, row[index]]))))
  return format === "json" ? `[\n${objects.join(",\n")}\n]\n` : `${objects.join("\n")}\n`
}

/** The report beside an imported file: `stock.failed.csv` of `stock.csv` and of `stock.json.gz`. */
export const besideOf = (file: string): string => `${file.replace(/(?<=[^\\/])(\.\w+)?(\.gz)?$/i, "")}.failed.csv`

/** Checks the report that a user names, before anything is sent. Returns its absolute path. */
export const check = Effect.fnUntraced(function*(report: string, file: string) {
  yield* OutputFile.check("--report", report)
  if ((yield* OutputFile.target(report)) === (yield* OutputFile.target(file))) {
    return yield* new UsageError({ message: `--report would overwrite the imported file ${file}: use another file` })
  }
  if (Format.ofName(report) === "xlsx") {
    return yield* new UsageError({ message: "--report can't write an Excel workbook: use a name that ends in .csv, .json or .ndjson" })
  }
  return Path.resolve(report)
})

/**
 * Writes the failed rows to the named file, else beside the imported one, else beside the journal. Without failed rows, removes the reports
 * of earlier runs. A file that the user named, wrote or changed stays.
 */
export const save = Effect.fnUntraced(function*({ beside, folder, isKept, kind, named }: Options, failed: ReadonlyArray<FailedRow>) {
  const fs = yield* FileSystem.FileSystem
  // Shows whether somebody changed the report at a path since. All imports of an account share it.
  const digestPath = (path: string) => Path.join(folder.folder, `${digest([path])}.digest`)
  const isOwn = (path: string) =>
    Effect.orElseSucceed(
      Effect.zipWith(fs.readFileString(digestPath(path)), fs.readFileString(path), (known, text) => known === digest([text])),
      () => false
    )

  if (failed.length === 0) {
    yield* Effect.ignore(fs.remove(folder.report, { force: true }))
    if (beside !== undefined && (yield* isOwn(beside)))
      yield* Effect.ignore(Effect.andThen(fs.remove(beside), fs.remove(digestPath(beside))))
    return undefined
  }

  const write = (path: string) =>
    Effect.mapError(OutputFile.replace(path, contentOf(path, kind, failed)), (error) =>
      `${path} can't be written: ${FileProblem.wordsOf(error)}`)
  const writeBeside = Effect.fnUntraced(function*(path: string) {
    const exists = yield* Effect.orElseSucceed(fs.exists(path), () => false)
    if (exists && !(yield* isOwn(path))) return yield* Effect.fail(`${path} was written or changed by somebody else`)
    yield* write(path)
    yield* Effect.ignore(fs.writeFileString(digestPath(path), digest([contentOf(path, kind, failed)])))
  })
  const places = [
    ...(named === undefined ? [] : [[named, write] as const]),
    ...(beside === undefined ? [] : [[beside, writeBeside] as const]),
    ...(isKept ? [[folder.report, write] as const] : [])
  ]
  const problems = named === undefined && beside === undefined ? ["a pipe has no folder"] : []
  for (const [path, write] of places) {
    const written = yield* Effect.result(write(path))
    if (Result.isSuccess(written)) return { path, problems } satisfies Saved
    problems.push(written.failure)
  }
  return { path: undefined, problems } satisfies Saved
})
