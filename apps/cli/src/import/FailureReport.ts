/** The failure report of an import: the failed rows with their reasons, as a file that can be imported again. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { oneLine } from "@plaza/cli-kit/Text"
import * as Format from "@plaza/tabular/Format"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "node:path"
import * as OutputFile from "../OutputFile.ts"
import { digest, type ImportFolder } from "./ImportFolder.ts"
import { type Failure, type ImportKind, type ImportRow, reasonOf } from "./ImportRow.ts"

export interface FailedRow {
  readonly row: ImportRow
  readonly failure: Failure
}

const cell = (text: string): string => /[",\r\n;\t|]|^\s|\s$/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text
const csv = (rows: ReadonlyArray<ReadonlyArray<string>>): string => rows.map((row) => `${row.map(cell).join(",")}\n`).join("")

const columnsOf = (kind: ImportKind) => [...kind.columns, "code", "reason"]

const format = (fileFormat: Format.Format, columns: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const objects = () => rows.map((row) => JSON.stringify(Object.fromEntries(columns.map((column, index) => [column, row[index]]))))
  switch (fileFormat) {
    case "csv":
      return csv([columns, ...rows])
    case "json":
      return `[\n${objects().join(",\n")}\n]\n`
    case "ndjson":
      return `${objects().join("\n")}\n`
  }
}

/** The report beside an imported file: `stock.failed.csv` of `stock.csv` and of `stock.json.gz`. */
export const besideOf = (file: string): string => `${file.replace(/(?<=[^\\/])(\.\w+)?(\.gz)?$/i, "")}.failed.csv`

/** Checks the report that a user names, before anything is sent. Returns its absolute path. */
export const check = Effect.fnUntraced(function*(report: string, file: string) {
  const fs = yield* FileSystem.FileSystem
  const real = yield* Effect.option(Effect.forEach([report, file], fs.realPath))
  if (Option.exists(real, ([one, other]) => one === other)) {
    return yield* new UsageError({ message: `--report would overwrite the imported file ${file}: use another file` })
  }
  yield* OutputFile.check("--report", report)
  return Path.resolve(report)
})

/** The rows in the order of their lines, in the format of the path's extension. */
const contentOf = (path: string, kind: ImportKind, failed: ReadonlyArray<FailedRow>): string => {
  const rows = failed.toSorted((one, other) => one.row.line - other.row.line).map(({ failure, row }) => {
    const code = "code" in failure && failure.code !== undefined ? failure.code : failure._tag
    return [...row.cells, ...[code, reasonOf(failure)].map(oneLine)]
  })
  return format(Format.ofName(path), columnsOf(kind), rows)
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

/** The file with the digest of the report at a path, which shows whether somebody changed it since. All imports of an account share it. */
const digestPathOf = ({ folder }: Options, path: string): string => Path.join(folder.folder, `${digest([path])}.digest`)

/** Whether the file at a path is the report that an import wrote there. */
const isOwnReport = (options: Options, path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return (yield* fs.readFileString(digestPathOf(options, path))) === digest([yield* fs.readFileString(path)])
  })

/** Writes the report beside the imported file, but not over a file that somebody else wrote or changed. */
const saveBeside = (options: Options, path: string, failed: ReadonlyArray<FailedRow>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    if ((yield* fs.exists(path)) && !(yield* isOwnReport(options, path))) return yield* Effect.fail("the file is somebody's")
    const content = contentOf(path, options.kind, failed)
    yield* fs.writeFileString(path, content)
    yield* fs.writeFileString(digestPathOf(options, path), digest([content]))
    return path
  })

/** Writes the failed rows to the named file, else beside the imported one, else beside the journal. Returns the path; undefined if none works. */
export const save = (options: Options, failed: ReadonlyArray<FailedRow>) =>
  Effect.gen(function*() {
    const { beside, folder, isKept, kind, named } = options
    const fs = yield* FileSystem.FileSystem
    const write = (path: string) => Effect.as(fs.writeFileString(path, contentOf(path, kind, failed)), path)
    const places = [
      ...(named === undefined ? [] : [write(named)]),
      ...(beside === undefined ? [] : [saveBeside(options, beside, failed)]),
      ...(isKept ? [write(folder.report)] : [])
    ]
    return yield* Effect.firstSuccessOf([...places, Effect.succeed(undefined)])
  })

/** Removes the reports of earlier runs, whose rows are confirmed now. A file that the user named or changed stays. */
export const remove = (options: Options) =>
  Effect.gen(function*() {
    const { beside, folder } = options
    const fs = yield* FileSystem.FileSystem
    yield* fs.remove(folder.report, { force: true })
    if (beside === undefined) return
    const isOwn = yield* isOwnReport(options, beside)
    yield* fs.remove(digestPathOf(options, beside))
    if (isOwn) yield* fs.remove(beside)
  })
