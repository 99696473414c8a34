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
import * as Duration from "effect/Duration"
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
  "What remembers what the store holds: a file, or the address of a Postgres, postgres://host/database; plaza-stock-sync.sqlite in the working directory unless told."
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
 * The path or the address of the ledger.
 *
 * @since 0.1.0
 * @category resolving
 */
export const resolveLedger = (option: Given): Effect.Effect<string, ConfigError> =>
  withDefault(option, "STOCK_SYNC_LEDGER", "plaza-stock-sync.sqlite")

/** @since 0.1.0 @category resolving */
export const wrong = (message: string): Effect.Effect<never, UsageError> => Effect.fail(new UsageError({ message }))

/**
 * A setting that was told, as what it stands for; undefined where it wasn't.
 *
 * @since 0.1.0
 * @category resolving
 */
export const checked = <A>(
  told: Effect.Effect<Given, ConfigError>,
  read: (text: string) => Option.Option<A>,
  complaint: string,
  flag: string
): Effect.Effect<A | undefined, UsageError | ConfigError> =>
  Effect.flatMap(told, Option.match({
    onNone: () => Effect.succeed(undefined),
    onSome: (text) =>
      Option.match(read(text.trim()), {
        onNone: () => wrong(`"${text}" ${complaint}: change --${flag} or STOCK_SYNC_${flag.toUpperCase().replaceAll("-", "_")}`),
        onSome: (value) => Effect.succeed(value)
      })
  }))

/**
 * A share, as 5% or 0.05.
 *
 * @since 0.1.0
 * @category resolving
 */
export const shareOf = (text: string): Option.Option<number> => {
  const [, digits, percent] = /^(\d{1,3}(?:\.\d+)?)\s*(%?)$/.exec(text) ?? []
  const share = Number(digits) / (percent === "%" ? 100 : 1)
  return share >= 0 && share <= 1 ? Option.some(share) : Option.none()
}

/**
 * A time, as "30 seconds".
 *
 * @since 0.1.0
 * @category resolving
 */
export const durationOf = (text: string): Option.Option<Duration.Duration> =>
  Option.filter(Duration.decodeUnknown(text), (duration) => Duration.greaterThan(duration, Duration.zero) && Duration.isFinite(duration))

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
