/** The settings that name a source and say how it is read. */
import type { UsageError } from "@plaza/cli-kit/CliError"
import * as ConfigIssue from "@plaza/cli-kit/ConfigIssue"
import * as Format from "@plaza/tabular/Format"
import * as Numerals from "@plaza/tabular/Numerals"
import * as Stock from "@plaza/tabular/Stock"
import * as Utf8 from "@plaza/tabular/Utf8"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as RequestHeaders from "../source/http/RequestHeaders.ts"
import type { SourceOptions } from "../source/Open.ts"
import type { RuleOptions } from "../source/rules/ApplyRules.ts"
import * as ProductRules from "../source/rules/ProductRules.ts"
import { Wording } from "../Wording.ts"
import * as RemoteSettings from "./RemoteSettings.ts"
import * as Setting from "./Setting.ts"

const delimiter = Setting.trimmed(
  "CHARACTER",
  (text) =>
    text.toLowerCase() === "tab" || text === "\\t" ? Option.some("\t") : /^[^"\r\n]$/u.test(text) ? Option.some(text) : Option.none(),
  "is neither one character nor tab"
)

// The parser of JSON reads a star as any name.
const itemsPath = Setting.trimmed(
  "PATH",
  Option.liftPredicate((text: string) => /^[^.*]+(\.[^.*]+)*$/.test(text)),
  "is not a list of names with dots between them"
)

const sheet = Setting.trimmed("NAME|N", (text) => text === "" ? Option.none() : Option.some(text), "is not the name of a sheet")

const charset = Setting.trimmed("NAME", (text) => Option.fromUndefinedOr(Utf8.charsetOf(text)),
  "is no charset of the WHATWG encodings, such as utf-8, windows-1252, iso-8859-2, macintosh or shift_jis")

/** The path of a field, and the parameter that takes its value. A path may have an equals sign, a parameter has none. */
const nextPage = Setting.trimmed("PATH[=PARAMETER]", (text) => {
  const [, path = "", parameter] = /^(.+?)(?:=([^=&#\s]+))?$/.exec(text) ?? []
  return path === "" || /^=|[=*]$|(?:^|\.)\./.test(path) ? Option.none() : Option.some({ path, parameter })
}, "is not the path of a field, with = and the name of a parameter after it if its value is no address")

/** Names with commas between them; a name with a comma or a sign of its own is in quotes. */
const termsOf = (text: string): ReadonlyArray<Stock.Term> =>
  Array.from(text.matchAll(/\s*([-+]?)\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)/gy), ([, sign, quotedName, name = ""]) => ({
    column: (quotedName?.replaceAll("\"\"", "\"") ?? name).trim(),
    sign: sign === "-" ? -1 as const : 1 as const
  }))

const stockColumn = Setting.trimmed(
  "COLUMN[,COLUMN]...",
  (text) => {
    // The pattern matches the empty rest too.
    const [first, ...others] = termsOf(text).slice(0, /,\s*$/.test(text) ? undefined : -1)
    const terms = first === undefined ? [] : [first, ...others]
    return first === undefined || terms.some(({ column }) => column === "") || terms.every(({ sign }) => sign < 0)
      ? Option.none()
      : Option.some(others.length === 0 ? first.column : [first, ...others] as const)
  },
  "is not a list of columns with commas between them, of which at least one is added: put a name with a comma into double quotes"
)

const pieces = Setting.integer(0, 999_999_999_999_999)

const buffer = Setting.trimmed("N|SHARE", ProductRules.parseBuffer, "is neither a whole number nor a share up to 100%, such as 10%")

/** The options of every command that reads a source. */
export const options = {
  source: Setting.optional("source", { ...Setting.text, placeholder: "FILE|URL" }, {
    about:
      "The source of stock values (required): a file, - for standard input, or an address that begins with http:, https:, sftp:, s3:, postgres:, mysql: " +
      "or sqlite:. Set secret request headers by STOCK_SYNC_SOURCE_AUTHORIZATION and STOCK_SYNC_SOURCE_HEADERS, a password by " +
      "STOCK_SYNC_SOURCE_PASSWORD, because every user of the machine can read options"
  }),
  format: Setting.optional("format", Setting.oneOf(...Format.all), {
    about: "The format of the source. An Excel workbook is recognized by its content, whatever is set",
    absent: "by the content type, else by the file's ending, else csv"
  }),
  idColumn: Setting.withDefault("id-column", { ...Setting.text, placeholder: "COLUMN" }, "productId", "The column with the product's id"),
  stockColumn: Setting.withDefault("stock-column", stockColumn, "stock",
    "The column with the product's stock, or a sum such as available,-reserved,warehouse2: columns with a minus are subtracted. A name with a " +
      "comma or a minus is in double quotes"),
  decimal: Setting.optional("decimal", Setting.oneOf(...Numerals.decimals), {
    about: "What begins the fraction of a number: . or ,. Without it, a number such as 1.000, which can be one or a thousand, is rejected",
    absent: "as each number shows"
  }),
  thousands: Setting.optional("thousands", Setting.oneOf(...Numerals.thousands), {
    about: "What groups the thousands of a number: . , ' space or none",
    absent: "as each number shows"
  }),
  delimiter: Setting.optional("delimiter", delimiter, {
    about: "The separator of CSV columns, one character or tab",
    absent: "the most frequent of comma, semicolon, tab and bar in the header"
  }),
  charset: Setting.optional("charset", charset, {
    about: "The charset of the source, such as windows-1252. A byte order mark overrides it, and so does UTF-16",
    absent: "that of the content type, else utf-8"
  }),
  items: Setting.optional("items", itemsPath, {
    about: "The path of the array in a JSON document, such as result.items",
    absent: "the document itself or its data"
  }),
  next: Setting.optional("next", nextPage, {
    about:
      "The path of the field with the address of the next page of a document, such as paging.next, or with its cursor and the parameter that " +
      "takes it, such as paging.after=after. The known forms are those of OData, JSON:API, HAL, Django REST, GraphQL and common cursors",
    absent: "Link headers and the known forms"
  }),
  graphql: Setting.optional("graphql", Setting.file, {
    about: "A file with a GraphQL query, which is sent by POST to the address. Its pages are followed by the variable of after, as in " +
      "products(first: 100, after: $after)",
    absent: "none, the address is read by GET"
  }),
  sheet: Setting.optional("sheet", sheet, {
    about: "The sheet of an Excel workbook: its name, or the number of its tab from 1",
    absent: "the only visible sheet with content"
  }),
  query: Setting.optional("query", { ...Setting.text, placeholder: "SQL" }, {
    about: "One SELECT that returns the two columns (required for a database)"
  }),
  timeout: Setting.withDefault("source-timeout", Setting.duration, "30 seconds", "How long an address or a database may be silent"),
  ...RemoteSettings.options,
  settle: Setting.withDefault("settle", Setting.durationOrZero, "5 seconds",
    "How long a file must stay unchanged before it is read; 0s turns the check off"),
  unfinishedWait: Setting.withDefault("unfinished-wait", Setting.durationOrZero, "1 minute",
    "Max wait for an unfinished file. A last line without a line end is accepted after this time; 0s turns the check off"),
  doneMarker: Setting.optional("done-marker", Setting.file, {
    about:
      "A file that the writer creates or touches when the source file is complete. The source file is read only if the marker exists and is not older",
    absent: "none"
  }),
  acceptPartial: Setting.list("accept-partial", "FIELD", {
    about:
      "A sign that the source is only a part, which is accepted all the same: a field such as has_more, or one of length, line-end, last-row " +
      "and error-text, as the message of the refusal names it. May be repeated, or name several with commas between them",
    absent: "none, such a source is refused"
  }),
  maxBadRows: Setting.optional("max-bad-rows", Setting.share, {
    about: "A source with a larger share of rejected rows is refused, such as 5%",
    absent: "20%, and more than 10 rows"
  }),
  buffer: Setting.optional("buffer", buffer, {
    about: "What to subtract from the stock of every product, down to 0: pieces, or a share such as 10%, rounded up",
    absent: "0"
  }),
  atLeast: Setting.optional("at-least", pieces, { about: "A smaller stock, after the buffer, is sent as 0", absent: "0" }),
  max: Setting.optional("max", pieces, { about: "The largest stock that is sent for a product", absent: "no limit" }),
  rules: Setting.optional("rules", Setting.file, {
    about: "A CSV file with rules for single products: a column id and any of productId, buffer, atLeast, max and exclude",
    absent: "none"
  }),
  kits: Setting.optional("kits", Setting.file, {
    about: "A CSV file of kits with the columns kit, component and quantity: the stock of a kit is what that of its components allows",
    absent: "none"
  }),
  unmapped: Setting.withDefault(
    "unmapped",
    Setting.oneOf("pass", "reject"),
    "pass",
    "Rows whose id is not in the rules file: pass sends them under their own id, reject rejects them. Use reject if ids of the source are not the store's product ids"
  )
}

type Given = Setting.Parsed<typeof options>

/** The source, how it is read, and how many of its rows may be rejected. */
export interface SourceSettings extends SourceOptions {
  /** The share of rejected rows, 0 to 1, above which the source is refused; undefined for the default. */
  readonly maxBadRows: number | undefined
}

export const resolve = (
  { endpoint, hostKeys, key, knownHosts, region, ...given }: Given
): Effect.Effect<SourceSettings, UsageError | Config.ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const { atLeast, buffer, decimal, kits, max, rules, source, thousands, unmapped, ...rest } = yield* Effect.all(given)
    const { named, place } = yield* Wording
    if (source === undefined) {
      return yield* Setting.usageError(
        `there is no source: name a file, - for standard input, or an address, with ${place("source")}`
      )
    }
    if (Stock.termsOf(rest.stockColumn).some(({ column }) => column === rest.idColumn)) {
      return yield* Setting.usageError(
        `the id and the stock can't both come from the column "${rest.idColumn}": change ${named("id-column")} or ${named("stock-column")}`
      )
    }
    if (decimal !== undefined && decimal === thousands) {
      return yield* Setting.usageError(
        `"${decimal}" can't both begin a fraction and group thousands: change ${named("decimal")} or ${named("thousands")}`
      )
    }
    if (rules === undefined && unmapped === "reject") {
      return yield* Setting.usageError(`${named("unmapped", "reject")} needs a rules file: name one with ${place("rules")}`)
    }
    if (rest.graphql !== undefined) {
      const unfit = rest.next !== undefined
        ? `${named("next")} has no effect on a query, whose pages are followed by its cursor`
        : rest.query !== undefined
        ? `${named("query")} is the query of a database`
        : rest.format !== undefined && rest.format !== "json"
        ? `${named("format", rest.format)} is not the format of a response to a query`
        : undefined
      if (unfit !== undefined) return yield* Setting.usageError(`${unfit}: remove it, or ${named("graphql")}`)
    }
    // Without a rule, rows go through unchanged.
    const hasRules = [atLeast, buffer, kits, max, rules].some((rule) => rule !== undefined)
    return {
      ...rest,
      separators: { decimal, thousands },
      source,
      ...yield* RemoteSettings.resolve({ endpoint, hostKeys, key, knownHosts, region }),
      ...yield* secrets,
      rules: hasRules ? { all: { ...buffer, atLeast, max }, path: rules, kits, unmapped } satisfies RuleOptions : undefined
    }
  })

/** A variable with a secret. It has no option, because every user of the machine can read options. No output contains it. */
const secret = <A>(
  variable: string,
  read: (text: string) => Result.Result<A, string>
): Effect.Effect<Redacted.Redacted<A> | undefined, Config.ConfigError> =>
  Effect.flatMap(Config.option(Config.String(variable)), (given) => {
    const text = Option.getOrElse(given, () => "").trim()
    return text === "" ? Effect.succeed(undefined) : Result.match(read(text), {
      onFailure: (reason) => Effect.fail(ConfigIssue.refuse(variable, reason)),
      onSuccess: (value) => Effect.succeed(Redacted.make(value))
    })
  })

const authorization = secret("STOCK_SYNC_SOURCE_AUTHORIZATION",
  (text) =>
    /^[\x20-\x7e]+$/.test(text) ? Result.succeed(text) : Result.fail("It has characters that a header can't contain: use printable ASCII"))

const headers = Effect.flatMap(Wording, ({ place }) =>
  secret("STOCK_SYNC_SOURCE_HEADERS", (text) =>
    Result.mapError(
      RequestHeaders.parse(text, place("source-authorization")),
      (reason) => `${reason}. Write one "Name: value" per line`
    )))

/** The secret request headers, and what logs in to servers. */
export const secrets: Effect.Effect<
  Pick<SourceSettings, "authorization" | "headers" | "remoteSecrets">,
  Config.ConfigError,
  FileSystem.FileSystem
> = Effect.all({ authorization, headers, remoteSecrets: RemoteSettings.secrets })
