/**
 * What the program is told, by options and by the environment; options win. What is missing or can't be used is one sentence that
 * names both ways of telling it. What it is told of its source stands in `SourceSettings`. Knows nothing of what is done with it.
 *
 * @since 0.1.0
 */
import * as Options from "@effect/cli/Options"
import { UsageError } from "@plaza/terminal/Problem"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * An option that a variable can stand in for.
 *
 * @since 0.1.0
 * @category options
 */
export const given = (flag: string, variable: string, description: string) =>
  Options.text(flag).pipe(Options.withDescription(`${description} [${variable}]`), Options.optional)

/** @since 0.1.0 @category options */
export const ledger = given(
  "ledger",
  "STOCK_SYNC_LEDGER",
  "The file that remembers what the store holds; plaza-stock-sync.sqlite in the working directory unless told."
)
/** @since 0.1.0 @category options */
export const concurrency = given("concurrency", "STOCK_SYNC_CONCURRENCY", "How many products are sent at a time, 1 to 100; 8 unless told.")
/** @since 0.1.0 @category options */
export const json = Options.boolean("json").pipe(Options.withDescription("The result as one JSON object, and a failure as another on standard error."))
/** @since 0.1.0 @category options */
export const quiet = Options.boolean("quiet").pipe(Options.withDescription("Nothing but the result."))

/** @since 0.1.0 @category models */
export type Given = Option.Option<string>

/**
 * What an option or its variable says. Set to nothing is not set: that is how a variable is left out in many a deployment.
 *
 * @since 0.1.0
 * @category resolving
 */
export const resolve = (option: Given, variable: string): Effect.Effect<Given, ConfigError> =>
  Effect.map(
    Option.isSome(option) ? Effect.succeed(option) : Config.option(Config.string(variable)),
    Option.filter((text) => text.trim() !== "")
  )

/** @since 0.1.0 @category resolving */
export const withDefault = (option: Given, variable: string, otherwise: string) =>
  Effect.map(resolve(option, variable), Option.getOrElse(() => otherwise))

/**
 * The path of the ledger.
 *
 * @since 0.1.0
 * @category resolving
 */
export const resolveLedger = (option: Given): Effect.Effect<string, ConfigError> =>
  withDefault(option, "STOCK_SYNC_LEDGER", "plaza-stock-sync.sqlite")

const most = 100

/**
 * How many products are sent at a time.
 *
 * @since 0.1.0
 * @category resolving
 */
export const resolveConcurrency = (option: Given) =>
  Effect.flatMap(withDefault(option, "STOCK_SYNC_CONCURRENCY", "8"), (text) => {
    const value = /^\d+$/.test(text.trim()) ? Number(text) : 0
    return value >= 1 && value <= most ? Effect.succeed(value) : Effect.fail(
      new UsageError({ message: `the concurrency "${text}" is no whole number from 1 to ${most}: change --concurrency or STOCK_SYNC_CONCURRENCY` })
    )
  })
