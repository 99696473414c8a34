/** The ledger's operations around a request: taking a product, recording the outcome, releasing, clock changes and reconciliation. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { StockPriority } from "@plaza-legacy/client"
import { ProductId } from "@plaza-legacy/domain/Ids"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { Ledger, LedgerOptions, ObservedStock } from "./Ledger.ts"
import { idRows, type LedgerConnection } from "./LedgerConnection.ts"
import * as LedgerRows from "./LedgerRows.ts"
import * as OutcomeQueries from "./OutcomeQueries.ts"
import * as Tables from "./Tables.ts"
import * as TakeQueries from "./TakeQueries.ts"

const releasedProducts = LedgerRows.all(Schema.Struct({ id: ProductId }))

const release = (sql: SqlClient.SqlClient, products: Option.Option<ReadonlyArray<string>>) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const selected = Option.match(products, {
      // A sold piece would be on sale again, so only a person sends an uncertain product again.
      onNone: () => sql`state = 'quarantined'`,
      onSome: (ids) => sql`state IN ('quarantined', 'uncertain') AND id IN (${idRows(sql, ids)})`
    })
    const released = yield* releasedProducts(sql`
      UPDATE product SET state = ${
      sql.literal(OutcomeQueries.unconfirmedState)
    }, attempts = 0, mismatches = 0, due_at = NULL, since = ${now}, updated_at = ${now}
      WHERE ${sql.literal(Tables.exceptional)} AND ${selected} RETURNING id`)
    return released.map(({ id }) => id)
  })

const retryNow = (sql: SqlClient.SqlClient) =>
  OutcomeQueries.endDelays(
    sql,
    sql`${sql.literal(Tables.delayed)} AND NOT coalesce(${sql.literal(OutcomeQueries.awaitsLateWrites)}, false)`,
    sql`attempts = 0`
  )

// The index starts with the priority, so the query names every one.
const everyPriority = StockPriority.priorities.map(Tables.priorityIndex).join(", ")

const inFuture = LedgerRows.first(Schema.Struct({ found: Schema.Union(Schema.Boolean, Schema.Int) }))

/** Whether the ledger has times in the future, in one statement: mostly it has none. */
const hasFutureTimes = (sql: SqlClient.SqlClient, now: number) => {
  const conditions = [
    sql`product WHERE due_at IS NOT NULL AND (updated_at > ${now} OR since > ${now})`,
    sql`product WHERE ${sql.literal(Tables.due)} AND priority IN (${sql.literal(everyPriority)}) AND since > ${now}`,
    sql`product WHERE base_at > ${now}`,
    sql`product WHERE left_at > ${now}`,
    sql`request WHERE at > ${now} AND at < ${OutcomeQueries.inFlight}`
  ]
  return Effect.map(
    inFuture(sql`SELECT ${sql.join(" OR ", false)(conditions.map((rows) => sql`EXISTS (SELECT 1 FROM ${rows})`))} AS found`),
    Option.exists(({ found }) => Boolean(found))
  )
}

/** Without a known shift only times in the future show that the clock was set. */
const clockChanged = (sql: SqlClient.SqlClient, millis: number) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (millis !== 0) {
      yield* sql`UPDATE product SET due_at = due_at + ${millis}, updated_at = updated_at + ${millis} WHERE due_at IS NOT NULL`
      yield* sql`UPDATE product SET doubt_until = doubt_until + ${millis}, sent_at = sent_at + ${millis}, confirmed_at = confirmed_at + ${millis}
        WHERE doubt_until IS NOT NULL`
      yield* sql`UPDATE request SET at = at + ${millis} WHERE at < ${OutcomeQueries.inFlight}`
    }
    if (!(yield* hasFutureTimes(sql, now))) return
    // A delay that starts in the future keeps its length, and starts now.
    yield* sql`
      UPDATE product SET since = CASE WHEN since > ${now} THEN ${now} ELSE since END, updated_at = CASE WHEN updated_at > ${now} THEN ${now} ELSE updated_at END,
        due_at = CASE WHEN updated_at > ${now} THEN due_at - updated_at + ${now} ELSE due_at END
      WHERE due_at IS NOT NULL AND (updated_at > ${now} OR since > ${now})`
    yield* sql`
      UPDATE product SET since = ${now}, updated_at = ${now}, confirmed_at = CASE WHEN confirmed_at > ${now} THEN ${now} ELSE confirmed_at END
      WHERE ${sql.literal(Tables.due)} AND priority IN (${sql.literal(everyPriority)}) AND since > ${now}`
    yield* sql`UPDATE product SET base_at = ${now} WHERE base_at > ${now}`
    yield* sql`UPDATE product SET left_at = ${now} WHERE left_at > ${now}`
    yield* sql`UPDATE request SET at = ${now} WHERE at > ${now} AND at < ${OutcomeQueries.inFlight}`
  })

const comparableProducts = LedgerRows.all(Schema.Struct({ id: ProductId, state: LedgerRows.EntryState, wanted: Schema.Int }))

const observe = (
  sql: SqlClient.SqlClient,
  observed: ReadonlyArray<ObservedStock>,
  startedAt: number,
  resend: boolean
): Effect.Effect<number, SqlError | ParseError> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const stocks = new Map(observed.map(({ productId, stock }) => [productId, stock]))
    // A settled product has its wanted stock confirmed.
    const comparable = yield* comparableProducts(sql`
      SELECT id, state, wanted FROM product
      WHERE id IN (${idRows(sql, stocks.keys())}) AND ${
      sql.literal(Tables.resting)
    } AND part IN ('named', 'zeroed') AND updated_at < ${startedAt}`)
    const settled = comparable.filter(({ state }) => state === "settled")
    const differing = comparable.filter(({ id, wanted }) => wanted !== stocks.get(id))
    const equal = settled.filter(({ id, wanted }) => wanted === stocks.get(id)).map(({ id }) => id)
    yield* sql`UPDATE product SET confirmed_at = ${startedAt}, since = ${startedAt} WHERE id IN (${idRows(sql, equal)})`
    if (resend) {
      // The list may be out of date, so it does not confirm what it shows.
      yield* Effect.forEach(differing, ({ id, wanted }) =>
        sql`UPDATE product SET state = 'pending', confirmed = NULL, confirmed_at = NULL, ${
          OutcomeQueries.widenDoubt(sql, wanted, stocks.get(id) ?? wanted)
        }, since = ${now}, attempts = 0, mismatches = 0, updated_at = ${now} WHERE id = ${id}`, { discard: true })
    }
    return settled.length - equal.length
  })

const requestTimes = LedgerRows.all(Schema.Struct({ at: Schema.Int }))

const requests = (sql: SqlClient.SqlClient, options: LedgerOptions) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const rows = yield* requestTimes(
      sql`SELECT at FROM request WHERE at >= ${now - OutcomeQueries.countedMillis(options)} ORDER BY at`
    )
    // A duration is not negative: a request in flight is as recent as one that has just ended.
    return rows.map(({ at }) => Duration.millis(now - at))
  })

const requestCounter = (run: LedgerConnection["run"], sql: SqlClient.SqlClient, options: LedgerOptions): Ledger["Type"]["countRequest"] => {
  let last = 0
  return (request) =>
    Effect.acquireUseRelease(
      Effect.suspend(() => {
        const number = ++last
        return Effect.as(run(OutcomeQueries.startRequest(sql, options, number)), number)
      }),
      () => request,
      // Until the next opening it counts as a request in flight.
      (number) => Effect.ignore(run(OutcomeQueries.endRequest(sql, number)))
    )
}

export const make = (
  { run, sql }: LedgerConnection,
  options: LedgerOptions
): Pick<
  Ledger["Type"],
  | "backlog"
  | "clockChanged"
  | "confirm"
  | "countRequest"
  | "fail"
  | "nextDelayed"
  | "nextDue"
  | "observe"
  | "release"
  | "requests"
  | "retryNow"
  | "take"
> => ({
  backlog: run(TakeQueries.backlog(sql)),
  take: (selection) => run(TakeQueries.take(sql, selection)),
  nextDue: (maxAttempts) => run(TakeQueries.nextDue(sql, maxAttempts)),
  nextDelayed: run(TakeQueries.nextDelayed(sql)),
  confirm: (send) => Effect.asVoid(run(OutcomeQueries.confirm(sql, options, send))),
  fail: (send, failed) => Effect.asVoid(run(OutcomeQueries.fail(sql, options, send, failed))),
  countRequest: requestCounter(run, sql, options),
  requests: run(requests(sql, options)),
  release: (products) => run(release(sql, products)),
  retryNow: Effect.asVoid(run(retryNow(sql))),
  clockChanged: (millis) => run(clockChanged(sql, millis)),
  observe: (observed, startedAt, resend) => run(observe(sql, observed, DateTime.toEpochMillis(startedAt), resend))
})
