/** Options that a variable or the config file can stand in for, and the checks of their texts. */
import * as Options from "@effect/cli/Options"
import { UsageError } from "@plaza/cli-kit/CliError"
import { Durations } from "@plaza/client"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ConfigFile } from "./ConfigFile.js"

export interface Setting {
  /** The option without its dashes, and the name in the config file. */
  readonly flag: string
  readonly variable: string
}

/** An option that a variable or the config file can stand in for. */
export const given = (flag: string, variable: string, description: string): Options.Options<Given> & { readonly setting: Setting } =>
  Object.assign(Options.text(flag).pipe(Options.withDescription(`${description} [${variable}]`), Options.optional), {
    setting: { flag, variable }
  })

/** A flag that a variable or the config file can stand in for, as `true` or `false`. */
export const givenFlag = (flag: string, variable: string, description: string): Options.Options<boolean> & { readonly setting: Setting } =>
  Object.assign(Options.boolean(flag).pipe(Options.withDescription(`${description} [${variable}]`)), { setting: { flag, variable } })

export const ledger = given(
  "ledger",
  "STOCK_SYNC_LEDGER",
  "The record of wanted and confirmed stock: an SQLite file, or postgres://host/database (default: plaza-stock-sync.sqlite in the working directory)."
)
export const concurrency = given("concurrency", "STOCK_SYNC_CONCURRENCY", "Requests in flight at the same time, 1 to 100 (default: 8).")
export const json = Options.boolean("json").pipe(
  Options.withDescription("Print the result as JSON, and a failure as one JSON object on standard error.")
)
export const quiet = Options.boolean("quiet").pipe(Options.withDescription("Print no progress and no notes."))

export type Given = Option.Option<string>

/**
 * The text of an option, else of its variable or the config file. A blank text counts as not set, because many deployments leave a variable
 * out in this way.
 */
export const resolve = (option: Given, variable: string): Effect.Effect<Given, ConfigError> =>
  Effect.map(
    Option.isSome(option) ? Effect.succeed(option) : Config.option(Config.string(variable)),
    Option.filter((text) => text.trim() !== "")
  )

export const withDefault = (option: Given, variable: string, otherwise: string) =>
  Effect.map(resolve(option, variable), Option.getOrElse(() => otherwise))

/** The path or the address of the ledger. */
export const resolveLedger = (option: Given): Effect.Effect<string, ConfigError> =>
  withDefault(option, "STOCK_SYNC_LEDGER", "plaza-stock-sync.sqlite")

export const wrong = (message: string): Effect.Effect<never, UsageError> => Effect.fail(new UsageError({ message }))

const variableOf = (flag: string): string => `STOCK_SYNC_${flag.toUpperCase().replaceAll("-", "_")}`

/** Where to correct a text: in the config file, if it comes from there. */
const placeOf = (flag: string, text: string): Effect.Effect<string> =>
  Effect.map(ConfigFile, ({ entries, path }) => {
    const variable = variableOf(flag)
    const entry = entries.get(variable)
    return entry?.text === text ? `${entry.name} in the config file ${path}` : `--${flag} or ${variable}`
  })

/** The value of a text, or undefined where nothing is set. */
export const checked = <A>(
  given: Effect.Effect<Given, ConfigError>,
  read: (text: string) => Option.Option<A>,
  complaint: string,
  flag: string
): Effect.Effect<A | undefined, UsageError | ConfigError> =>
  Effect.flatMap(given, Option.match({
    onNone: () => Effect.succeed(undefined),
    onSome: (text) =>
      Option.match(read(text.trim()), {
        onNone: () => Effect.flatMap(placeOf(flag, text), (place) => wrong(`"${text}" ${complaint}: change ${place}`)),
        onSome: (value) => Effect.succeed(value)
      })
  }))

/** A share, as 5% or 0.05. */
export const shareOf = (text: string): Option.Option<number> => {
  const [, digits, percent] = /^(\d{1,3}(?:\.\d+)?)\s*(%?)$/.exec(text) ?? []
  const share = Number(digits) / (percent === "%" ? 100 : 1)
  return share >= 0 && share <= 1 ? Option.some(share) : Option.none()
}

/** A duration above zero, such as `30s`, `1h30m` or `30 seconds`. */
export const durationOf = (text: string): Option.Option<Duration.Duration> =>
  Option.filter(Durations.fromText(text), Duration.greaterThan(Duration.zero))

const mostConcurrency = 100

/** How many products are sent at the same time. */
export const resolveConcurrency = (option: Given): Effect.Effect<number, UsageError | ConfigError> =>
  checked(
    resolve(option, "STOCK_SYNC_CONCURRENCY"),
    (text) =>
      Option.filter(/^\d+$/.test(text) ? Option.some(Number(text)) : Option.none(), (count) => count >= 1 && count <= mostConcurrency),
    `is not a whole number from 1 to ${mostConcurrency}`,
    "concurrency"
  ).pipe(Effect.map((count) => count ?? 8))
