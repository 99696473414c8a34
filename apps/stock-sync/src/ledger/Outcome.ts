/** Records the outcome of a request, in the product and in the history. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Fragment } from "effect/sql/Statement"
import type { Refusal } from "./Entry.ts"
import type { FailedSend, HistoryEntry, LedgerOptions, Send } from "./Ledger.ts"
import * as Operation from "./Operation.ts"
import { by, type Failure, integer, mine, type Step, type Target, together, toStorable } from "./Operation.ts"
import * as Requests from "./Requests.ts"
import * as Tables from "./Schema.ts"
import * as StockPriority from "./StockPriority.ts"

/** The ledger stores whole milliseconds. */
const wholeMillis = (duration: Duration.Duration): number => Math.ceil(Duration.toMillis(duration))

/** The last number of the account's history. */
const lastNumber = (target: Target) => target.sql`(SELECT coalesce(max(n), 0) FROM history WHERE ${mine(target)})`

const recordHistory = (
  target: Target,
  options: LedgerOptions,
  { priority, productId, since, value }: Send,
  outcome: HistoryEntry["outcome"],
  refusal: Refusal | undefined,
  now: number
): ReadonlyArray<Step> => {
  const { sql } = target
  return [
    ...Requests.record(target, options, now, now),
    // Before the insertion, as each statement of `together` finds the history.
    (isOwned) => sql`DELETE FROM history WHERE ${mine(target)} AND n <= ${lastNumber(target)} - ${options.historyLimit - 1} AND ${isOwned}`,
    (isOwned) =>
      sql`INSERT INTO history (account, n, product_id, value, priority, waiting_since, sent_at, ended_at, outcome, code, message)
        SELECT account, ${lastNumber(target)} + 1, id, ${integer(sql, value)}, ${integer(sql, StockPriority.indexOf(priority))},
          ${integer(sql, DateTime.toEpochMillis(since))}, sent_at, ${integer(sql, now)}, ${outcome}, ${
        refusal?.code ?? refusal?.tag ?? null
      }, ${refusal?.message ?? null}
        FROM product WHERE ${mine(target)} AND id = ${productId} AND ${isOwned}`
  ]
}

const doubtEnded = "(doubt_until IS NULL OR sent_at >= doubt_until)"

/** No earlier request with another value may still take effect. */
const isCertain = (value: number) => `(${doubtEnded} OR (doubt_low = ${value} AND doubt_high = ${value}))`

const update = (target: Target, { productId }: Send, assignments: Fragment): Step => (isOwned) =>
  target.sql`UPDATE product SET ${assignments} WHERE ${mine(target)} AND id = ${productId} AND ${isOwned}`

export const confirm = (target: Target, options: LedgerOptions, send: Send): Effect.Effect<void, Failure> =>
  Effect.flatMap(Operation.now, (now) => {
    const { sql } = target
    const { value } = send
    return together(target, [
      ...recordHistory(target, options, send, "confirmed", undefined, now),
      update(target, send, sql`confirmed = ${value}, confirmed_at = ${now}, attempts = 0, updated_at = ${now}, mismatches = 0,
        ${
        sql.literal(
          `state = CASE WHEN wanted = ${value} AND ${isCertain(value)} THEN 'settled' WHEN ${doubtEnded} THEN 'pending' ELSE 'doubtful' END,
        due_at = CASE WHEN wanted = ${value} AND NOT ${isCertain(value)} THEN doubt_until END,
        doubt_low = CASE WHEN ${doubtEnded} THEN NULL ELSE doubt_low END,
        doubt_high = CASE WHEN ${doubtEnded} THEN NULL ELSE doubt_high END,
        doubt_until = CASE WHEN ${doubtEnded} THEN NULL ELSE doubt_until END,
        refusal_tag = NULL, refusal_code = NULL, refusal_message = NULL, refused_stock = NULL`
        )
      }, queued_at = CASE WHEN wanted = ${value} THEN ${integer(sql, now)} ELSE queued_at END`)
    ])
  })

/** The state of an unconfirmed product. */
export const unconfirmedState = "CASE WHEN doubt_until IS NULL THEN 'pending' ELSE 'doubtful' END"

/** Makes delayed products due. An uncertain one is no longer uncertain, but waits to be sent. */
export const endDelays = (target: Target, condition: Fragment, further?: Fragment) => {
  const { sql } = target
  return sql`UPDATE product ${by(target, "product_delayed")} SET due_at = NULL, state = CASE WHEN state = 'uncertain' THEN ${
    sql.literal(unconfirmedState)
  } ELSE state END ${further === undefined ? sql`` : sql`, ${further}`} WHERE ${mine(target)} AND ${condition}`
}

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
export const widenDoubt = ({ sql }: Target, ...stocks: ReadonlyArray<number>): Fragment => {
  const [low, high] = rangeOf(...stocks)
  return sql.literal(`doubt_low = CASE WHEN doubt_low < ${low} THEN doubt_low ELSE ${low} END,
    doubt_high = CASE WHEN doubt_high > ${high} THEN doubt_high ELSE ${high} END`)
}

const storable = (refusal: Refusal): Refusal => ({
  ...refusal,
  code: refusal.code === undefined ? undefined : toStorable(refusal.code),
  message: toStorable(refusal.message)
})

export const fail = (target: Target, options: LedgerOptions, send: Send, failed: FailedSend): Effect.Effect<void, Failure> =>
  Effect.flatMap(Operation.now, (now) => {
    const { sql } = target
    const { value } = send
    const { observed, state } = failed
    const refusal = storable(failed.refusal)
    const retryAt = failed.retryIn === undefined ? now : now + wholeMillis(failed.retryIn)
    const isDelayed = state === "uncertain" ? failed.retryIn !== undefined : retryAt > now
    const dueAt = isDelayed ? integer(sql, retryAt) : sql`CAST(NULL AS BIGINT)`
    const isWanted = sql.literal(`wanted = ${value}`)
    const mayTakeEffect = state === "doubtful" || (state === "uncertain" && observed === undefined)
    // Without an end, the range is that of shown stocks, which no request may still bring.
    const doubt = mayTakeEffect
      ? sql`${sql.literal(widened(value))}, doubt_until = ${now + wholeMillis(options.lateWrites)},`
      : observed === "absent"
      ? sql`doubt_low = NULL, doubt_high = NULL, doubt_until = NULL,`
      : observed === undefined
      ? sql``
      : sql`${sql.literal(shownRange(value, observed))}, doubt_until = CASE WHEN ${sql.literal(doubtEnded)} THEN NULL ELSE doubt_until END,
        mismatches = CASE WHEN ${isWanted} THEN ${sql.literal(observed > value ? "mismatches + 1" : "0")} ELSE 0 END,`
    // What the response shows may be out of date, and the request took effect all the same: neither value is confirmed.
    const confirmed = observed === undefined ? sql`` : sql`confirmed = NULL, confirmed_at = NULL,`
    const otherwise = sql.literal(mayTakeEffect ? "'doubtful'" : observed === "absent" ? "'pending'" : unconfirmedState)
    // An earlier request with another stock may still overwrite this one: then it is sent again, as a confirmed one is.
    const afterLateWrites = state === "uncertain" && observed !== undefined && failed.retryIn === undefined
      ? sql.literal(`CASE WHEN NOT ${isCertain(value)} THEN doubt_until END`)
      : dueAt
    // An outcome holds for the stock that was sent, and another one may be wanted by now.
    const outcome = state === "quarantined" || state === "uncertain"
      ? sql`state = CASE WHEN ${isWanted} THEN ${sql.literal(`'${state}'`)} ELSE ${otherwise} END,
        due_at = CASE WHEN ${isWanted} THEN ${afterLateWrites} END,
        ${state === "uncertain" ? sql`queued_at = CASE WHEN ${isWanted} THEN ${integer(sql, now)} ELSE queued_at END,` : sql``}`
      : sql`state = ${otherwise}, due_at = ${dueAt},`
    return together(target, [
      ...recordHistory(target, options, send, state, refusal, now),
      update(target, send, sql`${outcome} ${doubt} ${confirmed} refusal_tag = ${refusal.tag}, refusal_code = ${refusal.code ?? null},
        refusal_message = ${refusal.message}, refused_stock = ${value}, updated_at = ${now}`)
    ])
  })

/** Confirmed, and sent again once no earlier request can take effect any longer. */
export const awaitsLateWrites = "(confirmed = wanted AND due_at = doubt_until)"

/**
 * Marks the requests of an earlier owner as doubtful, and counts them as if they ended now. They may still take effect for `lateWrites`
 * from now on, as may earlier doubtful requests: the time since then is unknown, because the wall clock may have been set.
 */
export const markInterrupted = (target: Target, { lateWrites }: Pick<LedgerOptions, "lateWrites">): Effect.Effect<void, Failure> =>
  Effect.gen(function*() {
    const { sql } = target
    const sending = sql`product ${by(target, "product_exceptional")}`
    const isSending = sql`${mine(target)} AND ${sql.literal(Tables.exceptional)} AND state = 'sending'`
    const doubted = sql`product ${by(target, "product_doubt")}`
    const isDoubted = sql`${mine(target)} AND doubt_until IS NOT NULL`
    // Mostly there is none.
    const found = yield* sql`SELECT 1 WHERE EXISTS (SELECT 1 FROM request WHERE ${mine(target)} AND ended_at >= ${Requests.inFlight})
      OR EXISTS (SELECT 1 FROM ${sending} WHERE ${isSending}) OR EXISTS (SELECT 1 FROM ${doubted} WHERE ${isDoubted})`
    if (found.length === 0) return
    const now = yield* Operation.now
    const until = now + wholeMillis(lateWrites)
    yield* Operation.transaction(target, Effect.gen(function*() {
      yield* sql`UPDATE request SET ended_at = ${now} WHERE ${mine(target)} AND ended_at >= ${Requests.inFlight}`
      yield* sql`INSERT INTO request (account, ended_at) SELECT account, ${integer(sql, now)} FROM ${sending} WHERE ${isSending}`
      yield* sql`INSERT INTO history (account, n, product_id, value, priority, waiting_since, sent_at, ended_at, outcome, code, message)
        SELECT account, ${lastNumber(target)} + row_number() OVER (ORDER BY sent_at, id), id, sent,
          ${integer(sql, StockPriority.indexOf("rest"))}, queued_at, sent_at, ${integer(sql, now)}, 'doubtful', 'Interrupted',
          'the process ended before the response came'
        FROM ${sending} WHERE ${isSending} AND sent_at IS NOT NULL`
      const awaits = sql.literal(awaitsLateWrites)
      yield* sql`UPDATE ${doubted} SET doubt_until = ${until},
          due_at = CASE WHEN ${awaits} THEN ${integer(sql, until)} ELSE due_at END,
          updated_at = CASE WHEN ${awaits} THEN ${integer(sql, now)} ELSE updated_at END
        WHERE ${isDoubted}`
      yield* sql`UPDATE ${sending} SET state = 'doubtful', due_at = NULL, doubt_until = ${until},
          doubt_low = CASE WHEN doubt_until IS NOT NULL AND doubt_low < sent THEN doubt_low ELSE sent END,
          doubt_high = CASE WHEN doubt_until IS NOT NULL AND doubt_high > sent THEN doubt_high ELSE sent END
        WHERE ${isSending}`
    }))
  })
