/** Reads and validates all rows of a file. Reports every invalid row; then nothing is sent. */
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
import type { BadItem, Item, Kind } from "./Item.js"

export interface Options {
  /** A path, or `-` for standard input. */
  readonly file: string
  /** The format (default: by the file's extension, else CSV). */
  readonly format: Format.Format | undefined
  readonly delimiter: string | undefined
  /** Reports the failure as JSON with all invalid rows. */
  readonly json: boolean
}

/** The name of the file for messages. */
export const nameOf = (file: string): string => file === "-" ? "standard input" : file

const bytesOf = (file: string): Stream.Stream<Uint8Array, PlatformError, FileSystem.FileSystem> =>
  file === "-"
    // What breaks there is the other end of a pipe, and there is no sentence for that.
    ? Stream.orDie(NodeStream.stdin)
    : Stream.unwrap(Effect.map(FileSystem.FileSystem, (fs) => fs.stream(file)))

/** Which rows can't be sent, in the order of the file. */
const complaints = (rows: ReadonlyArray<Item | BadItem>, column: string): ReadonlyArray<BadItem> => {
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
      reason: `${column} ${quoted(row.id)} occurs on line ${earlier} already, so it is unclear which row is right`
    }]
  })
}

/** For people, each on a line of its own; for programs, all of them in the failure. */
const refuse = (options: Options, rows: number, bad: ReadonlyArray<BadItem>) =>
  Effect.gen(function*() {
    const { stderr } = yield* Streams
    const lines = bad.map(({ line, reason }) => Text.visible(`${nameOf(options.file)}, line ${line}: ${reason}\n`)).join("")
    if (!options.json) yield* Effect.ignore(stderr.write(lines))
    const which = rows === 1 ? "its only row" : `${bad.length} of its ${rows} rows`
    return yield* new Explained({
      cause: new UsageError({ message: `${nameOf(options.file)} can't be imported: ${which} can't be used, and nothing was sent` }),
      advice: "Correct the listed rows and run this again.",
      details: { file: options.file, rows: bad.map(({ line, reason }) => ({ line, reason })) }
    })
  })

/** Reads the rows of a file. */
export const items = (
  kind: Kind,
  options: Options
): Effect.Effect<ReadonlyArray<Item>, SourceError | PlatformError | Explained, FileSystem.FileSystem | Streams> =>
  Effect.gen(function*() {
    const { delimiter, file } = options
    const rows: Array<Item | BadItem> = []
    yield* Stream.runForEach(
      kind.read(options.format ?? Format.ofName(file), { source: nameOf(file), delimiter, formatOption: "--format" })(bytesOf(file)),
      (row) => Effect.sync(() => rows.push(row))
    )
    const bad = complaints(rows, kind.columns[0])
    return bad.length === 0 ? rows.filter((row) => row._tag === "Valid") : yield* refuse(options, rows.length, bad)
  })
