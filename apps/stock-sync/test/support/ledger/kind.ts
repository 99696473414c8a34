/** What a test needs of a ledger: where it can be, how it is opened, and what only tests do to its tables. */
import type { Effect, Layer, Scope } from "effect"
import type { EntryState } from "../../../src/ledger/Entry.ts"
import type { Ledger, LedgerOptions } from "../../../src/ledger/Ledger.ts"
import type { LedgerFault, LedgerInUse } from "../../../src/ledger/LedgerError.ts"

/** For the worker, for `retry` and `confirm` beside it, for `status`, or a temporary copy for `plan`. */
export type Access = "owner" | "beside" | "readOnly" | "copy"

/** A product as a test writes it into the table. */
export interface StoredProduct {
  readonly id: string
  readonly wanted: number
  readonly confirmed: number | undefined
  readonly doubt: { readonly lowest: number; readonly highest: number } | undefined
  readonly state: EntryState
  readonly listing: "named" | "missing" | "zeroed" | "excluded"
  readonly dueAt: number | undefined
}

/** What tests do in the database of a ledger, past the ledger. */
export interface WhiteBox {
  /** The ledger belongs to no account any longer. */
  readonly forgetAccount: (place: string) => Effect.Effect<void>
  /** Another process takes the ledger over. */
  readonly takeOver: (place: string) => Effect.Effect<void>
  /** Adds products, and returns the position of each in the order of sending by its id; null: it is not sent. */
  readonly prioritiesOf: (place: string, products: ReadonlyArray<StoredProduct>) => Effect.Effect<ReadonlyMap<string, number | null>>
  /** Requests that the ledger keeps for the rate window. */
  readonly storedRequests: (place: string) => Effect.Effect<number>
  /** The latest request is in flight again, as a process that is killed leaves it. */
  readonly killDuringLastRequest: (place: string) => Effect.Effect<void>
}

export interface Kind {
  /** A place where no ledger is yet, which vanishes with the test. */
  readonly fresh: Effect.Effect<string, never, Scope.Scope>
  readonly layer: (place: string, access: Access, options: LedgerOptions) => Layer.Layer<Ledger, LedgerFault | LedgerInUse>
  readonly whiteBox: WhiteBox
}
