/** Selects the next product to send, and what waits to be sent. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { StockPriority } from "@plaza-legacy/client"
import { ProductId } from "@plaza-legacy/domain/Ids"
import * as Clock from "effect/Clock"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { Waiting } from "./Entry.ts"
import type { Backlog, Selection, Send } from "./Ledger.ts"
import { idRows } from "./LedgerConnection.ts"
import * as LedgerRows from "./LedgerRows.ts"
import * as OutcomeQueries from "./OutcomeQueries.ts"
import { withRelations } from "./Statements.ts"
import * as Tables from "./Tables.ts"

const Candidate = Schema.Struct({
  ...LedgerRows.RefusalColumns.fields,
  id: ProductId,
  state: LedgerRows.EntryState,
  wanted: Schema.Int,
  priority: LedgerRows.Priority,
  since: LedgerRows.Instant,
  mismatches: Schema.Int
})
const candidate = LedgerRows.first(Candidate)
const columns = "id, state, wanted, priority, since, refusal_tag, refusal_code, refusal_message, refused, mismatches"
const assertion = String(Tables.priorityIndex("assertion"))

/** Makes delayed products due whose time has come. */
const endDelays = (sql: SqlClient.SqlClient, now: number) => OutcomeQueries.endDelays(sql, sql`due_at <= ${now}`)

/** The first product of those that are due and meet a condition, with its turn among other such products. */
const dueWhere = (sql: SqlClient.SqlClient, condition: Fragment, turn = "0") =>
  sql`SELECT ${sql.literal(`${columns}, ${turn} AS turn`)} FROM product WHERE ${sql.literal(Tables.due)} AND ${condition}
    ORDER BY priority, since, id LIMIT 1`

type Due = Extract<Selection, { readonly _tag: "Due" }>

/** Reads the first row of an index, or of several, whatever the size of the backlog. */
const nextDueProduct = (sql: SqlClient.SqlClient, { confirmedBefore, lowerAfter }: Due) => {
  const waiting = dueWhere(sql, sql`priority < ${sql.literal(assertion)}`, "3")
  const isLowersTurn = lowerAfter === undefined ? "false" : `priority_of_first >= ${Tables.priorityIndex(lowerAfter)}`
  const lower = lowerAfter === undefined ?
    [] :
    StockPriority.priorities.flatMap((priority, index) =>
      priority === "soldOut" || priority === "assertion" ? [] : [
        // A constant, so that the index ends the search at once if it is not their turn.
        dueWhere(sql,
          sql.literal(`priority = (SELECT CASE WHEN ${index} > priority_of_first AND ${isLowersTurn} THEN ${index} END FROM first)`))
      ]
    )
  const asserted = Option.toArray(confirmedBefore).map(({ epochMillis }) =>
    dueWhere(sql, sql`priority = ${sql.literal(assertion)} AND since < ${epochMillis}`,
      `CASE WHEN (SELECT ${isLowersTurn} FROM first) THEN 1 ELSE 4 END`)
  )
  // One whose last request has an unknown outcome may get no response again, so the others that are sold out come before it.
  const others = [soldOutProduct(sql, "known", "2"), ...lower, ...asserted].map((query, index) =>
    sql`UNION ALL SELECT * FROM (${query}) AS ${sql.literal(`other_${index}`)}`
  )
  return sql`WITH waiting AS (${waiting}), first AS (SELECT (SELECT priority FROM waiting) AS priority_of_first)
    SELECT * FROM waiting ${sql.join(" ", false)(others)} ORDER BY turn, since, id LIMIT 1`
}

/** A sold-out product: one of which no request has an unknown outcome, or any. */
const soldOutProduct = (sql: SqlClient.SqlClient, outcomes: "known" | "any", turn?: string) =>
  dueWhere(sql, sql.literal(`priority = ${Tables.priorityIndex("soldOut")}${outcomes === "known" ? " AND doubt_until IS NULL" : ""}`), turn)

/** A product that may close the half-open circuit breaker: due and not refused yet, due, or delayed. */
const halfOpenProduct = (sql: SqlClient.SqlClient, { except, from }: Extract<Selection, { readonly _tag: "HalfOpen" }>) =>
  Effect.gen(function*() {
    const excluded = idRows(sql, except)
    const order = sql.literal(from === "last" ? "priority DESC, since DESC, id DESC" : "priority, since, id")
    const dueWhere = (condition: string) =>
      candidate(sql`
      SELECT ${sql.literal(columns)} FROM product
      WHERE ${sql.literal(Tables.due)} AND priority < ${sql.literal(assertion)} AND state <> 'quarantined' AND ${
        sql.literal(condition)
      } AND id NOT IN (${excluded})
      ORDER BY ${order} LIMIT 1`)
    const unrefused = yield* dueWhere("(refused IS NULL OR refused <> wanted)")
    const waiting = Option.isSome(unrefused) ? unrefused : yield* dueWhere("refused = wanted")
    return Option.isSome(waiting) ? waiting : yield* candidate(sql`
      SELECT ${sql.literal(columns)} FROM product
      WHERE ${sql.literal(Tables.delayed)} AND priority < ${sql.literal(assertion)} AND id NOT IN (${excluded})
      ORDER BY priority, due_at, id LIMIT 1`)
  })

/** Marks a product as `sending`. */
const mark = (sql: SqlClient.SqlClient, now: number, where: Fragment) =>
  sql`UPDATE product SET state = 'sending', sent = wanted, sent_at = ${now}, due_at = NULL, updated_at = ${now},
      attempts = CASE WHEN ${sql.literal(Tables.resting)} THEN 1 ELSE attempts + 1 END,
      since = CASE WHEN ${sql.literal(Tables.resting)} THEN ${now} ELSE since END,
      doubt_low = CASE WHEN state = 'settled' AND doubt_until <= ${now} THEN NULL ELSE doubt_low END,
      doubt_high = CASE WHEN state = 'settled' AND doubt_until <= ${now} THEN NULL ELSE doubt_high END,
      doubt_until = CASE WHEN state = 'settled' AND doubt_until <= ${now} THEN NULL ELSE doubt_until END
    WHERE ${where} RETURNING attempts`

/** From here on, a write of SQLite survives a power cut, as do the earlier ones: the request may take effect. Postgres syncs each commit by default. */
const syncWrites = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  sql.onDialectOrElse({ pg: () => Effect.void, orElse: () => sql`PRAGMA synchronous = FULL` })

const toSend = (row: typeof Candidate.Type, attempts: number): Send => ({
  productId: row.id,
  value: row.wanted,
  priority: row.priority,
  since: row.since,
  attempts,
  wasQuarantined: row.state === "quarantined",
  mismatches: row.mismatches,
  refusal: row.refused === row.wanted ? LedgerRows.toRefusal(row) : undefined
})

const marked = LedgerRows.first(Schema.Struct({ attempts: Schema.Int }))

const select = (sql: SqlClient.SqlClient, selection: Selection) =>
  selection._tag === "HalfOpen"
    ? halfOpenProduct(sql, selection)
    : candidate(selection._tag === "Due" ? nextDueProduct(sql, selection) : soldOutProduct(sql, selection.outcomes))

const takeInSteps = (
  sql: SqlClient.SqlClient,
  selection: Selection,
  now: number
): Effect.Effect<Option.Option<Send>, SqlError | ParseError> =>
  Effect.gen(function*() {
    yield* endDelays(sql, now)
    const row = yield* select(sql, selection)
    if (Option.isNone(row)) return Option.none()
    yield* syncWrites(sql)
    const attempts = yield* marked(mark(sql, now, sql`id = ${row.value.id}`))
    return Option.map(attempts, ({ attempts }) => toSend(row.value, attempts))
  })

const NextProduct = Schema.Struct({ ...Candidate.fields, attempts: Schema.NullOr(Schema.Int), delays_ended: Schema.Boolean })
const NoProduct = Schema.Struct({ id: Schema.Null, delays_ended: Schema.Boolean })
const takenAtOnce = LedgerRows.first(Schema.Union(NextProduct, NoProduct))

/**
 * In one statement of Postgres, because every request needs it. If the time of a delayed product has come, which may be more urgent, it
 * takes nothing and shows that.
 */
const takeAtOnce = (sql: SqlClient.SqlClient, selection: Due, now: number) => {
  const ended = sql`EXISTS (SELECT 1 FROM product WHERE due_at <= ${now})`
  const relations = {
    next: nextDueProduct(sql, selection),
    taken: mark(sql, now, sql`id = (SELECT id FROM next) AND NOT ${ended}`)
  }
  return takenAtOnce(sql`${withRelations(sql, relations)} SELECT next.*, taken.attempts, ${ended} AS delays_ended
    FROM (SELECT 1) AS one LEFT JOIN next ON true LEFT JOIN taken ON true`)
}

export const take = (sql: SqlClient.SqlClient, selection: Selection): Effect.Effect<Option.Option<Send>, SqlError | ParseError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const inSteps = takeInSteps(sql, selection, now)
    if (selection._tag !== "Due") return inSteps
    const atOnce = Effect.flatMap(takeAtOnce(sql, selection, now), (found) => {
      const row = Option.getOrUndefined(found)
      if (row === undefined || row.delays_ended) return inSteps
      return Effect.succeed(row.id === null || row.attempts === null ? Option.none() : Option.some(toSend(row, row.attempts)))
    })
    return sql.onDialectOrElse({ pg: () => atOnce, orElse: () => inSteps })
  })

const due = LedgerRows.first(Schema.Struct({ at: LedgerRows.Instant }))

export const nextDue = (
  sql: SqlClient.SqlClient,
  maxAttempts: Option.Option<number>
): Effect.Effect<Option.Option<DateTime.Utc>, SqlError | ParseError> =>
  Effect.map(
    due(sql`
      SELECT due_at AS at FROM product WHERE ${sql.literal(Tables.delayed)} AND part <> 'excluded'
        AND attempts < ${Option.getOrElse(maxAttempts, () => Number.MAX_SAFE_INTEGER)} ORDER BY due_at LIMIT 1`),
    Option.map(({ at }) => at)
  )

export const nextDelayed = (sql: SqlClient.SqlClient): Effect.Effect<Option.Option<DateTime.Utc>, SqlError | ParseError> =>
  Effect.map(
    due(sql`SELECT due_at AS at FROM product WHERE due_at IS NOT NULL AND part <> 'excluded' ORDER BY due_at LIMIT 1`),
    Option.map(({ at }) => at)
  )

const waitingByPriority = LedgerRows.all(Schema.Struct({ priority: LedgerRows.Priority, n: Schema.Int, since: LedgerRows.Instant }))
const oldestProduct = LedgerRows.first(Schema.Struct({ id: ProductId, since: LedgerRows.Instant }))
const oldestConfirmation = LedgerRows.first(Schema.Struct({ since: LedgerRows.Instant }))

export const backlog = (sql: SqlClient.SqlClient): Effect.Effect<Backlog, SqlError | ParseError> =>
  Effect.gen(function*() {
    const priorities = yield* waitingByPriority(sql`
      SELECT priority, CAST(sum(n) AS BIGINT) AS n, min(since) AS since FROM (
        SELECT priority, count(*) AS n, min(since) AS since FROM product WHERE ${sql.literal(Tables.due)} AND priority < ${
      sql.literal(assertion)
    } GROUP BY priority
        UNION ALL
        SELECT priority, count(*) AS n, min(since) AS since FROM product
          WHERE ${sql.literal(Tables.delayed)} AND priority < ${sql.literal(assertion)} GROUP BY priority
      ) AS part GROUP BY priority ORDER BY min(since)`)
    const [longest] = priorities
    const oldestWhere = (condition: string) =>
      longest === undefined ? Effect.succeedNone : oldestProduct(sql`
        SELECT id, since FROM product WHERE ${sql.literal(condition)}
          AND priority = ${Tables.priorityIndex(longest.priority)} AND since = ${longest.since.epochMillis} ORDER BY id LIMIT 1`)
    const oldestDue = yield* oldestWhere(Tables.due)
    const oldest = Option.isSome(oldestDue) ? oldestDue : yield* oldestWhere(Tables.delayed)
    const sending = yield* LedgerRows.countOf(
      sql`SELECT count(*) AS n FROM product WHERE ${sql.literal(Tables.exceptional)} AND state = 'sending'`
    )
    const confirmed = yield* oldestConfirmation(sql`
      SELECT since FROM product WHERE ${sql.literal(Tables.due)} AND priority = ${sql.literal(assertion)} ORDER BY since, id LIMIT 1`)
    const each = <A>(read: (row: (typeof priorities)[number] | undefined) => A) => {
      const of = (waiting: Waiting) => read(priorities.find(({ priority }) => priority === waiting))
      return { soldOut: of("soldOut"), falling: of("falling"), backInStock: of("backInStock"), rest: of("rest"), doubtful: of("doubtful") }
    }
    return {
      waiting: each((row) => row?.n ?? 0),
      longest: each((row) => row?.since),
      sending,
      oldest: Option.map(oldest, ({ id, since }) => ({ productId: id, since })),
      oldestConfirmation: Option.map(confirmed, ({ since }) => since)
    }
  })
