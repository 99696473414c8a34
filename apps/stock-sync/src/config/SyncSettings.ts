/** How the engine runs. */
import type { UsageError } from "@plaza/cli-kit/CliError"
import type { ConfigError } from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { checked, durationOf, type Given, given, givenFlag, resolve, shareOf } from "./Settings.js"

export const options = {
  poll: given("poll", "STOCK_SYNC_POLL", "How often the source is read; a changed file is noticed sooner (default: 1 minute)."),
  reassertShare: given(
    "reassert-share",
    "STOCK_SYNC_REASSERT_SHARE",
    "The share of the rate limit for re-sending confirmed stock (only with --source-includes-sales) or for reading --products-path, while nothing waits; 0 for none (default: 10%)."
  ),
  reassertAfter: given("reassert-after", "STOCK_SYNC_REASSERT_AFTER",
    "With --source-includes-sales: the least age of a confirmation before its stock is sent again (default: 1 hour)."),
  productsPath: given(
    "products-path",
    "STOCK_SYNC_PRODUCTS_PATH",
    "A path of the service that lists the store's products, such as /store/products. Differences are counted, and with --source-includes-sales sent again (default: none, no list is read)."
  ),
  reconcileEvery: given("reconcile-every", "STOCK_SYNC_RECONCILE_EVERY",
    "Pause between two readings of the list of --products-path (default: 1 hour).")
}

/** Off by default: re-sending confirmed stock puts goods back on sale that the store has sold meanwhile. */
export const sourceIncludesSales = givenFlag(
  "source-includes-sales",
  "STOCK_SYNC_SOURCE_INCLUDES_SALES",
  "The source already subtracts what the store itself sells, so that confirmed stock may be sent again (default: false)."
)

/** The options of every command that sends. */
export const sendOptions = {
  retryRefusedAfter: given(
    "retry-refused-after",
    "STOCK_SYNC_RETRY_REFUSED_AFTER",
    "First pause before a quarantined product is sent again; it doubles with each refusal, up to 6 hours (default: 1 minute)."
  ),
  stopWithin: given("stop-within", "STOCK_SYNC_STOP_WITHIN", "How long a stop waits for requests in flight (default: 10 seconds).")
}

export interface SyncSettings {
  readonly poll: Duration.Duration
  readonly reassert: { readonly share: number; readonly after: Duration.Duration }
  /** Where and how often the store's products are listed; undefined where no place is known. */
  readonly reconcile: { readonly path: string; readonly every: Duration.Duration } | undefined
  readonly sourceIncludesSales: boolean
}

const booleanOf = (text: string) => text === "true" || text === "false" ? Option.some(text === "true") : Option.none()
const pathOf = Option.liftPredicate((text: string) => /^\/[^?#\s]+$/.test(text))

export const resolveSync = (
  given: Readonly<Record<keyof typeof options, Given>> & { readonly sourceIncludesSales: boolean }
): Effect.Effect<SyncSettings, UsageError | ConfigError> =>
  Effect.gen(function*() {
    const time = (option: Given, variable: string, flag: string) =>
      checked(resolve(option, variable), durationOf, "is not a duration such as 30s", flag)
    const share = yield* checked(resolve(given.reassertShare, "STOCK_SYNC_REASSERT_SHARE"), shareOf, "is no share such as 10%",
      "reassert-share")
    const path = yield* checked(resolve(given.productsPath, "STOCK_SYNC_PRODUCTS_PATH"), pathOf, "is no path such as /store/products",
      "products-path")
    const every = (yield* time(given.reconcileEvery, "STOCK_SYNC_RECONCILE_EVERY", "reconcile-every")) ?? Duration.hours(1)
    return {
      poll: (yield* time(given.poll, "STOCK_SYNC_POLL", "poll")) ?? Duration.minutes(1),
      reassert: {
        share: share ?? 0.1,
        after: (yield* time(given.reassertAfter, "STOCK_SYNC_REASSERT_AFTER", "reassert-after")) ?? Duration.hours(1)
      },
      reconcile: path === undefined ? undefined : { path, every },
      sourceIncludesSales: given.sourceIncludesSales || ((yield* checked(
        resolve(Option.none(), "STOCK_SYNC_SOURCE_INCLUDES_SALES"),
        booleanOf,
        "is neither true nor false",
        "source-includes-sales"
      )) ?? false)
    }
  })

/** The settings of every command that sends. */
export interface SendSettings {
  readonly retryRefusedAfter: Duration.Duration
  readonly stopWithin: Duration.Duration
}

export const resolveSend = (
  given: Readonly<Record<keyof typeof sendOptions, Given>>
): Effect.Effect<SendSettings, UsageError | ConfigError> =>
  Effect.gen(function*() {
    const time = (option: Given, variable: string, flag: string) =>
      checked(resolve(option, variable), durationOf, "is not a duration such as 30s", flag)
    return {
      retryRefusedAfter: (yield* time(given.retryRefusedAfter, "STOCK_SYNC_RETRY_REFUSED_AFTER", "retry-refused-after")) ??
        Duration.minutes(1),
      stopWithin: (yield* time(given.stopWithin, "STOCK_SYNC_STOP_WITHIN", "stop-within")) ?? Duration.seconds(10)
    }
  })
