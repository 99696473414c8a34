/**
 * The ledgers of a fleet's accounts, in tables that all accounts share. A runner takes accounts over, which raises their epoch, and opens
 * their ledgers with that epoch: from then on every operation of an earlier epoch fails and writes nothing.
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AccountLedger from "../ledger/AccountLedger.ts"
import * as Faults from "../ledger/database/Faults.ts"
import type { Account, Ledger, LedgerOptions } from "../ledger/Ledger.ts"
import type { LedgerFault } from "../ledger/LedgerError.ts"
import * as Operation from "../ledger/Operation.ts"
import * as Rows from "../ledger/Rows.ts"
import * as Tables from "../ledger/Schema.ts"
import * as StockPriority from "../ledger/StockPriority.ts"
import * as AccountSelection from "./AccountSelection.ts"
import { FleetDatabase, naming } from "./FleetDatabase.ts"
import { type AccountNotFound, accountNotFound, type FleetDatabaseError } from "./FleetError.ts"

/** What a runner needs to open the ledger of an account that it has taken over. */
export interface OwnedAccount {
  readonly id: string
  /** Stands for the account in the tables of the ledger. An account that is removed and added again has another one. */
  readonly account: number
  /** The number of times that the account was taken over. */
  readonly epoch: number
  /** What its ledger is bound to; none before the first `bind`. */
  readonly boundTo: Option.Option<Account>
}

/** When the next product of an account is due. */
export interface DueAccount {
  /** The id of the account. */
  readonly account: string
  /** The time of the query if a product is due already. */
  readonly dueAt: DateTime.Utc
}

export class FleetLedger extends Context.Service<FleetLedger, {
  /**
   * Makes a runner the owner of these accounts and raises their epochs, in one statement. Leaves out paused accounts: their former
   * runner can still record the outcomes of its last requests. Take an account over by its id when it is resumed, added or moved.
   *
   * Never waits for an account: leaves out those that a removal or a write of their former runner has locked. Take these over later.
   */
  readonly takeOver: (
    selection: AccountSelection.AccountSelection,
    runner: string
  ) => Effect.Effect<ReadonlyArray<OwnedAccount>, FleetDatabaseError>
  /**
   * The ledger of an account that this runner has taken over. It holds no connection between operations, needs no closing, and runs
   * one operation at a time, so open it once per worker.
   *
   * - `afterTakeover`: the first opening of a new account, and after a takeover with due products, after a `LedgerFault` and after a worker
   *   that was interrupted. Requests without outcome become doubtful.
   * - `again`: any other. Runs no statement.
   *
   * After a fault every further operation of this opening fails with it. Its `isTakenOver` tells whether another runner is the reason.
   */
  readonly open: (
    account: OwnedAccount,
    options: LedgerOptions,
    how: "afterTakeover" | "again"
  ) => Effect.Effect<Ledger["Service"], LedgerFault>
  /**
   * The ledger of an account beside its runner, for reading and for what a person does: `confirmHeld`, `release`, `resend`, `revert`. Other
   * operations disturb the runner.
   */
  readonly beside: (id: string, options: LedgerOptions) => Effect.Effect<Ledger["Service"], AccountNotFound | FleetDatabaseError>
  /**
   * The next due product of each account, in one query, without paused accounts and those that have nothing to send. Asks for accounts
   * without a worker: products that an earlier runner left as `sending` count as due, so that their account is opened. Quarantined
   * products count when they are retried; the reassertion of confirmed stock does not count.
   */
  readonly dueAccounts: (
    selection: AccountSelection.AccountSelection
  ) => Effect.Effect<ReadonlyArray<DueAccount>, FleetDatabaseError>
}>()("@plaza/stock-sync/fleet/FleetLedger") {}

const TakenRow = Schema.Struct({
  id: Schema.String,
  account: Schema.Int,
  epoch: Schema.Int,
  base_url: Schema.NullOr(Schema.String),
  profile_id: Schema.NullOr(Schema.String),
  key_fingerprint: Schema.NullOr(Schema.String)
})
const takenRows = Rows.all(TakenRow)

const toOwned = ({ base_url: baseUrl, key_fingerprint: keyFingerprint, profile_id: id, ...taken }: typeof TakenRow.Type): OwnedAccount => ({
  ...taken,
  boundTo: baseUrl === null || keyFingerprint === null
    ? Option.none()
    : Option.some({ baseUrl, keyFingerprint, id: id ?? undefined })
})

const dueRows = Rows.all(Schema.Struct({ account: Schema.String, dueAt: Rows.Instant }))
const accountRow = Rows.first(Schema.Struct({ account: Schema.Int }))

const isWaiting = `priority < ${StockPriority.indexOf("assertion")}`

export const layer: Layer.Layer<FleetLedger, never, FleetDatabase> = Layer.effect(
  FleetLedger,
  Effect.gen(function*() {
    const { ledgers, name, run, sql } = yield* FleetDatabase
    const isSelected = AccountSelection.condition(sql)

    const databaseOf = (id: string, epoch: number | undefined): Operation.Database => {
      const path = `of account ${id} in ${name}`
      const takenOver = epoch === undefined
        ? `the account ${id} was removed`
        : `another runner has taken over the account ${id}, or it was removed: this runner stops working on it, and wrote nothing`
      return { ...ledgers, sql, path, faultOf: Faults.ofAccount(path, naming(`the ledger ${path}`), takenOver) }
    }

    return FleetLedger.of({
      // A removal locks its account for minutes. Its runner must not wait with all others.
      takeOver: (selection, runner) =>
        Effect.flatMap(Operation.now, (now) =>
          Effect.map(
            run(takenRows(sql`
              WITH selected AS (
                SELECT account, id FROM fleet_account JOIN account USING (account)
                WHERE ${isSelected(selection)} AND NOT paused ORDER BY account FOR NO KEY UPDATE OF account SKIP LOCKED)
              UPDATE account SET epoch = epoch + 1, owner = ${runner}, owned_since = ${now} FROM selected
              WHERE account.account = selected.account
              RETURNING selected.id, account.account, epoch, base_url, profile_id, key_fingerprint`)),
            (rows) => rows.map(toOwned)
          )),
      open: ({ account, epoch, id }, options, how) => {
        const database = databaseOf(id, epoch)
        const ledger = AccountLedger.make(database, { account, epoch }, options)
        return how === "again" ? Effect.succeed(ledger) : Effect.as(
          Operation.orFault(database.faultOf)(ledgers.inTurn(AccountLedger.recover({ sql, account, epoch }, options))),
          ledger
        )
      },
      beside: (id, options) =>
        Effect.flatMap(
          run(accountRow(sql`SELECT account FROM fleet_account WHERE id = ${id}`)),
          Option.match({
            onNone: () => Effect.fail(accountNotFound(id)),
            onSome: ({ account }) => Effect.succeed(AccountLedger.make(databaseOf(id, undefined), { account, epoch: undefined }, options))
          })
        ),
      // Each part reads the first entry of an index for each account.
      dueAccounts: (selection) =>
        Effect.flatMap(Operation.now, (millis) => {
          const now = Operation.integer(sql, millis)
          const first = (columns: typeof now, condition: string) =>
            sql`(SELECT ${columns} FROM product WHERE product.account = fleet_account.account AND ${sql.literal(condition)} LIMIT 1)`
          return run(dueRows(sql`
            SELECT id AS account, due AS "dueAt" FROM (
              SELECT id, coalesce(${first(now, `${Tables.due} AND ${isWaiting}`)},
                ${first(now, `${Tables.exceptional} AND state = 'sending'`)},
                ${first(sql`greatest(due_at, ${now})`, `due_at IS NOT NULL AND ${isWaiting} ORDER BY due_at`)}) AS due
              FROM fleet_account WHERE ${isSelected(selection)} AND NOT paused
            ) AS account_due WHERE due IS NOT NULL`))
        })
    })
  })
)
