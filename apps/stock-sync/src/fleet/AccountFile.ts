/**
 * Reads accounts from CSV: the columns `id`, `baseUrl`, `key` and `source`, and a column for each option, by its name. Decodes gzip and
 * UTF-16, and runs in constant memory.
 */
import { nearest } from "@plaza/cli-kit/CommandLine"
import * as InputFile from "@plaza/cli-kit/InputFile"
import * as CellText from "@plaza/tabular/CellText"
import * as Csv from "@plaza/tabular/Csv"
import * as Gzip from "@plaza/tabular/Gzip"
import { quoted } from "@plaza/tabular/Quoted"
import type { RowSchema } from "@plaza/tabular/RowSchema"
import * as SourceError from "@plaza/tabular/SourceError"
import * as StreamingParser from "@plaza/tabular/StreamingParser"
import * as Utf8 from "@plaza/tabular/Utf8"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import { complaint, isFamiliar } from "./AccountOptionNames.ts"
import type { WrittenAccount } from "./AccountOptions.ts"

export type Row =
  | { readonly _tag: "Valid"; readonly line: number; readonly account: WrittenAccount }
  | { readonly _tag: "Rejected"; readonly line: number; readonly reason: string }

const required = ["id", "baseUrl", "key", "source"] as const

/** The columns of options in a header, or why the header is invalid. A misspelt option must not be ignored. */
const optionsOf = (header: string): Result.Result<ReadonlyArray<string>, string> => {
  const names = header.split(/[,;\t|]/).map((name) => CellText.trim(CellText.trim(name).replace(/^"(.*)"$/, "$1")))
  const options = names.filter((name) => name !== "" && !required.some((column) => column.toLowerCase() === name.toLowerCase()))
  const missing = required.find((column) => !names.some((name) => column.toLowerCase() === name.toLowerCase()))
  for (const name of options) {
    const meant = nearest(name, required)
    if (meant !== undefined) return Result.fail(`there is no column ${quoted(name)}: did you mean ${meant}?`)
    // In a file without a header this may be a key.
    if (!isFamiliar(name)) {
      return Result.fail(
        missing === undefined
          ? `column ${
            names.indexOf(name) + 1
          } is not an option of an account: see plaza-stock-sync fleet accounts add --help for the options`
          : `there is no column ${quoted(missing)}: the first line must have the names of the columns`
      )
    }
    const wrong = complaint(name)
    if (Option.isSome(wrong)) return Result.fail(wrong.value)
  }
  return Result.succeed(options)
}

const schemaOf = (options: ReadonlyArray<string>): RowSchema<Row> => {
  const [first, ...rest] = required
  const reject = (line: number, reason: string): Row => ({ _tag: "Rejected", line, reason })
  return {
    columns: [{ name: first }, ...[...rest, ...options].map((name) => ({ name }))],
    empty: undefined,
    hidesHeader: true,
    reject: (line, _, reason) => reject(line, reason),
    decode: (line, values) => {
      const [id = "", baseUrl = "", key = "", source = "", ...texts] = values.map((value) => CellText.trim(String(value)))
      if (values.some((value) => String(value).includes("\uFFFD"))) return reject(line, "it is not UTF-8: save the file in UTF-8")
      return {
        _tag: "Valid",
        line,
        account: { id, baseUrl, key, source, options: Object.fromEntries(options.map((name, index) => [name, texts[index] ?? ""])) }
      }
    }
  }
}

// No real header is longer.
const maxHeaderBytes = 65_536

/** The first complete line with names. Excel may write a line such as `sep=;` above it. */
const headerOf = (head: string): string | undefined =>
  head.split(/\r\n|\r|\n/).slice(0, -1).find((line) => line.trim() !== "" && !/^"?sep=/i.test(line.trim()))

/** Takes bytes until the header is complete. */
const head = Sink.fold(
  () => Buffer.alloc(0),
  (head) => headerOf(head.toString("utf8")) === undefined && head.length < maxHeaderBytes,
  (head, chunk: Uint8Array) => Effect.succeed(Buffer.concat([head, chunk]))
)

export const read = (file: string): Stream.Stream<Row, PlatformError | SourceError.SourceError, FileSystem.FileSystem> => {
  const source = InputFile.nameOf(file)
  const text = InputFile.bytes(file).pipe(
    StreamingParser.rechunk(Gzip.chunkSize),
    StreamingParser.decode(() => Gzip.parser(source)),
    StreamingParser.decode(() => Utf8.parser(source))
  )
  return Stream.unwrap(Effect.gen(function*() {
    const [first, rest] = yield* Stream.peel(text, head)
    const options = optionsOf(headerOf(`${first.toString("utf8")}\n`) ?? "")
    return Result.isFailure(options)
      ? yield* SourceError.content(source, options.failure, 1)
      : Csv.rows(schemaOf(options.success), { source })(Stream.concat(Stream.make(first), rest))
  }))
}
