/**
 * The ledgers of a fleet's accounts, in tables that all accounts share. A runner takes accounts over, which raises their epoch, and opens
 * their ledgers with that epoch: from then on every operation of an earlier epoch fails and writes nothing.
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Account, Ledger, LedgerOptions } from "../../ledger/Ledger.ts"
import type { LedgerFault } from "../../ledger/LedgerError.ts"
import type { AccountSelection } from "../AccountSelection.ts"
import { type AccountNotFound, AccountTakenOver, type FleetDatabaseError } from "../FleetError.ts"

/** What a runner needs to open the ledger of an account that it has taken over. */
export interface OwnedAccount {
  readonly id: string
  /** Stands for the account in the tables of the ledger. An account that is removed and added again has another number. */
  readonly number: number
  /** The number of times that the account was taken over. */
  readonly epoch: number
  /** What its ledger is bound to; none before the first `bind`. */
  readonly boundTo: Option.Option<Account>
}

/** An account that was taken over. Its settings are those of this revision; `FleetAccounts` reads them when they are used. */
export interface Taken extends OwnedAccount {
  readonly revision: number
  /** Null until the first runner sees the account. */
  readonly shard: number | null
}

/** When the next product of an account is due. */
export interface DueAccount {
  readonly account: string
  /** The time of the query if a product is due already. */
  readonly dueAt: DateTime.Utc
}

export class FleetLedger extends Context.Tag("@plaza/stock-sync/fleet/ledger/FleetLedger")<FleetLedger, {
  /**
   * Makes a runner the owner of these accounts and raises their epochs, in one statement. Leaves out paused accounts: their former
   * runner can still record the outcomes of its last requests. Take an account over by its id when it is resumed, added or moved.
   */
  readonly takeOver: (selection: AccountSelection, runner: string) => Effect.Effect<ReadonlyArray<Taken>, FleetDatabaseError>
  /**
   * The ledger of an account that this runner has taken over. It holds no connection between operations, needs no closing, and runs
   * one operation at a time, so open it once per worker.
   *
   * - `afterTakeover`: the first opening of a new account, and after a takeover with due products, after a `LedgerFault` and after a worker
   *   that was interrupted. Requests without outcome become doubtful.
   * - `again`: any other. Runs no statement.
   *
   * After a fault every further operation of this opening fails with it. `isTakenOver` tells whether another runner is the reason.
   */
  readonly open: (
    account: OwnedAccount,
    options: LedgerOptions,
    how: "afterTakeover" | "again"
  ) => Effect.Effect<Ledger["Type"], LedgerFault>
  /** The ledger of an account beside its runner, for reading, `confirmHeld` and `release`. Other operations disturb the runner. */
  readonly beside: (
    id: string,
    options: LedgerOptions
  ) => Effect.Effect<Ledger["Type"], AccountNotFound | FleetDatabaseError>
  /**
   * The next due product of each account, in one query, without paused accounts and those that have nothing to send. Asks for accounts
   * without a worker: products that an earlier runner left as `sending` count as due, so that their account is opened. Quarantined
   * products count when they are retried; the reassertion of confirmed stock does not count.
   */
  readonly dueAccounts: (selection: AccountSelection) => Effect.Effect<ReadonlyArray<DueAccount>, FleetDatabaseError>
}>() {}

/** Whether an operation failed because another runner has taken the account over, or because the account was removed. */
export const isTakenOver = (fault: LedgerFault): boolean => fault.cause instanceof AccountTakenOver
