/** One account of a fleet: its row, and its ledger as the status of a single store shows it. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Ledger, LedgerOptions } from "../../ledger/Ledger.ts"
import type { LedgerFault } from "../../ledger/LedgerError.ts"
import type { SnapshotStatus } from "../../ledger/Snapshot.ts"
import type { LedgerSample } from "../../observability/Status.ts"
import { sampleLedger } from "../../observability/StatusSampler.ts"
import type { FleetDatabase } from "../FleetDatabase.ts"
import type { AccountNotFound, FleetDatabaseError } from "../FleetError.ts"
import { FleetLedger } from "../FleetLedger.ts"
import * as FleetStatus from "./FleetStatus.ts"

// Of no effect on what is read.
const options: LedgerOptions = { rateWindow: Duration.minutes(1), lateWrites: Duration.zero, historyLimit: 0 }

/** The ledger of an account for reading. */
export const ledger = (id: string): Effect.Effect<Ledger["Service"], AccountNotFound | FleetDatabaseError, FleetLedger> =>
  Effect.flatMap(FleetLedger, ({ beside }) => beside(id, options))

export interface AccountReport {
  readonly account: FleetStatus.AccountRow
  readonly sample: LedgerSample
  readonly snapshot: SnapshotStatus
}

/** None if there is no such account. */
export const read = (
  id: string
): Effect.Effect<Option.Option<AccountReport>, FleetDatabaseError | LedgerFault, FleetDatabase | FleetLedger> =>
  Effect.gen(function*() {
    const account = yield* FleetStatus.account(id)
    if (Option.isNone(account)) return Option.none()
    const opened = yield* ledger(id)
    const snapshot = yield* opened.snapshot
    return Option.some({ account: account.value, snapshot, sample: yield* sampleLedger(opened, yield* DateTime.now) })
  }).pipe(
    // Removed in between.
    Effect.catchTag("AccountNotFound", () => Effect.succeedNone)
  )
