/** Reads the CSV file of product rules: a column `id`, and any of `productId`, `buffer`, `atLeast`, `max` and `exclude`. */
import { ProductId } from "@plaza/domain/Ids"
import * as Csv from "@plaza/tabular/Csv"
import * as Identity from "@plaza/tabular/Identity"
import type { RowSchema } from "@plaza/tabular/RowSchema"
import * as SourceError from "@plaza/tabular/SourceError"
import * as StreamingParser from "@plaza/tabular/StreamingParser"
import * as Utf8 from "@plaza/tabular/Utf8"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as ProductRules from "./ProductRules.ts"

const columns = ["id", "productId", "buffer", "atLeast", "max", "exclude"] as const
type Column = (typeof columns)[number]

interface Line {
  readonly line: number
  /** The id in the source and its rule, or why the line is invalid. */
  readonly content: Result.Result<{ readonly id: string; readonly rule: ProductRules.ProductRule }, string>
}

const readId = Identity.decoder(ProductId)

const countOf = (column: Column, text: string): Result.Result<number | undefined, string> =>
  text === ""
    ? Result.succeed(undefined)
    : /^\d{1,15}$/.test(text)
    ? Result.succeed(Number(text))
    : Result.fail(`${column} ${JSON.stringify(text)} is not a whole number, 0 or more`)

const bufferOf = (text: string) =>
  text === ""
    ? Result.succeed({})
    : Result.fromOption(ProductRules.parseBuffer(text),
      () => `buffer ${JSON.stringify(text)} is neither a whole number, 0 or more, nor a share up to 100%`)

const booleans: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "1"].map((text) => [text, true] as const),
  ...["false", "no", "0", ""].map((text) => [text, false] as const)
])

const booleanOf = (text: string): Result.Result<boolean, string> =>
  Result.fromNullishOr(
    booleans.get(text.toLowerCase()),
    () => `exclude ${JSON.stringify(text)} is none of true, false, yes, no, 1, 0 and empty`
  )

const schemaOf = (named: ReadonlyArray<Column>): RowSchema<Line> => {
  const others = named.filter((name) => name !== "id")
  const order: ReadonlyArray<Column> = ["id", ...others]
  return {
    columns: [{ name: "id" }, ...others.map((name) => ({ name }))],
    empty: undefined,
    reject: (line, _, reason) => ({ line, content: Result.fail(reason) }),
    decode: (line, values) => {
      const text = (column: Column) => {
        const value = values[order.indexOf(column)]
        return typeof value === "string" ? value.trim() : ""
      }
      const read = Result.all({
        id: readId("id", text("id")),
        productId: text("productId") === "" ? Result.succeed(undefined) : readId("productId", text("productId")),
        buffer: bufferOf(text("buffer")),
        atLeast: countOf("atLeast", text("atLeast")),
        max: countOf("max", text("max")),
        exclude: booleanOf(text("exclude"))
      })
      return { line, content: Result.map(read, ({ buffer, id, ...rule }) => ({ id, rule: { ...rule, ...buffer } })) }
    }
  }
}

/** The columns of a header, or why it is invalid. A misspelled column must not be ignored, because its rules would not apply. */
const columnsOf = (header: string): Result.Result<ReadonlyArray<Column>, string> => {
  const names = header.split(/[,;\t|]/).map((name) => name.trim().replace(/^"(.*)"$/, "$1").trim())
  const unknown = names.find((name) => !columns.some((column) => column === name))
  return unknown === undefined
    ? Result.succeed(columns.filter((column) => names.includes(column)))
    : Result.fail(`unknown column ${JSON.stringify(unknown)}: the columns are ${columns.join(", ")}, of which id is required`)
}

// No header is longer.
const maxHeaderBytes = 65_536

/** Takes bytes until the header is complete. */
const untilHeader = Sink.fold(
  () => Buffer.alloc(0),
  (head) => !/\S.*[\r\n]/.test(head.toString("utf8")) && head.length < maxHeaderBytes,
  (head, chunk: Uint8Array) => Effect.succeed(Buffer.concat([head, chunk]))
)

const headerOf = (head: Uint8Array): string => new TextDecoder().decode(head).trimStart().split(/[\r\n]/, 1)[0] ?? ""

/**
 * The rules in the bytes of a file, by the id in the source. Fails at the first mistake, with its line and reason. Runs `bytes` twice.
 */
export const read = Effect.fnUntraced(function*<E>(path: string, bytes: Stream.Stream<Uint8Array, E>) {
  const text = StreamingParser.decode(() => Utf8.parser(path))(bytes)
  const rules = new Map<string, ProductRules.ProductRule>()
  const invalid = (line?: number) => (reason: string) => SourceError.content(path, reason, line)
  const head = yield* Stream.run(text, untilHeader)
  if (head.length === 0) return yield* invalid()("it is empty: the first line names the columns, of which id is required")
  const named = yield* Effect.fromResult(Result.mapError(columnsOf(headerOf(head)), invalid(1)))
  yield* Stream.runForEach(Csv.rows(schemaOf(named), { source: path })(text), ({ content, line }) =>
    Effect.fromResult(content).pipe(
      Effect.filterOrFail(({ id }) => !rules.has(id), ({ id }) => `${JSON.stringify(id)} is on an earlier line as well`),
      Effect.mapBoth({ onFailure: invalid(line), onSuccess: ({ id, rule }) => void rules.set(id, rule) })
    ))
  return rules
})
