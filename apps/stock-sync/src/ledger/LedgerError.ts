/** The failures of a ledger. */
import * as Data from "effect/Data"
import type { HeldSnapshot } from "./Snapshot.ts"

/** The ledger can't be opened, read or written. Its session may be lost, and with it the lock: open the ledger again to continue. */
export class LedgerFault extends Data.TaggedError("LedgerFault")<{
  readonly path: string
  readonly message: string
  /** Another owner has taken the account over, or the account was removed. */
  readonly isTakenOver?: true
}> {}

/** Another process holds the ledger's lock. */
export class LedgerInUse extends Data.TaggedError("LedgerInUse")<{
  readonly path: string
  readonly message: string
}> {}

/** A snapshot is implausible and was not applied. It needs confirmation, or a plausible successor. */
export class SnapshotHeld extends Data.TaggedError("SnapshotHeld")<{
  readonly held: HeldSnapshot
  readonly message: string
}> {}

/** The ledger belongs to another account, or it is unknown whether it does. */
export class OtherAccount extends Data.TaggedError("OtherAccount")<{
  readonly path: string
  readonly message: string
}> {}

/** The ledger does not have the stock of that snapshot. */
export class CannotRevert extends Data.TaggedError("CannotRevert")<{
  readonly message: string
}> {}

/** No snapshot with this number is held. */
export class NotHeld extends Data.TaggedError("NotHeld")<{
  readonly message: string
}> {}
