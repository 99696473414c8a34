/**
 * `run`: keeps the store equal to the source until it is stopped. Knows nothing of how that is done.
 *
 * @since 0.1.0
 */
import * as NodeClient from "@plaza/client/node"
import * as Plaza from "@plaza/client/Plaza"
import * as ClientSettings from "@plaza/client/Settings"
import { UsageError } from "@plaza/terminal/Problem"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Terms } from "../Ledger.js"
import * as OpenLedger from "../Ledger/Open.js"
import * as Loop from "../Loop.js"
import type { LoopSettings } from "../LoopSettings.js"
import * as Seen from "../Seen.js"
import * as Address from "../Source/Address.js"
import * as Open from "../Source/Open.js"
import * as Standing from "../Standing.js"
import { name, version } from "../version.js"

/** @since 0.1.0 @category models */
export interface Options extends Open.SourceOptions, LoopSettings {
  readonly ledger: string
  readonly terms: Terms
  readonly concurrency: number
  readonly poll: Duration.Duration
  readonly seen: Seen.Told
}

/** @since 0.1.0 @category commands */
export const run = (options: Options) =>
  Effect.gen(function*() {
    if (Address.kindOf(options.source) === "stdin") {
      return yield* new UsageError({ message: "standard input is read once, and run goes on looking: use once, or name a file or an address with --source or STOCK_SYNC_SOURCE" })
    }
    // Before the ledger is opened, and with it made: a missing variable leaves no file behind.
    const { baseUrl, rateLimit, rateWindow } = yield* ClientSettings.config
    const around = Layer.merge(Layer.provide(Plaza.layerConfigFor(`${name}/${version}`), NodeClient.layer), Open.layer(options)).pipe(
      Layer.provideMerge(Seen.layer({ ...options.seen, poll: options.poll, rateLimit, rateWindow })),
      Layer.provideMerge(Standing.layer)
    )
    return yield* Loop.run({
      baseUrl,
      ledger: OpenLedger.layer(options.ledger),
      terms: options.terms,
      concurrency: options.concurrency,
      assertions: { ...options.reassert, allowance: { limit: rateLimit, windowMillis: Duration.toMillis(rateWindow) } },
      reconcile: options.reconcile,
      stopWithin: options.stopWithin
    }).pipe(Effect.provide(around))
  })
