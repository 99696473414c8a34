/**
 * What the program is told of its source, by options and by the environment. Knows nothing of how a source is read.
 *
 * @since 0.1.0
 */
import * as Format from "@plaza/rows/Format"
import type { UsageError } from "@plaza/terminal/Problem"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { checked, durationOf, type Given, given, resolve, shareOf, withDefault, wrong } from "./Settings.js"
import type { SourceOptions } from "./Source/Open.js"

/**
 * The options of every command that reads a source.
 *
 * @since 0.1.0
 * @category options
 */
export const options = {
  source: given(
    "source",
    "STOCK_SYNC_SOURCE",
    "What tells the stock: a file, - for standard input, or an address that begins with http:, https:, postgres:, mysql: or sqlite:."
  ),
  format: given("format", "STOCK_SYNC_FORMAT", "csv, json or ndjson; found out by the ending or the content type unless told."),
  idColumn: given("id-column", "STOCK_SYNC_ID_COLUMN", "The column that names the product; productId unless told."),
  stockColumn: given("stock-column", "STOCK_SYNC_STOCK_COLUMN", "The column that tells its stock; stock unless told."),
  delimiter: given("delimiter", "STOCK_SYNC_DELIMITER", "What parts the columns of CSV, a character or tab; found out from the header unless told."),
  items: given("items", "STOCK_SYNC_ITEMS", "Where the array stands in a JSON document, as result.items; the document itself or its data unless told."),
  query: given("query", "STOCK_SYNC_QUERY", "What a database is asked: a SELECT that gives the two columns."),
  sourceTimeout: given("source-timeout", "STOCK_SYNC_SOURCE_TIMEOUT", "For how long an address or a database may be silent; \"30 seconds\" unless told."),
  maxBadRows: given(
    "max-bad-rows",
    "STOCK_SYNC_MAX_BAD_ROWS",
    "The share of bad rows beyond which nothing is taken, as 5%; 20%, and more than 10 rows, unless told."
  )
}

type Told = Readonly<Record<keyof typeof options, Given>>

/**
 * What is read, and how.
 *
 * @since 0.1.0
 * @category resolving
 */
export const resolveSource = (told: Told): Effect.Effect<SourceOptions, UsageError | ConfigError.ConfigError> =>
  Effect.gen(function*() {
    const found = yield* resolve(told.source, "STOCK_SYNC_SOURCE")
    if (Option.isNone(found)) {
      return yield* wrong("there is no source: name a file, - for standard input, or an address, with --source or STOCK_SYNC_SOURCE")
    }
    const idColumn = yield* withDefault(told.idColumn, "STOCK_SYNC_ID_COLUMN", "productId")
    const stockColumn = yield* withDefault(told.stockColumn, "STOCK_SYNC_STOCK_COLUMN", "stock")
    if (idColumn === stockColumn) {
      return yield* wrong(
        `the id and the stock can't both come from the column "${idColumn}": change --id-column (STOCK_SYNC_ID_COLUMN) or ` +
          "--stock-column (STOCK_SYNC_STOCK_COLUMN)"
      )
    }
    return {
      source: found.value,
      idColumn,
      stockColumn,
      format: yield* checked(resolve(told.format, "STOCK_SYNC_FORMAT"), formatOf, "is neither csv, json nor ndjson", "format"),
      delimiter: yield* checked(resolve(told.delimiter, "STOCK_SYNC_DELIMITER"), delimiterOf, "is neither one character nor tab", "delimiter"),
      items: yield* checked(resolve(told.items, "STOCK_SYNC_ITEMS"), itemsOf, "is no list of names parted by dots", "items"),
      query: Option.getOrUndefined(yield* resolve(told.query, "STOCK_SYNC_QUERY")),
      authorization: yield* authorization,
      patience: (yield* checked(
        resolve(told.sourceTimeout, "STOCK_SYNC_SOURCE_TIMEOUT"),
        durationOf,
        "is no time such as \"30 seconds\"",
        "source-timeout"
      )) ?? Duration.seconds(30),
      maxBadRows: yield* checked(resolve(told.maxBadRows, "STOCK_SYNC_MAX_BAD_ROWS"), shareOf, "is no share such as 5%", "max-bad-rows")
    }
  })

const formatOf = (text: string) => Option.fromNullable(Format.all.find((format) => format === text.toLowerCase()))

const delimiterOf = (text: string) =>
  text.toLowerCase() === "tab" || text === "\\t" ? Option.some("\t") : /^[^"\r\n]$/u.test(text) ? Option.some(text) : Option.none()

// A star would be any name to the parser.
const itemsOf = (text: string) => /^[^.*]+(\.[^.*]+)*$/.test(text) ? Option.some(text) : Option.none()

/** A variable alone: what stands in an option can be read by everyone on the machine. Nothing of it is ever told. */
const authorization: Effect.Effect<Redacted.Redacted | undefined, ConfigError.ConfigError> = Effect.flatMap(
  Config.option(Config.string("STOCK_SYNC_SOURCE_AUTHORIZATION")),
  (told) => {
    const text = Option.getOrElse(told, () => "").trim()
    if (text === "") return Effect.succeed(undefined)
    return /^[\x20-\x7e]+$/.test(text)
      ? Effect.succeed(Redacted.make(text))
      : Effect.fail(ConfigError.InvalidData(["STOCK_SYNC_SOURCE_AUTHORIZATION"], "It holds characters that no header can carry"))
  }
)
