/** Reads the CSV file of product rules: a column `id`, and any of `productId`, `buffer`, `max` and `exclude`. */
import { ProductId } from "@plaza-legacy/domain/Ids"
import * as Csv from "@plaza-legacy/tabular/Csv"
import * as Identity from "@plaza-legacy/tabular/Identity"
import type { RowSchema } from "@plaza-legacy/tabular/RowSchema"
import * as SourceError from "@plaza-legacy/tabular/SourceError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ProductRule } from "./ProductRules.ts"

const columns = ["id", "productId", "buffer", "max", "exclude"] as const
type Column = (typeof columns)[number]

type Line =
  | { readonly _tag: "Rule"; readonly line: number; readonly id: string; readonly rule: ProductRule }
  | { readonly _tag: "Wrong"; readonly line: number; readonly reason: string }

const readId = Identity.decoder(ProductId)

const countOf = (column: Column, text: string): Either.Either<number | undefined, string> =>
  text === ""
    ? Either.right(undefined)
    : /^\d{1,15}$/.test(text)
    ? Either.right(Number(text))
    : Either.left(`${column} ${JSON.stringify(text)} is not a whole number, 0 or more`)

const booleans: Readonly<Record<string, boolean>> = { true: true, yes: true, "1": true, false: false, no: false, "0": false, "": false }

const booleanOf = (text: string): Either.Either<boolean, string> =>
  Either.fromNullable(
    Object.hasOwn(booleans, text.toLowerCase()) ? booleans[text.toLowerCase()] : undefined,
    () => `exclude ${JSON.stringify(text)} is none of true, false, yes, no, 1, 0 and empty`
  )

const schemaOf = (named: ReadonlyArray<Column>): RowSchema<Line> => {
  const rest = named.filter((name) => name !== "id")
  const order: ReadonlyArray<Column> = ["id", ...rest]
  const wrong = (line: number, reason: string): Line => ({ _tag: "Wrong", line, reason })
  return {
    columns: [{ name: "id" }, ...rest.map((name) => ({ name }))],
    empty: undefined,
    reject: (line, _, reason) => wrong(line, reason),
    decode: (line, values) => {
      const text = (column: Column) => {
        const value = values[order.indexOf(column)]
        return typeof value === "string" ? value.trim() : ""
      }
      const read = Either.all({
        id: readId("id", text("id")),
        productId: text("productId") === "" ? Either.right(undefined) : readId("productId", text("productId")),
        buffer: countOf("buffer", text("buffer")),
        max: countOf("max", text("max")),
        exclude: booleanOf(text("exclude"))
      })
      return Either.match(read, {
        onLeft: (reason) => wrong(line, reason),
        onRight: ({ id, ...rule }): Line => ({ _tag: "Rule", line, id, rule })
      })
    }
  }
}

/** The columns of a header, or why it is invalid. A misspelled column must not be ignored, because its rules would not apply. */
const columnsOf = (header: string): Either.Either<ReadonlyArray<Column>, string> => {
  const names = header.split(/[,;\t|]/).map((name) => name.trim().replace(/^"(.*)"$/, "$1").trim())
  const unknown = names.find((name) => !columns.some((column) => column === name))
  return unknown === undefined
    ? Either.right(columns.filter((column) => names.includes(column)))
    : Either.left(`unknown column ${JSON.stringify(unknown)}: the columns are ${columns.join(", ")}, of which id is required`)
}

const headerOf = (head: Uint8Array): string => new TextDecoder().decode(head).trimStart().split(/[\r\n]/, 1)[0] ?? ""

/**
 * The rules in the bytes of a file, by the id in the source. Fails at the first mistake, with its line and reason. Runs `bytes` twice.
 */
export const read = <E>(
  path: string,
  bytes: Stream.Stream<Uint8Array, E>
): Effect.Effect<ReadonlyMap<string, ProductRule>, E | SourceError.SourceError> =>
  Effect.gen(function*() {
    const rules = new Map<string, ProductRule>()
    const refuse = (reason: string, line?: number) => Effect.fail(SourceError.content(path, reason, line))
    const head = yield* Stream.runHead(bytes)
    if (Option.isNone(head)) return yield* refuse("it is empty: the first line names the columns, of which id is required")
    const named = columnsOf(headerOf(head.value))
    if (Either.isLeft(named)) return yield* refuse(named.left, 1)
    yield* Stream.runForEach(Csv.rows(schemaOf(named.right), { source: path })(bytes), (line) => {
      if (line._tag === "Wrong") return refuse(line.reason, line.line)
      if (rules.has(line.id)) return refuse(`${JSON.stringify(line.id)} is on an earlier line as well`, line.line)
      rules.set(line.id, line.rule)
      return Effect.void
    })
    return rules
  })
