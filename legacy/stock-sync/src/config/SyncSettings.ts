/** The settings of the worker. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Setting from "./Setting.ts"

const path = Setting.trimmed(
  "PATH",
  Option.liftPredicate((text: string) => /^\/[^?#\s]+$/.test(text)),
  "is not a path such as /store/products"
)

/** The options of `run`. */
export const options = {
  poll: Setting.withDefault("poll", Setting.duration, "1 minute", "How often the source is read. A changed file is read sooner"),
  reassertShare: Setting.withDefault(
    "reassert-share",
    Setting.share,
    "10%",
    "The share of the rate limit for re-sending confirmed stock (with --source-includes-sales) or for reading --products-path, while no product is due; 0 for none"
  ),
  reassertAfter: Setting.withDefault("reassert-after", Setting.duration, "1 hour",
    "With --source-includes-sales: the least age of a confirmation before its stock is sent again"),
  productsPath: Setting.optional("products-path", path, {
    about:
      "A path of the service that lists the store's products, such as /store/products. Differences are counted, and with --source-includes-sales sent again",
    absent: "none, no list is read"
  }),
  reconcileEvery: Setting.withDefault("reconcile-every", Setting.duration, "1 hour",
    "Pause between two reads of the list of --products-path"),
  // Off by default: re-sending confirmed stock puts goods back on sale that the store has sold meanwhile.
  sourceIncludesSales: Setting.flag("source-includes-sales",
    "The source already subtracts what the store itself sells, so that confirmed stock may be sent again")
}

export interface SyncSettings {
  readonly poll: Duration.Duration
  readonly reassert: { readonly share: number; readonly after: Duration.Duration }
  /** The path of the list of the store's products and how often it is read; undefined if no path is set. */
  readonly reconcile: { readonly path: string; readonly every: Duration.Duration } | undefined
  readonly sourceIncludesSales: boolean
}

export const resolve = (given: Setting.Parsed<typeof options>): Setting.Value<SyncSettings> =>
  Effect.map(Effect.all(given),
    ({ poll, productsPath, reassertAfter: after, reassertShare: share, reconcileEvery, sourceIncludesSales }) => ({
      poll,
      reassert: { share, after },
      reconcile: productsPath === undefined ? undefined : { path: productsPath, every: reconcileEvery },
      sourceIncludesSales
    }))

/** The options of every command that sends. */
export const sendOptions = {
  retryRefusedAfter: Setting.withDefault("retry-refused-after", Setting.duration, "1 minute",
    "First pause before a quarantined product is sent again. It doubles with each refusal, up to 6 hours"),
  shownStock: Setting.withDefault("shown-stock", Setting.oneOf("check", "ignore"), "check",
    "Responses that show another stock than the one sent: check does not confirm it, ignore does. Set ignore if the service shows another quantity, such as stock less reserved units"),
  stopWithin: Setting.withDefault("stop-within", Setting.duration, "10 seconds", "How long a stop waits for requests in flight"),
  concurrency: Setting.withDefault("concurrency", Setting.integer(1, 100), "8", "Requests in flight at the same time, 1 to 100")
}

export interface SendSettings {
  readonly shownStock: "check" | "ignore"
  readonly retryRefusedAfter: Duration.Duration
  readonly stopWithin: Duration.Duration
  readonly concurrency: number
}

export const resolveSend = (given: Setting.Parsed<typeof sendOptions>): Setting.Value<SendSettings> => Effect.all(given)
