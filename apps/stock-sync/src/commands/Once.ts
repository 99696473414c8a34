/** `once`: runs the worker until nothing is due. */
import { Output } from "@plaza-legacy/cli-kit/Output"
import { Settings as ClientSettings } from "@plaza-legacy/client"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as LedgerSettings from "../config/LedgerSettings.ts"
import type { SendSettings } from "../config/SyncSettings.ts"
import * as CurrentLedger from "../ledger/CurrentLedger.ts"
import { Ledger } from "../ledger/Ledger.ts"
import * as OpenLedger from "../ledger/Open.ts"
import type { SnapshotPolicy } from "../ledger/Snapshot.ts"
import type { SourceOptions } from "../source/Open.ts"
import { Source } from "../source/Source.ts"
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
  // One effect, because each layer between these services would take as long as a hundredth of the command.
  Layer.scopedContext(Effect.gen(function*() {
    const settings = yield* ClientSettings.config
    const current = Context.make(CurrentLedger.CurrentLedger, yield* CurrentLedger.make)
    const own = current.pipe(
      Context.add(Source, yield* WaitingSource.make(options)),
      Context.add(SyncStatus.SyncStatus, yield* SyncStatus.makeInitial)
    )
    const client = yield* Effect.provide(Client.make, current)
    const ledger = yield* Layer.build(OpenLedger.layer(options.ledger, LedgerSettings.forClient(options.ledgerSettings, settings)))
    return Context.mergeAll(own, client, ledger)
  }))

export const run = (options: Options) =>
  Effect.gen(function*() {
    const output = yield* Output
    const settings = yield* ClientSettings.config
    yield* CurrentLedger.set(yield* Ledger)
    const result = yield* SendProgress.during(SyncWorker.once({
      ...options,
      account: Client.accountOf(settings)
    })).pipe(
      // With --json, standard error has one object and nothing else.
      Effect.onInterrupt(() => output.json ? Effect.void : output.note("stopped: the next run continues from here"))
    )
    const { sends } = yield* Effect.flatMap(SyncStatus.SyncStatus, ({ state }) => state)
    const hasSent = Object.values(sends).some(({ count }) => count > 0)
    const ledger = yield* Ledger
    const report = { ...result, counts: yield* ledger.counts }
    // If the source was not accepted and nothing was sent, the failure says everything.
    if (result.source !== undefined && (Either.isRight(result.source) || hasSent)) yield* OnceReport.print(report)
    yield* OnceReport.verdict(report)
  }).pipe(Effect.scoped)
