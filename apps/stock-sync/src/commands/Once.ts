/** `once`: runs the worker until nothing is due. */
import { Output } from "@plaza/cli-kit/Output"
import { Settings as ClientSettings } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as LedgerSettings from "../config/LedgerSettings.ts"
import type { SendSettings } from "../config/SyncSettings.ts"
import * as CurrentLedger from "../ledger/CurrentLedger.ts"
import { Ledger } from "../ledger/Ledger.ts"
import * as OpenLedger from "../ledger/Open.ts"
import type { SnapshotPolicy } from "../ledger/Snapshot.ts"
import * as EventRecorder from "../observability/EventRecorder.ts"
import type { SourceOptions } from "../source/Open.ts"
import * as AccountIdentity from "../sync/AccountIdentity.ts"
import * as SyncStatus from "../sync/SyncStatus.ts"
import * as SyncWorker from "../sync/SyncWorker.ts"
import * as Client from "./Client.ts"
import * as OnceReport from "./OnceReport.ts"
import * as SendProgress from "./SendProgress.ts"
import * as WaitingSource from "./WaitingSource.ts"

export interface Options extends SourceOptions, SendSettings {
  readonly ledger: string
  readonly ledgerSettings: LedgerSettings.LedgerSettings
  readonly policy: SnapshotPolicy
}

/** Opens the ledger last: an invalid setting must not create one. */
export const layer = (options: Options) =>
  Layer.unwrap(
    Effect.map(ClientSettings.config, (settings) =>
      OpenLedger.layer(options.ledger, LedgerSettings.forClient(options.ledgerSettings, settings)).pipe(
        Layer.provideMerge(Layer.merge(Client.layer, WaitingSource.layer(options))),
        Layer.provideMerge(Layer.merge(SyncStatus.layer, CurrentLedger.layer))
      ))
  )

export const run = Effect.fnUntraced(function*(options: Options) {
  const output = yield* Output
  const ledger = yield* Ledger
  yield* CurrentLedger.set(ledger)
  yield* EventRecorder.recordOnce
  const result = yield* SendProgress.during(
    SyncWorker.once({ ...options, account: AccountIdentity.accountOf(yield* ClientSettings.config) })
  ).pipe(
    // With --json, standard error has one object and nothing else.
    Effect.onInterrupt(() => output.json ? Effect.void : output.note("stopped: the next run continues from here"))
  )
  const { sends } = yield* Effect.flatMap(SyncStatus.SyncStatus, ({ state }) => state)
  const hasSent = Object.values(sends).some(({ count }) => count > 0)
  const report = { ...result, counts: yield* ledger.counts }
  // If the source was not accepted and nothing was sent, the failure says everything.
  if (result.source !== undefined && (Result.isSuccess(result.source) || hasSent)) yield* OnceReport.print(report)
  yield* OnceReport.verdict(report)
}, Effect.scoped)
