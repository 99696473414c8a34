/** The options and variables that say which source is read and how. */
import type { UsageError } from "@plaza/cli-kit/CliError"
import { Durations } from "@plaza/client"
import * as Format from "@plaza/tabular/Format"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { RuleOptions } from "../source/ApplyRules.js"
import * as RequestHeaders from "../source/http/RequestHeaders.js"
import type { SourceOptions } from "../source/Open.js"
import { checked, durationOf, type Given, given, resolve, shareOf, withDefault, wrong } from "./Settings.js"

/** The options of every command that reads a source. */
export const options = {
  source: given(
    "source",
    "STOCK_SYNC_SOURCE",
    "The source of stock values (required): a file, - for standard input, or an address that begins with http:, https:, postgres:, mysql: or sqlite:. " +
      "Set secret request headers by STOCK_SYNC_SOURCE_AUTHORIZATION and STOCK_SYNC_SOURCE_HEADERS: options are visible to everyone on the machine."
  ),
  format: given("format", "STOCK_SYNC_FORMAT", "csv, json or ndjson (default: by the content type, else by the ending, else csv)."),
  idColumn: given("id-column", "STOCK_SYNC_ID_COLUMN", "The column with the product's id (default: productId)."),
  stockColumn: given("stock-column", "STOCK_SYNC_STOCK_COLUMN", "The column with the product's stock (default: stock)."),
  delimiter: given(
    "delimiter",
    "STOCK_SYNC_DELIMITER",
    "The separator of CSV columns, one character or tab (default: the most frequent of comma, semicolon, tab and bar in the header)."
  ),
  items: given("items", "STOCK_SYNC_ITEMS",
    "The path of the array in a JSON document, such as result.items (default: the document itself or its data)."),
  query: given("query", "STOCK_SYNC_QUERY", "One SELECT that returns the two columns (required for a database)."),
  sourceTimeout: given("source-timeout", "STOCK_SYNC_SOURCE_TIMEOUT",
    "How long an address or a database may be silent (default: 30 seconds)."),
  settle: given("settle", "STOCK_SYNC_SETTLE",
    "How long a file must stay unchanged before it is read; 0s turns the check off (default: 5 seconds)."),
  unfinishedWait: given(
    "unfinished-wait",
    "STOCK_SYNC_UNFINISHED_WAIT",
    "Max wait for an unfinished file. A last line without a line end is accepted after this time; 0s turns the check off (default: 1 minute)."
  ),
  doneMarker: given(
    "done-marker",
    "STOCK_SYNC_DONE_MARKER",
    "A file that the writer creates or touches when the source file is complete. The source file is read only if the marker exists and is not older (default: none)."
  ),
  maxBadRows: given(
    "max-bad-rows",
    "STOCK_SYNC_MAX_BAD_ROWS",
    "A source with a larger share of rejected rows is refused, such as 5% (default: 20%, and more than 10 rows)."
  ),
  buffer: given("buffer", "STOCK_SYNC_BUFFER", "Pieces to subtract from every stock, down to 0 (default: 0)."),
  max: given("max", "STOCK_SYNC_MAX", "The largest stock that is sent for a product (default: no limit)."),
  rules: given("rules", "STOCK_SYNC_RULES",
    "A CSV file with rules for single products: a column id and any of productId, buffer, max and exclude (default: none)."),
  unmapped: given(
    "unmapped",
    "STOCK_SYNC_UNMAPPED",
    "Rows whose id is not in the rules file: pass sends them under their own id, reject rejects them. Use reject if ids of the source are not the store's product ids (default: pass)."
  )
}

type Texts = Readonly<Record<keyof typeof options, Given>>

/** What is read, how, and how much of it may be rejected. */
export interface SourceSettings extends SourceOptions {
  /** The share of rejected rows, 0 to 1, beyond which nothing is taken. */
  readonly maxBadRows: number | undefined
}

/** The source that is read, and how. */
export const resolveSource = (texts: Texts): Effect.Effect<SourceSettings, UsageError | ConfigError.ConfigError> =>
  Effect.gen(function*() {
    const found = yield* resolve(texts.source, "STOCK_SYNC_SOURCE")
    if (Option.isNone(found)) {
      return yield* wrong("there is no source: name a file, - for standard input, or an address, with --source or STOCK_SYNC_SOURCE")
    }
    const idColumn = yield* withDefault(texts.idColumn, "STOCK_SYNC_ID_COLUMN", "productId")
    const stockColumn = yield* withDefault(texts.stockColumn, "STOCK_SYNC_STOCK_COLUMN", "stock")
    if (idColumn === stockColumn) {
      return yield* wrong(
        `the id and the stock can't both come from the column "${idColumn}": change --id-column (STOCK_SYNC_ID_COLUMN) or ` +
          "--stock-column (STOCK_SYNC_STOCK_COLUMN)"
      )
    }
    const time = (option: Given, variable: string, flag: string, read: typeof durationOf) =>
      checked(resolve(option, variable), read, "is not a duration such as 30s", flag)
    return {
      source: found.value,
      idColumn,
      stockColumn,
      format: yield* checked(resolve(texts.format, "STOCK_SYNC_FORMAT"), formatOf, "is neither csv, json nor ndjson", "format"),
      delimiter: yield* checked(resolve(texts.delimiter, "STOCK_SYNC_DELIMITER"), delimiterOf, "is neither one character nor tab",
        "delimiter"),
      items: yield* checked(resolve(texts.items, "STOCK_SYNC_ITEMS"), itemsOf, "is no list of names with dots between them", "items"),
      query: Option.getOrUndefined(yield* resolve(texts.query, "STOCK_SYNC_QUERY")),
      authorization: yield* authorization,
      headers: yield* headers,
      timeout: (yield* time(texts.sourceTimeout, "STOCK_SYNC_SOURCE_TIMEOUT", "source-timeout", durationOf)) ?? Duration.seconds(30),
      settle: yield* time(texts.settle, "STOCK_SYNC_SETTLE", "settle", timeOf),
      unfinishedWait: yield* time(texts.unfinishedWait, "STOCK_SYNC_UNFINISHED_WAIT", "unfinished-wait", timeOf),
      doneMarker: Option.getOrUndefined(yield* resolve(texts.doneMarker, "STOCK_SYNC_DONE_MARKER")),
      maxBadRows: yield* checked(resolve(texts.maxBadRows, "STOCK_SYNC_MAX_BAD_ROWS"), shareOf, "is no share such as 5%", "max-bad-rows"),
      rules: yield* resolveRules(texts)
    }
  })

/** Undefined where no rule is set, so that rows go through as they are. */
const resolveRules = (texts: Texts): Effect.Effect<RuleOptions | undefined, UsageError | ConfigError.ConfigError> =>
  Effect.gen(function*() {
    const count = (option: Given, variable: string, flag: string) =>
      checked(resolve(option, variable), countOf, "is no whole number, 0 or more", flag)
    const buffer = yield* count(texts.buffer, "STOCK_SYNC_BUFFER", "buffer")
    const max = yield* count(texts.max, "STOCK_SYNC_MAX", "max")
    const path = Option.getOrUndefined(yield* resolve(texts.rules, "STOCK_SYNC_RULES"))
    const unmapped = yield* checked(resolve(texts.unmapped, "STOCK_SYNC_UNMAPPED"), unmappedOf, "is neither pass nor reject", "unmapped")
    if (path === undefined && unmapped === "reject") {
      return yield* wrong("--unmapped reject (STOCK_SYNC_UNMAPPED) needs a rules file: name one with --rules or STOCK_SYNC_RULES")
    }
    return buffer === undefined && max === undefined && path === undefined
      ? undefined
      : { all: { buffer, max }, path, unmapped: unmapped ?? "pass" }
  })

const formatOf = (text: string) => Option.fromNullable(Format.all.find((format) => format === text.toLowerCase()))

const delimiterOf = (text: string) =>
  text.toLowerCase() === "tab" || text === "\\t" ? Option.some("\t") : /^[^"\r\n]$/u.test(text) ? Option.some(text) : Option.none()

// A star would be any name to the parser.
const itemsOf = (text: string) => /^[^.*]+(\.[^.*]+)*$/.test(text) ? Option.some(text) : Option.none()

/** A time that may be 0. */
const timeOf = Durations.fromText

const countOf = (text: string) => /^\d{1,15}$/.test(text) ? Option.some(Number(text)) : Option.none()

const unmappedOf = (text: string): Option.Option<RuleOptions["unmapped"]> => {
  const choice = text.toLowerCase()
  return choice === "pass" || choice === "reject" ? Option.some(choice) : Option.none()
}

/** A variable that holds a secret. It has no option, because options are visible to everyone on the machine, and it is never printed. */
const secret = <A>(
  variable: string,
  read: (text: string) => Either.Either<A, string>
): Effect.Effect<Redacted.Redacted<A> | undefined, ConfigError.ConfigError> =>
  Effect.flatMap(Config.option(Config.string(variable)), (given) => {
    const text = Option.getOrElse(given, () => "").trim()
    return text === "" ? Effect.succeed(undefined) : Either.match(read(text), {
      onLeft: (reason) => Effect.fail(ConfigError.InvalidData([variable], reason)),
      onRight: (value) => Effect.succeed(Redacted.make(value))
    })
  })

const authorization = secret("STOCK_SYNC_SOURCE_AUTHORIZATION",
  (text) => /^[\x20-\x7e]+$/.test(text) ? Either.right(text) : Either.left("It holds characters that no header can carry"))

const headers = secret("STOCK_SYNC_SOURCE_HEADERS",
  (text) => Either.mapLeft(RequestHeaders.parse(text), (reason) => `It can't be used: ${reason}. Write one "Name: value" a line`))
