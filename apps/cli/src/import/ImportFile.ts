/** Reads and validates all rows of a file. Reports every rejected row. */
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import * as InputFile from "@plaza/cli-kit/InputFile"
import { Streams } from "@plaza/cli-kit/Streams"
import * as Text from "@plaza/cli-kit/Text"
import * as Format from "@plaza/tabular/Format"
import { quoted } from "@plaza/tabular/Quoted"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ImportKind, ImportRow, RejectedRow } from "./ImportRow.ts"

export interface Options {
  /** A path, or `-` for standard input. */
  readonly file: string
  /** The format (default: by the file's extension, else CSV). */
  readonly format: Format.Format | undefined
  readonly delimiter: string | undefined
  /** Reports rejected rows in the failure, as JSON. */
  readonly json: boolean
}

/** The rejected rows, with duplicates, in the order of the file. */
const rejectedRows = (rows: ReadonlyArray<ImportRow | RejectedRow>, column: string): ReadonlyArray<RejectedRow> => {
  const first = new Map<string, number>()
  return rows.flatMap((row) => {
    if (row._tag === "Rejected") return [row]
    const earlier = first.get(row.id)
    if (earlier === undefined) {
      first.set(row.id, row.line)
      return []
    }
    const reason = `${column} ${quoted(row.id)} is also on line ${earlier}: keep one of them`
    return [{ _tag: "Rejected" as const, line: row.line, reason }]
  })
}

/** Prints one line per rejected row, or lists them in the JSON of the failure. */
const reject = ({ file, json }: Options, rows: number, rejected: ReadonlyArray<RejectedRow>) =>
  Effect.gen(function*() {
    const { stderr } = yield* Streams
    const name = InputFile.nameOf(file)
    const lines = rejected.map(({ line, reason }) => Text.visible(`${name}, line ${line}: ${reason}\n`)).join("")
    if (!json) yield* Effect.ignore(stderr.write(lines))
    const count = rows === 1 ? "its only row is" : `${rejected.length} of its ${rows} rows ${rejected.length === 1 ? "is" : "are"}`
    return yield* new Explained({
      cause: new UsageError({ message: `${name} can't be imported: ${count} invalid; nothing was sent` }),
      explanation: "Correct the listed rows and run the command again.",
      details: { file, rows: rejected.map(({ line, reason }) => ({ line, reason })) }
    })
  })

/** Reads the rows of a file, once. Fails if a row is invalid. */
export const read = Effect.fnUntraced(function*(kind: ImportKind, options: Options) {
  const { delimiter, file, format = Format.ofName(file) } = options
  const decode = kind.decode(format, { source: InputFile.nameOf(file), delimiter, formatOption: "--format" })
  const rows = yield* Stream.runCollect(decode(InputFile.bytes(file)))
  const rejected = rejectedRows(rows, kind.columns[0])
  return rejected.length === 0 ? rows.filter((row) => row._tag === "Valid") : yield* reject(options, rows.length, rejected)
})
