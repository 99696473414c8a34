/** The ledgers of a fleet in its Postgres. */
import type { SqlError } from "@effect/sql/SqlError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as LedgerRows from "../../ledger/LedgerRows.js"
import * as Tables from "../../ledger/Tables.js"
import { FleetDatabase } from "../FleetDatabase.js"
import { accountNotFound } from "../FleetError.js"
import * as AccountLedger from "./AccountLedger.js"
import { type AccountSelection, FleetLedger, type Taken } from "./FleetLedger.js"
import * as LedgerSessions from "./LedgerSessions.js"

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
const Backlog = Schema.Struct({
  account: Schema.String,
  waiting: Schema.Int,
  quarantined: Schema.Int,
  since: Schema.NullOr(LedgerRows.Instant)
})
const backlogRows = LedgerRows.all(Backlog)
const largestRow = LedgerRows.first(
  Schema.Struct({ ...Backlog.fields, accounts: Schema.Int, allWaiting: Schema.Int, allQuarantined: Schema.Int })
)
const soldOutRow = LedgerRows.first(Schema.Struct({ account: Schema.String, productId: Schema.String, since: LedgerRows.Instant }))
const numberRow = LedgerRows.first(Schema.Struct({ number: Schema.Int }))

const toBacklog = ({ account, quarantined, since, waiting }: typeof Backlog.Type) => ({
  account,
  waiting,
  quarantined,
  since: since ?? undefined
})

// Without products in flight, which have no priority, and reassertions, which are settled.
const unsettled = "state <> 'settled' AND priority IS NOT NULL"
const figures = `count(*) FILTER (WHERE state <> 'quarantined') AS waiting, count(*) FILTER (WHERE state = 'quarantined') AS quarantined,
  min(since) FILTER (WHERE state <> 'quarantined') AS since`

const make = Effect.gen(function*() {
  const database = yield* FleetDatabase
  const { run, sql } = database
  const sessions = yield* LedgerSessions.make(database.pool)
  // The tables hold only what this program wrote.
  const query = <A>(statements: Effect.Effect<A, ParseError | SqlError>) => run(Effect.catchTag(statements, "ParseError", Effect.die))

  const isSelected = (selection: AccountSelection) =>
    selection._tag === "Shards"
      ? sql`shard IN (SELECT value::int FROM json_array_elements_text(${JSON.stringify([...selection.shards])}::json) AS one (value))`
      : sql`id IN (SELECT value FROM json_array_elements_text(${JSON.stringify([...selection.ids])}::json) AS one (value))`

  const isWaiting = sql.literal(`priority < ${Tables.priorityIndex("assertion")}`)

  return FleetLedger.of({
    // Locked in the order of ids, so that two runners with the same accounts don't block each other.
    takeOver: (selection, runner) =>
      Effect.map(
        query(takenRows(sql`
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
        query(numberRow(sql`SELECT number FROM fleet_account WHERE id = ${id}`)),
        Option.match({
          onNone: () => accountNotFound(id),
          onSome: ({ number }) => Effect.succeed(AccountLedger.open(database.name, sessions, { id, number, epoch: null }, options))
        })
      ),
    // Each part reads the first entry of an index for each account.
    dueAccounts: (selection) =>
      Effect.flatMap(Clock.currentTimeMillis, (millis) => {
        const now = sql.literal(`${millis}::bigint`)
        return query(dueRows(sql`
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
      }),
    backlogs: (ids) =>
      Effect.map(
        query(backlogRows(sql`
          SELECT fleet_account.id AS account, waiting, quarantined, since FROM fleet_account
          CROSS JOIN LATERAL (
            SELECT ${sql.literal(figures)} FROM ledger_product AS product WHERE product.account = number AND ${sql.literal(unsettled)}
          ) AS backlog
          WHERE ${isSelected({ _tag: "Ids", ids })} AND waiting + quarantined > 0 ORDER BY fleet_account.id`)),
        (rows) => rows.map(toBacklog)
      ),
    backlog: Effect.map(
      query(Effect.all({
        largest: largestRow(sql`
          SELECT fleet_account.id AS account, waiting, quarantined, since, CAST(sum(waiting) OVER () AS BIGINT) AS "allWaiting",
            CAST(sum(quarantined) OVER () AS BIGINT) AS "allQuarantined", count(*) FILTER (WHERE waiting > 0) OVER () AS accounts
          FROM (SELECT account, ${sql.literal(figures)} FROM ledger_product WHERE ${sql.literal(unsettled)} GROUP BY account) AS backlog
          JOIN fleet_account ON number = backlog.account ORDER BY waiting DESC, fleet_account.id LIMIT 1`),
        soldOut: soldOutRow(sql`
          SELECT fleet_account.id AS account, product.id AS "productId", since FROM ledger_product AS product
          JOIN fleet_account ON number = product.account
          WHERE priority = ${sql.literal(String(Tables.priorityIndex("soldOut")))} AND state <> 'quarantined' ORDER BY since LIMIT 1`)
      })),
      ({ largest, soldOut }) =>
        Option.match(largest, {
          onNone: () => ({ waiting: 0, quarantined: 0, accounts: 0, largest: undefined, oldestSoldOut: undefined }),
          onSome: (row) => ({
            waiting: row.allWaiting,
            quarantined: row.allQuarantined,
            accounts: row.accounts,
            largest: row.waiting > 0 ? toBacklog(row) : undefined,
            oldestSoldOut: Option.getOrUndefined(soldOut)
          })
        })
    )
  })
})

export const layer: Layer.Layer<FleetLedger, never, FleetDatabase> = Layer.effect(FleetLedger, make)
