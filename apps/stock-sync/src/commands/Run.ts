/** `run`: keeps the store equal to the source until it is stopped. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Program from "@plaza/cli-kit/Program"
import { Plaza, Settings as ClientSettings } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LedgerSettings from "../config/LedgerSettings.js"
import type { SyncSettings } from "../config/SyncSettings.js"
import type { SnapshotPolicy } from "../ledger/Ledger.js"
import * as OpenLedger from "../ledger/Open.js"
import * as Observability from "../observability/Observability.js"
import * as Open from "../source/Open.js"
import * as SourceUri from "../source/SourceUri.js"
import * as SyncStatus from "../sync/SyncStatus.js"
import * as SyncWorker from "../sync/SyncWorker.js"
import { name, version } from "../version.js"
import * as Account from "./Account.js"

export interface Options extends Open.SourceOptions, SyncSettings {
  readonly ledger: string
  readonly ledgerSettings: LedgerSettings.LedgerSettings
  readonly policy: SnapshotPolicy
  readonly concurrency: number
  readonly retryRefusedAfter: Duration.Duration
  readonly stopWithin: Duration.Duration
  readonly poll: Duration.Duration
  readonly seen: Observability.ObservabilitySettings
}

export const run = (options: Options) =>
  Effect.gen(function*() {
    if (SourceUri.kindOf(options.source) === "stdin") {
      return yield* new UsageError({
        message:
          "standard input can be read only once, and run reads the source again and again: use once, or name a file or an address with --source or STOCK_SYNC_SOURCE"
      })
    }
    // Before the ledger is opened, and with it created: a missing variable leaves no file behind.
    const settings = yield* ClientSettings.config
    const { rateLimit, rateWindow } = settings
    const around = Layer.merge(Layer.provide(Plaza.layerConfigFor(`${name}/${version}`), NodeClient.layer), Open.layer(options)).pipe(
      Layer.provideMerge(Observability.layer({ ...options.seen, poll: options.poll, rateLimit, rateWindow })),
      Layer.provideMerge(SyncStatus.layer)
    )
    yield* Program.untilStopped
    return yield* SyncWorker.run({
      ...options,
      account: Account.of(settings),
      ledger: OpenLedger.layer(options.ledger, LedgerSettings.forClient(options.ledgerSettings, settings)),
      reassert: { ...options.reassert, rateLimit, rateWindow }
    }).pipe(Effect.provide(around))
  })
