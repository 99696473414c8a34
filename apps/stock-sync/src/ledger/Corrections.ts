/** What changes products without a request: a release by a person, a clock that was set, a list of the store's products. */
import { ProductId } from "@plaza/domain/Ids"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Ledger, ObservedStock } from "./Ledger.ts"
import * as Operation from "./Operation.ts"
import { by, type Failure, idRows, integer, mine, type Run, type Target } from "./Operation.ts"
import * as Outcome from "./Outcome.ts"
import * as Requests from "./Requests.ts"
import * as Rows from "./Rows.ts"
import * as Tables from "./Schema.ts"
import * as StockPriority from "./StockPriority.ts"

const releasedProducts = Rows.all(Schema.Struct({ id: ProductId }))

const release = (target: Target, products: Option.Option<ReadonlyArray<string>>): Effect.Effect<ReadonlyArray<ProductId>, Failure> =>
  Effect.gen(function*() {
    const { sql } = target
    const now = yield* Operation.now
    const selected = Option.match(products, {
      // A sold piece would be on sale again, so only a person sends an uncertain product again.
      onNone: () => sql`state = 'quarantined'`,
      onSome: (ids) => sql`state IN ('quarantined', 'uncertain') AND id IN (${idRows(target, ids)})`
    })
    const released = yield* Operation.transaction(target, releasedProducts(sql`
      UPDATE product ${by(target, "product_exceptional")} SET state = ${
      sql.literal(Outcome.unconfirmedState)
    }, attempts = 0, mismatches = 0, due_at = NULL, queued_at = ${now},
        updated_at = ${now} WHERE ${mine(target)} AND ${sql.literal(Tables.exceptional)} AND ${selected} RETURNING id`))
    return released.map(({ id }) => id)
  })

/** The store may have any stock now, so nothing is confirmed any longer. */
const resend = (target: Target, products: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<ProductId>, Failure> =>
  Effect.gen(function*() {
    const { sql } = target
    const now = yield* Operation.now
    const sent = yield* Operation.transaction(target, releasedProducts(
      sql`UPDATE product SET state = ${
        sql.literal(Outcome.unconfirmedState)
      }, confirmed = NULL, confirmed_at = NULL, attempts = 0, mismatches = 0, due_at = NULL, queued_at = ${now}, updated_at = ${now}
      WHERE ${mine(target)} AND state <> 'sending' AND listing <> 'excluded' AND id IN (${idRows(target, products)}) RETURNING id`
    ))
    return sent.map(({ id }) => id)
  })

const retryNow = (target: Target): Effect.Effect<void, Failure> => {
  const { sql } = target
  const delayed = sql.literal(`${Tables.delayed} AND NOT coalesce(${Outcome.awaitsLateWrites}, false)`)
  return Effect.asVoid(Operation.transaction(target, Outcome.endDelays(target, delayed, sql`attempts = 0`)))
}

// The index starts with the priority, so the query names every one.
const dueAnyPriority = `${Tables.due} AND priority IN (${StockPriority.priorities.map(StockPriority.indexOf).join(", ")})`

const inFuture = Rows.only(Schema.Struct({ found: Rows.Truth }))

/** Without a known shift only times in the future show that the clock was set. */
const clockChanged = (target: Target, millis: number): Effect.Effect<void, Failure> =>
  Effect.gen(function*() {
    const { sql } = target
    const now = yield* Operation.now
    const at = integer(sql, now)
    const rowsBy = (index: string) => sql`product ${by(target, index)}`
    const delayed = {
      rows: rowsBy("product_delayed"),
      where: sql`${mine(target)} AND due_at IS NOT NULL AND (updated_at > ${now} OR queued_at > ${now})`
    }
    const due = { rows: rowsBy("product_due"), where: sql`${mine(target)} AND ${sql.literal(dueAnyPriority)} AND queued_at > ${now}` }
    const baseline = { rows: rowsBy("product_baseline"), where: sql`${mine(target)} AND baseline_at > ${now}` }
    const missing = { rows: rowsBy("product_missing"), where: sql`${mine(target)} AND missing_since > ${now}` }
    const request = { rows: sql`request`, where: sql`${mine(target)} AND ended_at > ${now} AND ended_at < ${Requests.inFlight}` }
    const anywhere = [delayed, due, baseline, missing, request].map(({ rows, where }) => sql`EXISTS (SELECT 1 FROM ${rows} WHERE ${where})`)
    const shift = Effect.gen(function*() {
      yield* sql`UPDATE ${delayed.rows} SET due_at = due_at + ${millis}, updated_at = updated_at + ${millis} WHERE ${
        mine(target)
      } AND due_at IS NOT NULL`
      yield* sql`UPDATE ${rowsBy("product_doubt")} SET doubt_until = doubt_until + ${millis}, sent_at = sent_at + ${millis},
          confirmed_at = confirmed_at + ${millis} WHERE ${mine(target)} AND doubt_until IS NOT NULL`
      yield* sql`UPDATE request SET ended_at = ended_at + ${millis} WHERE ${mine(target)} AND ended_at < ${Requests.inFlight}`
    })
    const moveToNow = Effect.gen(function*() {
      // A delay that starts in the future keeps its length, and starts now.
      yield* sql`UPDATE ${delayed.rows} SET queued_at = CASE WHEN queued_at > ${now} THEN ${at} ELSE queued_at END,
          updated_at = CASE WHEN updated_at > ${now} THEN ${at} ELSE updated_at END,
          due_at = CASE WHEN updated_at > ${now} THEN due_at - updated_at + ${now} ELSE due_at END WHERE ${delayed.where}`
      yield* sql`UPDATE ${due.rows} SET queued_at = ${now}, updated_at = ${now},
          confirmed_at = CASE WHEN confirmed_at > ${now} THEN ${at} ELSE confirmed_at END WHERE ${due.where}`
      yield* sql`UPDATE ${baseline.rows} SET baseline_at = ${now} WHERE ${baseline.where}`
      yield* sql`UPDATE ${missing.rows} SET missing_since = ${now} WHERE ${missing.where}`
      yield* sql`UPDATE request SET ended_at = ${now} WHERE ${request.where}`
    })
    // In one statement, because mostly nothing is in the future.
    const hasFutureTimes = Effect.map(inFuture(sql`SELECT ${sql.join(" OR ", false)(anywhere)} AS found`), ({ found }) => Boolean(found))
    const correct = Effect.flatMap(hasFutureTimes, (found) => found ? moveToNow : Effect.void)
    if (millis !== 0) return yield* Operation.transaction(target, Effect.andThen(shift, correct))
    if (yield* hasFutureTimes) yield* Operation.transaction(target, correct)
  })

const comparableProducts = Rows.all(Schema.Struct({ id: ProductId, state: Rows.EntryState, wanted: Schema.Int }))

const observe = (
  target: Target,
  observed: ReadonlyArray<ObservedStock>,
  startedAt: number,
  resend: boolean
): Effect.Effect<number, Failure> =>
  Operation.transaction(target, Effect.gen(function*() {
    const { sql } = target
    const now = yield* Operation.now
    const stocks = new Map(observed.map(({ productId, stock }): [string, number] => [productId, stock]))
    // A settled product has its wanted stock confirmed.
    const comparable = yield* comparableProducts(sql`SELECT id, state, wanted FROM product
      WHERE ${mine(target)} AND id IN (${idRows(target, stocks.keys())}) AND ${sql.literal(Tables.resting)}
        AND listing IN ('named', 'zeroed') AND updated_at < ${startedAt}`)
    const settled = comparable.filter(({ state }) => state === "settled")
    const differing = comparable.filter(({ id, wanted }) => wanted !== stocks.get(id))
    const equal = settled.filter(({ id, wanted }) => wanted === stocks.get(id)).map(({ id }) => id)
    yield* sql`UPDATE product SET confirmed_at = ${startedAt}, queued_at = ${startedAt}
      WHERE ${mine(target)} AND id IN (${idRows(target, equal)})`
    if (resend) {
      // The list may be out of date, so it does not confirm what it shows.
      yield* Effect.forEach(differing, ({ id, wanted }) =>
        sql`UPDATE product SET state = 'pending', confirmed = NULL, confirmed_at = NULL, ${
          Outcome.widenDoubt(target, wanted, stocks.get(id) ?? wanted)
        }, queued_at = ${now}, attempts = 0, mismatches = 0, updated_at = ${now} WHERE ${mine(target)} AND id = ${id}`, { discard: true })
    }
    return settled.length - equal.length
  }))

export const make = (
  target: Target,
  run: Run
): Pick<Ledger["Service"], "clockChanged" | "observe" | "release" | "resend" | "retryNow"> => ({
  release: (products) => run(release(target, products)),
  resend: (products) => run(resend(target, products)),
  retryNow: run(retryNow(target)),
  clockChanged: (millis) => run(clockChanged(target, millis)),
  observe: (observed, startedAt, resend) => run(observe(target, observed, DateTime.toEpochMillis(startedAt), resend))
})
