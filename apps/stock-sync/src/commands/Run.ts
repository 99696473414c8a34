/** `run`: keeps the store equal to the source until it is stopped. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { Settings as ClientSettings } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LedgerSettings from "../config/LedgerSettings.ts"
import type { SyncSettings } from "../config/SyncSettings.ts"
import * as CurrentLedger from "../ledger/CurrentLedger.ts"
import * as OpenLedger from "../ledger/Open.ts"
import * as Observability from "../observability/Observability.ts"
import * as Open from "../source/Open.ts"
import * as SourceUri from "../source/SourceUri.ts"
import * as AccountIdentity from "../sync/AccountIdentity.ts"
import * as SyncStatus from "../sync/SyncStatus.ts"
import * as SyncWorker from "../sync/SyncWorker.ts"
import * as Client from "./Client.ts"
import type * as Once from "./Once.ts"

export interface Options extends Once.Options, SyncSettings {
  readonly poll: SyncSettings["poll"]
  readonly observability: Observability.ObservabilitySettings
}

const rereadable = ({ source }: Options): Effect.Effect<void, UsageError> =>
  SourceUri.kindOf(source) === "stdin"
    ? new UsageError({
      message:
        "run reads the source again and again, and standard input can be read only once: use once, or name a file or an address with --source or STOCK_SYNC_SOURCE"
    })
    : Effect.void

/** Reads the client's settings first: a missing variable must not create a ledger. */
export const layer = (options: Options) =>
  Layer.unwrap(
    Effect.map(Effect.andThen(rereadable(options), ClientSettings.config), ({ rateLimit, rateWindow }) =>
      Layer.merge(Client.layer, Open.layer(options)).pipe(
        Layer.provideMerge(Observability.layer({ ...options.observability, poll: options.poll, rateLimit, rateWindow })),
        Layer.provideMerge(Layer.merge(SyncStatus.layer, CurrentLedger.layer))
      ))
  )

export const run = Effect.fnUntraced(function*(options: Options) {
  const settings = yield* ClientSettings.config
  const { rateLimit, rateWindow } = settings
  return yield* SyncWorker.run({
    ...options,
    account: AccountIdentity.accountOf(settings),
    ledger: OpenLedger.layer(options.ledger, LedgerSettings.forClient(options.ledgerSettings, settings)),
    reassert: { ...options.reassert, rateLimit, rateWindow }
  })
})
