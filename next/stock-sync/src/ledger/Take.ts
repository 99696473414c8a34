/** Selects the next product to send, and marks it as `sending`. */
import { ProductId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Selection, Send } from "./Ledger.ts"
import * as Operation from "./Operation.ts"
import { type Failure, idRows, integer, mine, type Target } from "./Operation.ts"
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

/** The first product of those that are due and meet a condition, with its turn among other such products. */
const dueWhere = (target: Target, condition: Fragment, turn = "0") =>
  target.sql`SELECT ${target.sql.literal(`${columns}, ${turn} AS turn`)} FROM product
    WHERE ${mine(target)} AND ${target.sql.literal(Tables.due)} AND ${condition} ORDER BY priority, queued_at, id LIMIT 1`

type Due = Extract<Selection, { readonly _tag: "Due" }>

/** A sold-out product: one of which no request has an unknown outcome, or any. */
const soldOutProduct = (target: Target, outcomes: "known" | "any", turn?: string) =>
  dueWhere(
    target,
    target.sql.literal(`priority = ${StockPriority.indexOf("soldOut")}${outcomes === "known" ? " AND doubt_until IS NULL" : ""}`),
    turn
  )

/** Reads the first row of an index, or of several, whatever the size of the backlog. */
const nextDueProduct = (target: Target, { confirmedBefore, lowerAfter }: Due) => {
  const { sql } = target
  const isLowersTurn = lowerAfter === undefined ? "false" : `priority_of_first >= ${StockPriority.indexOf(lowerAfter)}`
  const lower = lowerAfter === undefined ?
    [] :
    StockPriority.priorities.flatMap((priority, index) =>
      priority === "soldOut" || priority === "assertion" ? [] : [
        // A constant, so that the index ends the search at once if it is not their turn.
        dueWhere(target,
          sql.literal(`priority = (SELECT CASE WHEN ${index} > priority_of_first AND ${isLowersTurn} THEN ${index} END FROM first)`))
      ]
    )
  const asserted = Option.toArray(confirmedBefore).map(({ epochMilliseconds }) =>
    dueWhere(target, sql`priority = ${sql.literal(assertion)} AND queued_at < ${epochMilliseconds}`,
      `CASE WHEN (SELECT ${isLowersTurn} FROM first) THEN 1 ELSE 4 END`)
  )
  // One whose last request has an unknown outcome may get no response again, so the others that are sold out come before it.
  const others = [soldOutProduct(target, "known", "2"), ...lower, ...asserted].map((query, index) =>
    sql`UNION ALL SELECT * FROM (${query}) AS ${sql.literal(`other_${index}`)}`
  )
  return sql`WITH waiting AS (${dueWhere(target, sql`priority < ${sql.literal(assertion)}`, "3")}),
    first AS (SELECT (SELECT priority FROM waiting) AS priority_of_first)
    SELECT * FROM waiting ${sql.join(" ", false)(others)} ORDER BY turn, queued_at, id LIMIT 1`
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
    : candidate(selection._tag === "Due" ? nextDueProduct(target, selection) : soldOutProduct(target, selection.outcomes))

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
 * In one statement of Postgres, because every request needs it. If the time of a delayed product has come, which may be more urgent, it
 * takes nothing and shows that.
 */
const takeAtOnce = (target: Target, selection: Due, now: number) => {
  const { sql } = target
  const ended = sql`EXISTS (SELECT 1 FROM product WHERE ${mine(target)} AND due_at <= ${now})`
  const taken = mark(target, now, sql`id = (SELECT id FROM next) AND NOT ${ended} AND ${sql.literal(Operation.isFenced)}`)
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
          if (found.value.delays_ended) return inSteps
          return Effect.succeed(
            found.value.id === null || found.value.attempts === null
              ? Option.none()
              : Option.some(toSend(found.value, found.value.attempts))
          )
        }),
      orElse: () => inSteps
    })
  })
