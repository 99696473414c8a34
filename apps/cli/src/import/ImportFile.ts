/** Reads and validates all rows of a file. Reports every rejected row. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import { Streams } from "@plaza/cli-kit/Streams"
import * as Text from "@plaza/cli-kit/Text"
import * as Format from "@plaza/tabular/Format"
import { quoted } from "@plaza/tabular/Quoted"
import type { SourceError } from "@plaza/tabular/SourceError"
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

/** The name of the file for messages. */
const nameOf = (file: string): string => file === "-" ? "standard input" : file

const bytesOf = (file: string): Stream.Stream<Uint8Array, PlatformError, FileSystem.FileSystem> =>
  file === "-"
    // Only a broken pipe can fail here.
    ? Stream.orDie(NodeStream.stdin)
    : Stream.unwrap(Effect.map(FileSystem.FileSystem, (fs) => fs.stream(file)))

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
    return [{
      _tag: "Rejected" as const,
      line: row.line,
      reason: `${column} ${quoted(row.id)} is also on line ${earlier}: keep one of them`
    }]
  })
}

/** Prints one line per rejected row, or lists them in the JSON of the failure. */
const reject = (options: Options, rows: number, rejected: ReadonlyArray<RejectedRow>) =>
  Effect.gen(function*() {
    const { stderr } = yield* Streams
    const lines = rejected.map(({ line, reason }) => Text.visible(`${nameOf(options.file)}, line ${line}: ${reason}\n`)).join("")
    if (!options.json) yield* Effect.ignore(stderr.write(lines))
    const count = rows === 1 ? "its only row is" : `${rejected.length} of its ${rows} rows ${rejected.length === 1 ? "is" : "are"}`
    return yield* new Explained({
      cause: new UsageError({ message: `${nameOf(options.file)} can't be imported: ${count} invalid; nothing was sent` }),
      explanation: "Correct the listed rows and run the command again.",
      details: { file: options.file, rows: rejected.map(({ line, reason }) => ({ line, reason })) }
    })
  })

/** Reads the rows of a file. Fails if a row is invalid. */
export const read = (
  kind: ImportKind,
  options: Options
): Effect.Effect<ReadonlyArray<ImportRow>, SourceError | PlatformError | Explained, FileSystem.FileSystem | Streams> =>
  Effect.gen(function*() {
    const { delimiter, file } = options
    const rows: Array<ImportRow | RejectedRow> = []
    yield* Stream.runForEach(
      kind.decode(options.format ?? Format.ofName(file), { source: nameOf(file), delimiter, formatOption: "--format" })(bytesOf(file)),
      (row) => Effect.sync(() => rows.push(row))
    )
    const rejected = rejectedRows(rows, kind.columns[0])
    return rejected.length === 0 ? rows.filter((row) => row._tag === "Valid") : yield* reject(options, rows.length, rejected)
  })
