/** Selects the next product to send, and marks it as `sending`. */
import { ProductId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Selection, Send } from "./Ledger.ts"
import * as Operation from "./Operation.ts"
import { by, type Failure, idRows, integer, mine, type Target } from "./Operation.ts"
import * as Outcome from "./Outcome.ts"
import * as Rows from "./Rows.ts"
import * as Tables from "./Schema.ts"
import * as StockPriority from "./StockPriority.ts"

const Candidate = Schema.Struct({
  ...Rows.RefusalColumns.fields,
  id: ProductId,
  state: Rows.EntryState,
  wanted: Schema.Int,
  priority: Rows.Priority,
  queued_at: Rows.Instant,
  mismatches: Schema.Int
})
const candidate = Rows.first(Candidate)
const columns = "id, state, wanted, priority, queued_at, refusal_tag, refusal_code, refusal_message, refused_stock, mismatches"
const assertion = String(StockPriority.indexOf("assertion"))

/** Makes delayed products due whose time has come. */
const endDelays = (target: Target, now: number) => Outcome.endDelays(target, target.sql`due_at <= ${now}`)

/** The first product of those that are due and meet a condition. Those with a lower turn come first. */
const dueWhere = (target: Target, condition: Fragment, turn: number) =>
  target.sql`SELECT ${target.sql.literal(`${columns}, ${turn} AS turn`)} FROM product ${by(target, "product_due")}
    WHERE ${mine(target)} AND ${target.sql.literal(Tables.due)} AND ${condition} ORDER BY priority, queued_at, id LIMIT 1`

type Due = Extract<Selection, { readonly _tag: "Due" }>
type SoldOut = Extract<Selection, { readonly _tag: "SoldOut" }>

/** Products other than these, as a condition. */
const isNone = (target: Target, ids: Iterable<string> = []) => {
  const excluded = [...ids]
  return excluded.length === 0 ? target.sql`1 = 1` : target.sql`id NOT IN (${idRows(target, excluded)})`
}

const soldOutProduct = (target: Target, { except, outcomes }: Omit<SoldOut, "_tag">, turn: number) => {
  const { sql } = target
  const known = sql.literal(outcomes === "known" ? "doubt_until IS NULL" : "1 = 1")
  return dueWhere(target,
    sql`priority = ${sql.literal(String(StockPriority.indexOf("soldOut")))} AND ${known} AND ${isNone(target, except)}`, turn)
}

/** Reads the first row of an index, or of several, whatever the size of the backlog. */
const nextDueProduct = (target: Target, { confirmedBefore, except, yielding = [] }: Due) => {
  const { sql } = target
  const others = isNone(target, except)
  const count = StockPriority.priorities.length
  // Of those that yield, the lowest one that waits comes first: nothing waits that it could yield to.
  const turnOf = (priority: StockPriority.Priority) => {
    const index = StockPriority.indexOf(priority)
    return 2 * (yielding.includes(priority) ? 2 * count - index : index)
  }
  const ofPriority = (priority: StockPriority.Priority, condition = sql`1 = 1`) =>
    dueWhere(target, sql`priority = ${sql.literal(String(StockPriority.indexOf(priority)))} AND ${condition} AND ${others}`,
      turnOf(priority))
  const queries = [
    // One whose last request has an unknown outcome may get no response again, so the others that are sold out come before it.
    soldOutProduct(target, { outcomes: "known", ...(except === undefined ? {} : { except }) }, turnOf("soldOut") - 1),
    ...(yielding.length === 0
      ? [dueWhere(target, sql`priority < ${sql.literal(assertion)} AND ${others}`, 0)]
      : StockPriority.priorities.flatMap((priority) => priority === "assertion" ? [] : [ofPriority(priority)])),
    ...Option.toArray(confirmedBefore).map(({ epochMilliseconds }) => ofPriority("assertion", sql`queued_at < ${epochMilliseconds}`))
  ]
  const all = queries.map((query, index) => sql`SELECT * FROM (${query}) AS ${sql.literal(`part_${index}`)}`)
  return sql`${sql.join(" UNION ALL ", false)(all)} ORDER BY turn LIMIT 1`
}

/** A product that may close the half-open circuit breaker: due and not refused yet, due, or delayed. */
const halfOpenProduct = (target: Target, { except, from }: Extract<Selection, { readonly _tag: "HalfOpen" }>) =>
  Effect.gen(function*() {
    const { sql } = target
    const others = sql`${mine(target)} AND priority < ${sql.literal(assertion)} AND id NOT IN (${idRows(target, except)})`
    const order = sql.literal(from === "last" ? "priority DESC, queued_at DESC, id DESC" : "priority, queued_at, id")
    const dueWhere = (condition: string) =>
      candidate(sql`SELECT ${sql.literal(columns)} FROM product WHERE ${others} AND ${sql.literal(Tables.due)} AND state <> 'quarantined'
        AND ${sql.literal(condition)} ORDER BY ${order} LIMIT 1`)
    const unrefused = yield* dueWhere("(refused_stock IS NULL OR refused_stock <> wanted)")
    const waiting = Option.isSome(unrefused) ? unrefused : yield* dueWhere("refused_stock = wanted")
    return Option.isSome(waiting) ? waiting : yield* candidate(sql`SELECT ${sql.literal(columns)} FROM product
      WHERE ${others} AND ${sql.literal(Tables.delayed)} ORDER BY priority, due_at, id LIMIT 1`)
  })

const mark = (target: Target, now: number, where: Fragment) => {
  const { sql } = target
  const expired = sql`state = 'settled' AND doubt_until <= ${now}`
  const restarted = sql.literal(Tables.resting)
  return sql`UPDATE product SET state = 'sending', sent = wanted, sent_at = ${now}, due_at = NULL, updated_at = ${now},
      attempts = CASE WHEN ${restarted} THEN 1 ELSE attempts + 1 END,
      queued_at = CASE WHEN ${restarted} THEN ${integer(sql, now)} ELSE queued_at END,
      doubt_low = CASE WHEN ${expired} THEN NULL ELSE doubt_low END,
      doubt_high = CASE WHEN ${expired} THEN NULL ELSE doubt_high END,
      doubt_until = CASE WHEN ${expired} THEN NULL ELSE doubt_until END
    WHERE ${mine(target)} AND ${where} RETURNING attempts`
}

const toSend = (row: typeof Candidate.Type, attempts: number): Send => ({
  productId: row.id,
  value: row.wanted,
  priority: row.priority,
  since: row.queued_at,
  attempts,
  wasQuarantined: row.state === "quarantined",
  mismatches: row.mismatches,
  refusal: row.refused_stock === row.wanted ? Rows.toRefusal(row) : undefined
})

const marked = Rows.only(Schema.Struct({ attempts: Schema.Int }))

const select = (target: Target, selection: Selection): Effect.Effect<Option.Option<typeof Candidate.Type>, SqlError | Schema.SchemaError> =>
  selection._tag === "HalfOpen"
    ? halfOpenProduct(target, selection)
    : candidate(selection._tag === "Due" ? nextDueProduct(target, selection) : soldOutProduct(target, selection, 0))

const takeInSteps = (target: Target, selection: Selection, now: number): Effect.Effect<Option.Option<Send>, Failure> =>
  Operation.transaction(target, Effect.gen(function*() {
    yield* endDelays(target, now)
    const row = yield* select(target, selection)
    if (Option.isNone(row)) return Option.none()
    const { attempts } = yield* marked(mark(target, now, target.sql`id = ${row.value.id}`))
    return Option.some(toSend(row.value, attempts))
  }))

const takenAtOnce = Rows.first(Schema.Union([
  Schema.Struct({ ...Candidate.fields, attempts: Schema.NullOr(Schema.Int), delays_ended: Schema.Boolean }),
  Schema.Struct({ id: Schema.Null, delays_ended: Schema.Boolean })
]))

/**
 * In one statement of Postgres, because every request needs it. If the time of a delayed product has come, which may be more urgent, or the
 * product has changed meanwhile, it takes nothing and shows that.
 */
const takeAtOnce = (target: Target, selection: Due, now: number) => {
  const { sql } = target
  const ended = sql`EXISTS (SELECT 1 FROM product WHERE ${mine(target)} AND due_at <= ${now})`
  // A command beside the owner may have changed what is wanted while this statement waited for it.
  const isNext = sql`id = (SELECT id FROM next) AND wanted = (SELECT wanted FROM next)`
  const taken = mark(target, now, sql`${isNext} AND NOT ${ended} AND ${sql.literal(Operation.isFenced)}`)
  return takenAtOnce(sql`WITH ${Operation.fence(target)}, next AS (${nextDueProduct(target, selection)}), taken AS (${taken})
    SELECT next.*, taken.attempts, ${ended} AS delays_ended FROM fence LEFT JOIN next ON true LEFT JOIN taken ON true`)
}

/** Takes a product. */
export const take = (target: Target, selection: Selection): Effect.Effect<Option.Option<Send>, Failure> =>
  Effect.flatMap(Operation.now, (now) => {
    const inSteps = takeInSteps(target, selection, now)
    if (selection._tag !== "Due") return inSteps
    return target.sql.onDialectOrElse({
      pg: () =>
        Effect.flatMap(takeAtOnce(target, selection, now), (found): Effect.Effect<Option.Option<Send>, Failure> => {
          if (Option.isNone(found)) return Effect.fail(new Operation.TakenOver())
          if (found.value.delays_ended || (found.value.id !== null && found.value.attempts === null)) return inSteps
          return Effect.succeed(
            found.value.id === null || found.value.attempts === null
              ? Option.none()
              : Option.some(toSend(found.value, found.value.attempts))
          )
        }),
      orElse: () => inSteps
    })
  })
