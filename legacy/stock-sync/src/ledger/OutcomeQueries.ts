/** Records the outcome of a request, in the product and in the history, one short transaction each. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Refusal } from "./Entry.ts"
import { clockTolerance, type FailedSend, type HistoryEntry, type LedgerOptions, type Send } from "./Ledger.ts"
import { toStorable } from "./LedgerConnection.ts"
import { together, type Write } from "./Statements.ts"
import * as Tables from "./Tables.ts"

/** The ledger stores whole milliseconds. */
export const wholeMillis = (duration: Duration.Duration): number => Math.ceil(Duration.toMillis(duration))

/** An integer in a list of results. Postgres would take a parameter there for a text. */
const integer = (sql: SqlClient.SqlClient, value: number) => sql.literal(String(value))

/** How long a request is counted, in milliseconds. */
export const countedMillis = ({ rateWindow }: LedgerOptions): number => wholeMillis(Duration.sum(rateWindow, clockTolerance))

/** Counts a request that ended at this time, and forgets those that no longer count. */
const recordRequest = (sql: SqlClient.SqlClient, options: LedgerOptions, at: number, now: number): ReadonlyArray<Write> => [
  sql`INSERT INTO request (at) VALUES (${at})`,
  sql`DELETE FROM request WHERE at < ${now - countedMillis(options)}`
]

/** Later than any time: the end of a request in flight, plus its number. */
export const inFlight = 9_000_000_000_000_000

/** Counts a request in flight that concerns no product. */
export const startRequest = (sql: SqlClient.SqlClient, options: LedgerOptions, number: number): Effect.Effect<unknown, SqlError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => together(sql, recordRequest(sql, options, inFlight + number, now)))

export const endRequest = (sql: SqlClient.SqlClient, number: number): Effect.Effect<unknown, SqlError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => sql`UPDATE request SET at = ${now} WHERE at = ${inFlight + number}`)

const recordHistory = (
  sql: SqlClient.SqlClient,
  options: LedgerOptions,
  { priority, productId, value }: Send,
  outcome: HistoryEntry["outcome"],
  refusal: Refusal | undefined,
  now: number
): ReadonlyArray<Write> => [
  ...recordRequest(sql, options, now, now),
  // Before the insertion, as each statement of `together` finds the history.
  sql`DELETE FROM history WHERE n <= (SELECT max(n) FROM history) - ${options.historyLimit - 1}`,
  sql`INSERT INTO history (product_id, value, priority, sent_at, ended_at, outcome, code, message)
      SELECT id, ${integer(sql, value)}, ${integer(sql, Tables.priorityIndex(priority))}, sent_at, ${integer(sql, now)}, ${outcome},
        ${refusal?.code ?? refusal?.tag ?? null}, ${refusal?.message ?? null}
      FROM product WHERE id = ${productId}`
]

const doubtEnded = "(doubt_until IS NULL OR sent_at >= doubt_until)"

/** No earlier request with another value may still take effect. */
const isCertain = (value: number) => `(doubt_until IS NULL OR sent_at >= doubt_until OR (doubt_low = ${value} AND doubt_high = ${value}))`

export const confirm = (sql: SqlClient.SqlClient, options: LedgerOptions, send: Send): Effect.Effect<unknown, SqlError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const { productId, value } = send
    return together(sql, [
      ...recordHistory(sql, options, send, "confirmed", undefined, now),
      sql`${
        sql.literal(`UPDATE product SET confirmed = ${value}, confirmed_at = ${now}, attempts = 0, updated_at = ${now},
          state = CASE WHEN wanted = ${value} AND ${isCertain(value)} THEN 'settled' WHEN ${doubtEnded} THEN 'pending' ELSE 'doubtful' END,
          due_at = CASE WHEN wanted = ${value} AND NOT ${isCertain(value)} THEN doubt_until END,
          since = CASE WHEN wanted = ${value} THEN ${now} ELSE since END,
          doubt_low = CASE WHEN ${doubtEnded} THEN NULL ELSE doubt_low END,
          doubt_high = CASE WHEN ${doubtEnded} THEN NULL ELSE doubt_high END,
          doubt_until = CASE WHEN ${doubtEnded} THEN NULL ELSE doubt_until END,
          refusal_tag = NULL, refusal_code = NULL, refusal_message = NULL, refused = NULL, mismatches = 0
        WHERE id = `)
      }${productId}`
    ])
  })

/** The state of an unconfirmed product. */
export const unconfirmedState = "CASE WHEN doubt_until IS NULL THEN 'pending' ELSE 'doubtful' END"

/** Makes delayed products due. An uncertain one is no longer uncertain, but waits to be sent. */
export const endDelays = (sql: SqlClient.SqlClient, condition: Fragment, ...further: ReadonlyArray<Fragment>) =>
  sql`UPDATE product SET due_at = NULL, state = CASE WHEN state = 'uncertain' THEN ${sql.literal(unconfirmedState)} ELSE state END${
    sql.join("", false)(further.map((assignment) => sql`, ${assignment}`))
  } WHERE ${condition}`

/** The lowest and the highest of the stocks that the store may have, as whole numbers that the ledger stores. */
const rangeOf = (...stocks: ReadonlyArray<number>): readonly [low: number, high: number] => {
  const storable = stocks.map((stock) => Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, stock)))
  return [Math.floor(Math.min(...storable)), Math.ceil(Math.max(...storable))]
}

/** Widens the range of the requests that may still take effect by a stock. */
const widened = (stock: number) =>
  `doubt_low = CASE WHEN doubt_until IS NOT NULL AND doubt_low < ${stock} THEN doubt_low ELSE ${stock} END,
    doubt_high = CASE WHEN doubt_until IS NOT NULL AND doubt_high > ${stock} THEN doubt_high ELSE ${stock} END`

/** The range after a response that shows another stock. If an earlier request may still take effect, it stays the range of those. */
const shownRange = (sent: number, shown: number) => {
  const [low, high] = rangeOf(sent, shown)
  return `doubt_low = CASE WHEN ${doubtEnded} THEN ${low} WHEN doubt_low < ${sent} THEN doubt_low ELSE ${sent} END,
    doubt_high = CASE WHEN ${doubtEnded} THEN ${high} WHEN doubt_high > ${sent} THEN doubt_high ELSE ${sent} END`
}

/** Widens the range of the stocks that the store may have. */
export const widenDoubt = (sql: SqlClient.SqlClient, ...stocks: ReadonlyArray<number>) => {
  const [low, high] = rangeOf(...stocks)
  return sql.literal(`doubt_low = CASE WHEN doubt_low < ${low} THEN doubt_low ELSE ${low} END,
    doubt_high = CASE WHEN doubt_high > ${high} THEN doubt_high ELSE ${high} END`)
}

const storable = (refusal: Refusal): Refusal => ({
  ...refusal,
  code: refusal.code === undefined ? undefined : toStorable(refusal.code),
  message: toStorable(refusal.message)
})

export const fail = (sql: SqlClient.SqlClient, options: LedgerOptions, send: Send, failed: FailedSend): Effect.Effect<unknown, SqlError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const { productId, value } = send
    const { observed, state } = failed
    const refusal = storable(failed.refusal)
    const retryAt = failed.retryIn === undefined ? now : now + wholeMillis(failed.retryIn)
    const isDelayed = state === "uncertain" ? failed.retryIn !== undefined : retryAt > now
    const dueAt = sql.literal(`CAST(${isDelayed ? retryAt : "NULL"} AS BIGINT)`)
    const mayTakeEffect = state === "doubtful" || (state === "uncertain" && observed === undefined)
    // Without an end, the range is that of shown stocks, which no request may still bring.
    const doubt = mayTakeEffect
      ? sql`${sql.literal(widened(value))}, doubt_until = ${now + wholeMillis(options.lateWrites)},`
      : observed === "absent"
      ? sql`doubt_low = NULL, doubt_high = NULL, doubt_until = NULL,`
      : observed === undefined
      ? sql``
      : sql`${sql.literal(shownRange(value, observed))}, doubt_until = CASE WHEN ${sql.literal(doubtEnded)} THEN NULL ELSE doubt_until END,
        mismatches = CASE WHEN wanted = ${value} THEN ${sql.literal(observed > value ? "mismatches + 1" : "0")} ELSE 0 END,`
    // What the response shows may be out of date, and the request took effect all the same: neither value is confirmed.
    const confirmed = observed === undefined ? sql`` : sql`confirmed = NULL, confirmed_at = NULL,`
    const otherwise = sql.literal(mayTakeEffect ? "'doubtful'" : observed === "absent" ? "'pending'" : unconfirmedState)
    // An earlier request with another stock may still overwrite this one: then it is sent again, as a confirmed one is.
    const afterLateWrites = state === "uncertain" && observed !== undefined && failed.retryIn === undefined
      ? sql.literal(`CASE WHEN NOT ${isCertain(value)} THEN doubt_until END`)
      : dueAt
    // An outcome holds for the stock that was sent, and another one may be wanted by now.
    const outcome = state === "quarantined" || state === "uncertain"
      ? sql`state = CASE WHEN wanted = ${value} THEN ${sql.literal(`'${state}'`)} ELSE ${otherwise} END,
        due_at = CASE WHEN wanted = ${value} THEN ${afterLateWrites} END, ${
        sql.literal(state === "uncertain" ? `since = CASE WHEN wanted = ${value} THEN ${now} ELSE since END,` : "")
      }`
      : sql`state = ${otherwise}, due_at = ${dueAt},`
    return together(sql, [
      ...recordHistory(sql, options, send, state, refusal, now),
      sql`UPDATE product SET ${outcome} ${doubt} ${confirmed} refusal_tag = ${refusal.tag}, refusal_code = ${refusal.code ?? null},
          refusal_message = ${refusal.message}, refused = ${value}, updated_at = ${now}
        WHERE id = ${productId}`
    ])
  })

/** Confirmed, and sent again once no earlier request can take effect any longer. */
export const awaitsLateWrites = "(confirmed = wanted AND due_at = doubt_until)"

/**
 * Marks the requests of an earlier process as doubtful, and counts them as if they ended now. They may still take effect for `lateWrites` from now on, as may earlier
 * doubtful requests: the time since then is unknown, because the wall clock may have been set.
 */
export const markInterrupted = (sql: SqlClient.SqlClient, options: LedgerOptions): Effect.Effect<unknown, SqlError> =>
  Effect.flatMap(hasDoubts(sql), (found) => found.length === 0 ? Effect.void : sql.withTransaction(markDoubts(sql, options)))

/** A row if a request was in flight when the ledger was last used, or an earlier one may still take effect: mostly none is left. */
const hasDoubts = (sql: SqlClient.SqlClient) =>
  sql`SELECT 1 WHERE EXISTS (SELECT 1 FROM request WHERE at >= ${inFlight})
    OR EXISTS (SELECT 1 FROM product WHERE ${sql.literal(Tables.exceptional)} AND state = 'sending')
    OR EXISTS (SELECT 1 FROM product WHERE doubt_until IS NOT NULL)`

const markDoubts = (sql: SqlClient.SqlClient, { lateWrites }: LedgerOptions): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const until = now + wholeMillis(lateWrites)
    yield* sql`UPDATE request SET at = ${now} WHERE at >= ${inFlight}`
    yield* sql`INSERT INTO request (at) SELECT ${integer(sql, now)} FROM product WHERE ${
      sql.literal(Tables.exceptional)
    } AND state = 'sending'`
    yield* sql`INSERT INTO history (product_id, value, priority, sent_at, ended_at, outcome, code, message)
      SELECT id, sent, ${integer(sql, Tables.priorityIndex("rest"))}, sent_at, ${
      integer(sql, now)
    }, 'doubtful', 'Interrupted', 'the process ended before the response came'
      FROM product WHERE ${sql.literal(Tables.exceptional)} AND state = 'sending' AND sent_at IS NOT NULL`
    yield* sql`UPDATE product SET doubt_until = ${until},
        due_at = CASE WHEN ${sql.literal(awaitsLateWrites)} THEN CAST(${until} AS BIGINT) ELSE due_at END,
        updated_at = CASE WHEN ${sql.literal(awaitsLateWrites)} THEN CAST(${now} AS BIGINT) ELSE updated_at END
      WHERE doubt_until IS NOT NULL`
    yield* sql`UPDATE product SET state = 'doubtful', due_at = NULL, doubt_until = ${until},
        doubt_low = CASE WHEN doubt_until IS NOT NULL AND doubt_low < sent THEN doubt_low ELSE sent END,
        doubt_high = CASE WHEN doubt_until IS NOT NULL AND doubt_high > sent THEN doubt_high ELSE sent END
      WHERE ${sql.literal(Tables.exceptional)} AND state = 'sending'`
  })
