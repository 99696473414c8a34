/**
 * How the loop runs, by options and by the environment. Knows nothing of how it is done.
 *
 * @since 0.1.0
 */
import type { UsageError } from "@plaza/terminal/Problem"
import type { ConfigError } from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { checked, durationOf, type Given, given, resolve, shareOf } from "./Settings.js"

/** @since 0.1.0 @category options */
export const options = {
  poll: given("poll", "STOCK_SYNC_POLL", "How often the source is looked at; a file that changes is noticed sooner. \"1 minute\" unless told."),
  reassertShare: given(
    "reassert-share",
    "STOCK_SYNC_REASSERT_SHARE",
    "The share of the rate limit with which confirmed stock may be sent again while nothing waits, as 5%, 0 for none; 10% unless told."
  ),
  reassertAfter: given("reassert-after", "STOCK_SYNC_REASSERT_AFTER", "What was confirmed more lately is not sent again; \"1 hour\" unless told."),
  productsPath: given(
    "products-path",
    "STOCK_SYNC_PRODUCTS_PATH",
    "Where the service lists the store's products, as /store/products: they are read then, and only what differs is sent again; no such list is known unless told."
  ),
  reconcileEvery: given("reconcile-every", "STOCK_SYNC_RECONCILE_EVERY", "How long after one reading of that list the next begins; \"1 hour\" unless told."),
  stopWithin: given("stop-within", "STOCK_SYNC_STOP_WITHIN", "How long a stop waits for what is on its way; \"10 seconds\" unless told.")
}

/** @since 0.1.0 @category models */
export interface LoopSettings {
  readonly poll: Duration.Duration
  readonly reassert: { readonly share: number; readonly after: Duration.Duration }
  /** Where and how often the store's products are read; undefined where nobody knows a place. */
  readonly reconcile: { readonly path: string; readonly every: Duration.Duration } | undefined
  readonly stopWithin: Duration.Duration
}

const pathOf = Option.liftPredicate((text: string) => /^\/[^?#\s]+$/.test(text))

/** @since 0.1.0 @category resolving */
export const resolveLoop = (told: Readonly<Record<keyof typeof options, Given>>): Effect.Effect<LoopSettings, UsageError | ConfigError> =>
  Effect.gen(function*() {
    const time = (option: Given, variable: string, flag: string) => checked(resolve(option, variable), durationOf, "is no time such as \"30 seconds\"", flag)
    const share = yield* checked(resolve(told.reassertShare, "STOCK_SYNC_REASSERT_SHARE"), shareOf, "is no share such as 10%", "reassert-share")
    const path = yield* checked(resolve(told.productsPath, "STOCK_SYNC_PRODUCTS_PATH"), pathOf, "is no path such as /store/products", "products-path")
    const every = (yield* time(told.reconcileEvery, "STOCK_SYNC_RECONCILE_EVERY", "reconcile-every")) ?? Duration.hours(1)
    return {
      poll: (yield* time(told.poll, "STOCK_SYNC_POLL", "poll")) ?? Duration.minutes(1),
      reassert: {
        share: share ?? 0.1,
        after: (yield* time(told.reassertAfter, "STOCK_SYNC_REASSERT_AFTER", "reassert-after")) ?? Duration.hours(1)
      },
      reconcile: path === undefined ? undefined : { path, every },
      stopWithin: (yield* time(told.stopWithin, "STOCK_SYNC_STOP_WITHIN", "stop-within")) ?? Duration.seconds(10)
    }
  })
