/** The ledgers of a fleet in its Postgres. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as LedgerRows from "../../ledger/LedgerRows.ts"
import * as Tables from "../../ledger/Tables.ts"
import * as AccountSelection from "../AccountSelection.ts"
import { FleetDatabase } from "../FleetDatabase.ts"
import { accountNotFound } from "../FleetError.ts"
import * as AccountLedger from "./AccountLedger.ts"
import { FleetLedger, type Taken } from "./FleetLedger.ts"
import * as LedgerSessions from "./LedgerSessions.ts"

const takenRows = LedgerRows.all(Schema.Struct({
  id: Schema.String,
  number: Schema.Int,
  epoch: Schema.Int,
  revision: Schema.Int,
  shard: Schema.NullOr(Schema.Int),
  baseUrl: Schema.NullOr(Schema.String),
  accountId: Schema.NullOr(Schema.String),
  keyFingerprint: Schema.NullOr(Schema.String)
}))

const toTaken = ({ accountId, baseUrl, keyFingerprint, ...taken }: Effect.Effect.Success<ReturnType<typeof takenRows>>[number]): Taken => ({
  ...taken,
  boundTo: baseUrl === null || keyFingerprint === null
    ? Option.none()
    : Option.some({ baseUrl, keyFingerprint, id: accountId ?? undefined })
})
const dueRows = LedgerRows.all(Schema.Struct({ account: Schema.String, dueAt: LedgerRows.Instant }))
const numberRow = LedgerRows.first(Schema.Struct({ number: Schema.Int }))

const make = Effect.gen(function*() {
  const database = yield* FleetDatabase
  const { run, sql } = database
  const sessions = yield* LedgerSessions.make(database)
  const isSelected = AccountSelection.condition(sql)
  const isWaiting = sql.literal(`priority < ${Tables.priorityIndex("assertion")}`)

  return FleetLedger.of({
    // Locked in the order of ids, so that two runners with the same accounts don't block each other.
    takeOver: (selection, runner) =>
      Effect.map(
        run(takenRows(sql`
        WITH selected AS (SELECT number FROM fleet_account WHERE ${isSelected(selection)} AND NOT paused ORDER BY id FOR NO KEY UPDATE)
        UPDATE fleet_account SET epoch = epoch + 1, runner = ${runner}
        FROM selected LEFT JOIN ledger_account ON ledger_account.account = selected.number WHERE fleet_account.number = selected.number
        RETURNING fleet_account.id, fleet_account.number, epoch, revision, shard,
          ledger_account.base_url AS "baseUrl", account_id AS "accountId", key_fingerprint AS "keyFingerprint"`)),
        (rows) => rows.map(toTaken)
      ),
    open: (account, options, how) =>
      Effect.suspend(() => {
        const { epoch, id, number } = account
        const target = { id, number, epoch }
        const ledger = AccountLedger.open(database.name, sessions, target, options)
        return how === "again" ? Effect.succeed(ledger) : Effect.as(AccountLedger.recover(database.name, sessions, target, options), ledger)
      }),
    beside: (id, options) =>
      Effect.flatMap(
        run(numberRow(sql`SELECT number FROM fleet_account WHERE id = ${id}`)),
        Option.match({
          onNone: () => accountNotFound(id),
          onSome: ({ number }) => Effect.succeed(AccountLedger.open(database.name, sessions, { id, number, epoch: null }, options))
        })
      ),
    // Each part reads the first entry of an index for each account.
    dueAccounts: (selection) =>
      Effect.flatMap(Clock.currentTimeMillis, (millis) => {
        const now = sql.literal(`${millis}::bigint`)
        return run(dueRows(sql`
          SELECT account, due AS "dueAt" FROM (
            SELECT id AS account, coalesce(
              (SELECT ${now} FROM ledger_product AS product WHERE product.account = number AND ${
          sql.literal(Tables.due)
        } AND ${isWaiting} LIMIT 1),
              (SELECT ${now} FROM ledger_product AS product WHERE product.account = number AND ${
          sql.literal(Tables.exceptional)
        } AND state = 'sending' LIMIT 1),
              (SELECT greatest(due_at, ${now}) FROM ledger_product AS product WHERE product.account = number AND due_at IS NOT NULL AND ${isWaiting}
                ORDER BY due_at LIMIT 1)
            ) AS due
            FROM fleet_account WHERE ${isSelected(selection)} AND NOT paused
          ) AS account_due WHERE due IS NOT NULL`))
      })
  })
})

export const layer: Layer.Layer<FleetLedger, never, FleetDatabase> = Layer.effect(FleetLedger, make)
