/**
 * Reads accounts from CSV: the columns `id`, `baseUrl`, `key` and `source`, and a column for each option, by its name. Decodes gzip and
 * UTF-16, and runs in constant memory.
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { nearest } from "@plaza-legacy/cli-kit/ArgvLexer"
import * as CellText from "@plaza-legacy/tabular/CellText"
import * as Csv from "@plaza-legacy/tabular/Csv"
import * as Gzip from "@plaza-legacy/tabular/Gzip"
import { quoted } from "@plaza-legacy/tabular/Quoted"
import type { RowSchema } from "@plaza-legacy/tabular/RowSchema"
import * as SourceError from "@plaza-legacy/tabular/SourceError"
import * as StreamingParser from "@plaza-legacy/tabular/StreamingParser"
import * as Utf8 from "@plaza-legacy/tabular/Utf8"
import type * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { complaint, isFamiliar } from "./AccountOptionNames.ts"
import type { WrittenAccount } from "./AccountOptions.ts"

export type Row =
  | { readonly _tag: "Valid"; readonly line: number; readonly account: WrittenAccount }
  | { readonly _tag: "Rejected"; readonly line: number; readonly reason: string }

/** The name of a file for messages. */
export const nameOf = (file: string): string => file === "-" ? "standard input" : file

const required = ["id", "baseUrl", "key", "source"] as const

/** The columns of options in a header, or why the header is invalid. A misspelt option must not be ignored. */
const optionsOf = (header: string): Either.Either<ReadonlyArray<string>, string> => {
  const names = header.split(/[,;\t|]/).map((name) => CellText.trim(CellText.trim(name).replace(/^"(.*)"$/, "$1")))
  const options = names.filter((name) => name !== "" && !required.some((column) => column.toLowerCase() === name.toLowerCase()))
  const missing = required.find((column) => !names.some((name) => column.toLowerCase() === name.toLowerCase()))
  for (const name of options) {
    const meant = nearest(name, required)
    if (meant !== undefined) return Either.left(`there is no column ${quoted(name)}: did you mean ${meant}?`)
    // In a file without a header this may be a key.
    if (!isFamiliar(name)) {
      return Either.left(
        missing === undefined
          ? `column ${
            names.indexOf(name) + 1
          } is not an option of an account: see plaza-stock-sync fleet accounts add --help for the options`
          : `there is no column ${quoted(missing)}: the first line must have the names of the columns`
      )
    }
    const wrong = complaint(name)
    if (Option.isSome(wrong)) return Either.left(wrong.value)
  }
  return Either.right(options)
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

const bytesOf = (file: string): Stream.Stream<Uint8Array, PlatformError, FileSystem.FileSystem> =>
  file === "-"
    // Only a broken pipe can fail here.
    ? Stream.orDie(NodeStream.stdin)
    : Stream.unwrap(Effect.map(FileSystem.FileSystem, (files) => files.stream(file)))

// No real header is longer.
const maxHeaderBytes = 65_536

/** The first complete line with names. Excel may write a line such as `sep=;` above it. */
const headerOf = (head: string): string | undefined =>
  head.split(/\r\n|\r|\n/).slice(0, -1).find((line) => line.trim() !== "" && !/^"?sep=/i.test(line.trim()))

/** The line with the names, and all bytes. */
const withHeader = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Effect.Effect<
  { readonly header: string; readonly bytes: Stream.Stream<Uint8Array, E, R> },
  E,
  R | Scope.Scope
> =>
  Effect.gen(function*() {
    const pull = yield* Stream.toPull(bytes)
    const next: Effect.Effect<Option.Option<Chunk.Chunk<Uint8Array>>, E, R> = Effect.catchAll(
      Effect.asSome(pull),
      (end) => Option.isNone(end) ? Effect.succeedNone : Effect.fail(end.value)
    )
    let head = Buffer.alloc(0)
    while (headerOf(head.toString("utf8")) === undefined && head.length < maxHeaderBytes) {
      const chunk = yield* next
      if (Option.isNone(chunk)) break
      head = Buffer.concat([head, ...chunk.value])
    }
    const rest = Stream.unfoldChunkEffect(undefined, () => Effect.map(next, Option.map((chunk) => [chunk, undefined] as const)))
    return {
      header: headerOf(`${head.toString("utf8")}\n`) ?? "",
      bytes: Stream.concat(Stream.make<[Uint8Array]>(head), rest)
    }
  })

export const read = (file: string): Stream.Stream<Row, PlatformError | SourceError.SourceError, FileSystem.FileSystem> => {
  const source = nameOf(file)
  const text = bytesOf(file).pipe(
    StreamingParser.rechunk(Gzip.chunkSize),
    StreamingParser.decode(() => Gzip.parser(source)),
    StreamingParser.decode(() => Utf8.parser(source))
  )
  return Stream.unwrapScoped(Effect.gen(function*() {
    const { bytes, header } = yield* withHeader(text)
    const options = optionsOf(header)
    return Either.isLeft(options)
      ? yield* Effect.fail(SourceError.content(source, options.left, 1))
      : Csv.rows(schemaOf(options.right), { source })(bytes)
  }))
}
