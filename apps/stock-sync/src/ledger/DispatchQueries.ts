/** The ledger's part in sending: which product is next, and what became of it, one short transaction each. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import { StockPriority } from "@plaza/client"
import { ProductId } from "@plaza/domain/Ids"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { EntryState, Refusal, Waiting } from "./Entry.js"
import type { Backlog, Choice, Failed, HistoryEntry, Ledger, LedgerOptions, ObservedStock, Taken } from "./Ledger.js"
import { keepable, type LedgerConnection, texts } from "./LedgerConnection.js"
import * as Tables from "./Tables.js"

interface DueRow {
  readonly id: string
  readonly state: EntryState
  readonly wanted: number
  readonly priority: number
  readonly since: number
  readonly attempts: number
  readonly refusal_tag: string | null
  readonly refusal_code: string | null
  readonly refusal_message: string | null
  readonly refused: number | null
}

const columns = "id, state, wanted, priority, since, attempts, refusal_tag, refusal_code, refusal_message, refused"
const assertion = String(Tables.rankOf("assertion"))

/** The ledger counts whole milliseconds. */
const millisOf = (duration: Duration.Duration): number => Math.ceil(Duration.toMillis(duration))

/** What waited for a moment that has come waits for its turn from now on. */
const wake = (sql: SqlClient.SqlClient, now: number) => sql`UPDATE product SET due_at = NULL WHERE due_at <= ${now}`

/** Both orders are those of an index, so that the size of the backlog does not matter. */
const due = (sql: SqlClient.SqlClient, assertBefore: Option.Option<number>) =>
  Effect.gen(function*() {
    const waiting = yield* sql<DueRow>`
      SELECT ${sql.literal(columns)} FROM product WHERE ${sql.literal(Tables.due)} AND priority < ${sql.literal(assertion)}
      ORDER BY priority, since, id LIMIT 1`
    return waiting.length > 0 || Option.isNone(assertBefore) ? waiting : yield* sql<DueRow>`
      SELECT ${sql.literal(columns)} FROM product
      WHERE ${sql.literal(Tables.due)} AND priority = ${
      sql.literal(assertion)
    } AND since < ${assertBefore.value} ORDER BY since, id LIMIT 1`
  })

const trial = (sql: SqlClient.SqlClient, { except, from }: Extract<Choice, { readonly _tag: "Trial" }>) =>
  Effect.gen(function*() {
    const tried = texts(sql, except)
    const order = sql.literal(from === "last" ? "priority DESC, since DESC, id DESC" : "priority, since, id")
    const dueWhere = (condition: string) =>
      sql<DueRow>`
      SELECT ${sql.literal(columns)} FROM product
      WHERE ${sql.literal(Tables.due)} AND priority < ${sql.literal(assertion)} AND state <> 'quarantined' AND ${
        sql.literal(condition)
      } AND id NOT IN (${tried})
      ORDER BY ${order} LIMIT 1`
    const fresh = yield* dueWhere("(refused IS NULL OR refused <> wanted)")
    const waiting = fresh.length > 0 ? fresh : yield* dueWhere("refused = wanted")
    return waiting.length > 0 ? waiting : yield* sql<DueRow>`
      SELECT ${sql.literal(columns)} FROM product
      WHERE ${sql.literal(Tables.parked)} AND priority < ${sql.literal(assertion)} AND id NOT IN (${tried})
      ORDER BY priority, due_at, id LIMIT 1`
  })

const refusalOf = (row: DueRow): Refusal | undefined =>
  row.refusal_tag === null || row.refused !== row.wanted
    ? undefined
    : { tag: row.refusal_tag, code: row.refusal_code ?? undefined, message: row.refusal_message ?? "", value: row.refused }

const take = (sql: SqlClient.SqlClient, choice: Choice): Effect.Effect<Option.Option<Taken>, SqlError> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    yield* wake(sql, now)
    const [row] = yield* choice._tag === "Due" ? due(sql, choice.assertBefore) : trial(sql, choice)
    const priority = StockPriority.priorities[row?.priority ?? -1]
    if (row === undefined || priority === undefined) return Option.none()
    const [marked] = yield* sql<{ attempts: number }>`
      UPDATE product SET state = 'sending', sent = wanted, sent_at = ${now}, due_at = NULL, updated_at = ${now},
        attempts = CASE WHEN state = 'settled' THEN 1 ELSE attempts + 1 END, since = CASE WHEN state = 'settled' THEN ${now} ELSE since END,
        doubt_low = CASE WHEN state = 'settled' AND doubt_until <= ${now} THEN NULL ELSE doubt_low END,
        doubt_high = CASE WHEN state = 'settled' AND doubt_until <= ${now} THEN NULL ELSE doubt_high END,
        doubt_until = CASE WHEN state = 'settled' AND doubt_until <= ${now} THEN NULL ELSE doubt_until END
      WHERE id = ${row.id} RETURNING attempts`
    return Option.some({
      productId: ProductId.make(row.id),
      value: row.wanted,
      priority,
      since: row.since,
      attempts: marked?.attempts ?? 1,
      wasQuarantined: row.state === "quarantined",
      refusal: refusalOf(row)
    })
  })

/** A whole number in a list of results, where a parameter would be taken for a text. */
const whole = (sql: SqlClient.SqlClient, value: number) => sql.literal(String(value))

const noteRequest = (sql: SqlClient.SqlClient, { rateWindow }: LedgerOptions, now: number) =>
  Effect.zipRight(
    sql`INSERT INTO request (at) VALUES (${now})`,
    sql`DELETE FROM request WHERE at < ${now - millisOf(rateWindow)}`
  )

const record = (
  sql: SqlClient.SqlClient,
  options: LedgerOptions,
  { priority, productId, value }: Taken,
  outcome: HistoryEntry["outcome"],
  refusal: Refusal | undefined,
  now: number
) =>
  Effect.all([
    noteRequest(sql, options, now),
    sql`INSERT INTO history (product_id, value, priority, sent_at, ended_at, outcome, code, message)
      SELECT id, ${whole(sql, value)}, ${whole(sql, Tables.rankOf(priority))}, sent_at, ${whole(sql, now)}, ${outcome},
        ${refusal?.code ?? refusal?.tag ?? null}, ${refusal?.message ?? null}
      FROM product WHERE id = ${productId}`,
    sql`DELETE FROM history WHERE n <= (SELECT max(n) FROM history) - ${options.historyLimit}`
  ], { discard: true })

// The stock that was confirmed is certain, unless an earlier request with another one may still take effect.
const certain = (value: number) => `(doubt_until IS NULL OR sent_at >= doubt_until OR (doubt_low = ${value} AND doubt_high = ${value}))`

const confirm = (sql: SqlClient.SqlClient, options: LedgerOptions, taken: Taken) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const { productId, value } = taken
    const over = "(doubt_until IS NULL OR sent_at >= doubt_until)"
    return sql.withTransaction(Effect.zipRight(
      record(sql, options, taken, "confirmed", undefined, now),
      sql.unsafe(`UPDATE product SET confirmed = ${value}, confirmed_at = ${now}, attempts = 0, updated_at = ${now},
          state = CASE WHEN wanted = ${value} AND ${certain(value)} THEN 'settled' WHEN ${over} THEN 'pending' ELSE 'doubtful' END,
          due_at = CASE WHEN wanted = ${value} AND NOT ${certain(value)} THEN doubt_until END,
          since = CASE WHEN wanted = ${value} THEN ${now} ELSE since END,
          doubt_low = CASE WHEN ${over} THEN NULL ELSE doubt_low END,
          doubt_high = CASE WHEN ${over} THEN NULL ELSE doubt_high END,
          doubt_until = CASE WHEN ${over} THEN NULL ELSE doubt_until END,
          refusal_tag = NULL, refusal_code = NULL, refusal_message = NULL, refused = NULL
        WHERE id = ${sql.onDialectOrElse({ pg: () => "$1", orElse: () => "?" })}`, [productId])
    ))
  })

/** Confirmed, and sent again when no earlier request can take effect any longer. */
const outlasting = "(confirmed = wanted AND due_at = doubt_until)"

const unresolved = "CASE WHEN doubt_until IS NULL THEN 'pending' ELSE 'doubtful' END"

// A response may show anything, also a stock that no product can be given: then nothing is confirmed.
const stockOf = (shown: number | undefined): number | null => shown !== undefined && Number.isSafeInteger(shown) ? shown : null

const readable = (refusal: Refusal): Refusal => ({
  ...refusal,
  code: refusal.code === undefined ? undefined : keepable(refusal.code),
  message: keepable(refusal.message)
})

const fail = (sql: SqlClient.SqlClient, options: LedgerOptions, taken: Taken, { refusal: given, retryIn, seen, state }: Failed) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const { productId, value } = taken
    const refusal = readable(given)
    const retryAt = now + millisOf(retryIn)
    const doubt = state === "doubtful"
      ? sql`doubt_low = CASE WHEN doubt_low < ${value} THEN doubt_low ELSE ${value} END,
        doubt_high = CASE WHEN doubt_high > ${value} THEN doubt_high ELSE ${value} END, doubt_until = ${
        now + millisOf(options.lateWrites)
      },`
      : seen === "absent"
      ? sql`doubt_low = NULL, doubt_high = NULL, doubt_until = NULL,`
      : sql``
    const confirmed = seen === "absent"
      ? sql`confirmed = NULL, confirmed_at = NULL,`
      : seen === undefined
      ? sql``
      : sql`confirmed = ${stockOf(seen)}, confirmed_at = ${now},`
    const remaining = sql.literal(state === "doubtful" ? "'doubtful'" : seen === "absent" ? "'pending'" : unresolved)
    // A refusal holds for the stock that was refused, and another one may be wanted by now.
    const outcome = state === "quarantined"
      ? sql`state = CASE WHEN wanted = ${value} THEN 'quarantined' ELSE ${remaining} END, due_at = CASE WHEN wanted = ${value} THEN CAST(${retryAt} AS BIGINT) END,`
      : sql`state = ${remaining}, due_at = ${retryAt > now ? retryAt : null},`
    return sql.withTransaction(Effect.zipRight(
      record(sql, options, taken, state, refusal, now),
      sql`UPDATE product SET ${outcome} ${doubt} ${confirmed} refusal_tag = ${refusal.tag}, refusal_code = ${refusal.code ?? null},
          refusal_message = ${refusal.message}, refused = ${value}, updated_at = ${now}
        WHERE id = ${productId}`
    ))
  })

const nextDue = (sql: SqlClient.SqlClient, maxAttempts: Option.Option<number>) =>
  Effect.map(
    sql<{ at: number }>`
      SELECT due_at AS at FROM product WHERE ${sql.literal(Tables.parked)} AND part <> 'excluded'
        AND attempts < ${Option.getOrElse(maxAttempts, () => Number.MAX_SAFE_INTEGER)} ORDER BY due_at LIMIT 1`,
    ([row]) => Option.map(Option.fromNullable(row), ({ at }) => at)
  )

const backlog = (sql: SqlClient.SqlClient): Effect.Effect<Backlog, SqlError> =>
  Effect.gen(function*() {
    const classes = yield* sql<{ priority: number; n: number; since: number }>`
      SELECT priority, CAST(sum(n) AS BIGINT) AS n, min(since) AS since FROM (
        SELECT priority, count(*) AS n, min(since) AS since FROM product WHERE ${sql.literal(Tables.due)} AND priority < ${
      sql.literal(assertion)
    } GROUP BY priority
        UNION ALL
        SELECT priority, count(*) AS n, min(since) AS since FROM product
          WHERE ${sql.literal(Tables.parked)} AND priority < ${sql.literal(assertion)} GROUP BY priority
      ) AS part GROUP BY priority ORDER BY min(since)`
    const longest = classes[0]
    const oldestOf = (condition: string) =>
      longest === undefined ? Effect.succeed([]) : sql<{ id: string; since: number }>`
        SELECT id, since FROM product WHERE ${
        sql.literal(condition)
      } AND priority = ${longest.priority} AND since = ${longest.since} ORDER BY id LIMIT 1`
    const [oldest = (yield* oldestOf(Tables.parked))[0]] = yield* oldestOf(Tables.due)
    const [sending] = yield* sql<{ n: number }>`SELECT count(*) AS n FROM product WHERE ${
      sql.literal(Tables.special)
    } AND state = 'sending'`
    const [confirmed] = yield* sql<{ since: number }>`
      SELECT since FROM product WHERE ${sql.literal(Tables.due)} AND priority = ${sql.literal(assertion)} ORDER BY since, id LIMIT 1`
    const each = <A>(read: (row: (typeof classes)[number] | undefined) => A) => {
      const of = (waiting: Waiting) => read(classes.find((row) => row.priority === Tables.rankOf(waiting)))
      return { soldOut: of("soldOut"), falling: of("falling"), backInStock: of("backInStock"), rest: of("rest"), doubtful: of("doubtful") }
    }
    return {
      waiting: each((row) => row?.n ?? 0),
      longest: each((row) => row?.since),
      sending: sending?.n ?? 0,
      oldest: Option.map(Option.fromNullable(oldest), ({ id, since }) => ({ productId: ProductId.make(id), since })),
      oldestConfirmation: Option.map(Option.fromNullable(confirmed), ({ since }) => since)
    }
  })

const release = (sql: SqlClient.SqlClient, products: Option.Option<ReadonlyArray<string>>) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const named = Option.match(products, { onNone: () => sql`1 = 1`, onSome: (ids) => sql`id IN (${texts(sql, ids)})` })
    const released = yield* sql<{ id: string }>`
      UPDATE product SET state = ${sql.literal(unresolved)}, attempts = 0, due_at = NULL, since = ${now}, updated_at = ${now}
      WHERE ${sql.literal(Tables.special)} AND state = 'quarantined' AND ${named} RETURNING id`
    return released.map(({ id }) => ProductId.make(id))
  })

// Every priority by its number, because that is what the index begins with.
const ranks = StockPriority.priorities.map((_, rank) => rank).join(", ")

/** Moves what waits for a moment by a change of the wall clock. Of an unknown change, only what is in the future shows. */
const clockChanged = (sql: SqlClient.SqlClient, millis: number) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (millis !== 0) {
      yield* sql`UPDATE product SET due_at = due_at + ${millis}, updated_at = updated_at + ${millis} WHERE due_at IS NOT NULL`
      yield* sql`UPDATE product SET doubt_until = doubt_until + ${millis}, sent_at = sent_at + ${millis}, confirmed_at = confirmed_at + ${millis}
        WHERE doubt_until IS NOT NULL`
      yield* sql`UPDATE request SET at = at + ${millis}`
    }
    // What was written in the future waits as long as it was meant to, from now on.
    yield* sql`
      UPDATE product SET since = CASE WHEN since > ${now} THEN ${now} ELSE since END, updated_at = CASE WHEN updated_at > ${now} THEN ${now} ELSE updated_at END,
        due_at = CASE WHEN updated_at > ${now} THEN due_at - updated_at + ${now} ELSE due_at END
      WHERE due_at IS NOT NULL AND (updated_at > ${now} OR since > ${now})`
    yield* sql`
      UPDATE product SET since = ${now}, updated_at = ${now}, confirmed_at = CASE WHEN confirmed_at > ${now} THEN ${now} ELSE confirmed_at END
      WHERE ${sql.literal(Tables.due)} AND priority IN (${sql.literal(ranks)}) AND since > ${now}`
    yield* sql`UPDATE product SET base_at = ${now} WHERE base_at > ${now}`
    yield* sql`UPDATE product SET left_at = ${now} WHERE left_at > ${now}`
    yield* sql`UPDATE request SET at = ${now} WHERE at > ${now}`
  })

const observe = (
  sql: SqlClient.SqlClient,
  seen: ReadonlyArray<ObservedStock>,
  begunAt: number,
  resend: boolean
): Effect.Effect<number, SqlError> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const stocks = new Map<string, number>(seen.map(({ productId, stock }) => [productId, stock]))
    const known = yield* sql<{ id: string; confirmed: number }>`
      SELECT id, confirmed FROM product
      WHERE id IN (${texts(sql, stocks.keys())}) AND state = 'settled' AND part IN ('named', 'zeroed') AND updated_at < ${begunAt}`
    const differing = known.filter(({ confirmed, id }) => confirmed !== stocks.get(id))
    const same = known.filter(({ confirmed, id }) => confirmed === stocks.get(id)).map(({ id }) => id)
    yield* sql`UPDATE product SET confirmed_at = ${begunAt}, since = ${begunAt} WHERE id IN (${texts(sql, same)})`
    if (resend) {
      yield* Effect.forEach(differing, ({ id }) =>
        sql`UPDATE product SET state = 'pending', confirmed = ${stockOf(stocks.get(id))}, since = ${now}, attempts = 0, updated_at = ${now}
          WHERE id = ${id}`, { discard: true })
    }
    return differing.length
  })

/**
 * What was being sent when a process ended may still take effect, as may what was doubtful: how long ago that was is not
 * known, since the wall clock may have been set meanwhile.
 */
export const cutOff = (sql: SqlClient.SqlClient, { lateWrites }: LedgerOptions): Effect.Effect<unknown, SqlError> =>
  sql.withTransaction(Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const until = now + millisOf(lateWrites)
    yield* sql`INSERT INTO request (at) SELECT ${whole(sql, now)} FROM product WHERE ${sql.literal(Tables.special)} AND state = 'sending'`
    yield* sql`INSERT INTO history (product_id, value, priority, sent_at, ended_at, outcome, code, message)
      SELECT id, sent, ${whole(sql, Tables.rankOf("rest"))}, sent_at, ${
      whole(sql, now)
    }, 'doubtful', 'Interrupted', 'the process ended before the response came'
      FROM product WHERE ${sql.literal(Tables.special)} AND state = 'sending' AND sent_at IS NOT NULL`
    yield* sql`UPDATE product SET doubt_until = ${until},
        due_at = CASE WHEN ${sql.literal(outlasting)} THEN CAST(${until} AS BIGINT) ELSE due_at END,
        updated_at = CASE WHEN ${sql.literal(outlasting)} THEN CAST(${now} AS BIGINT) ELSE updated_at END
      WHERE doubt_until IS NOT NULL`
    yield* sql`UPDATE product SET state = 'doubtful', due_at = NULL, doubt_until = ${until},
        doubt_low = CASE WHEN doubt_low < sent THEN doubt_low ELSE sent END, doubt_high = CASE WHEN doubt_high > sent THEN doubt_high ELSE sent END
      WHERE ${sql.literal(Tables.special)} AND state = 'sending'`
  }))

/** The operations around a request. */
export const make = (
  { run, sql }: LedgerConnection,
  options: LedgerOptions
): Pick<
  Ledger["Type"],
  "backlog" | "clockChanged" | "confirm" | "fail" | "nextDue" | "noteRequest" | "observe" | "release" | "requests" | "retryNow" | "take"
> => ({
  backlog: run(backlog(sql)),
  clockChanged: (millis) => run(clockChanged(sql, millis)),
  observe: (seen, begunAt, resend) => run(observe(sql, seen, begunAt, resend)),
  take: (choice) => run(take(sql, choice)),
  release: (products) => run(release(sql, products)),
  nextDue: (maxAttempts) => run(nextDue(sql, maxAttempts)),
  retryNow: Effect.asVoid(run(sql`
    UPDATE product SET due_at = NULL, attempts = 0 WHERE ${sql.literal(Tables.parked)} AND NOT coalesce(${
    sql.literal(outlasting)
  }, false)`)),
  noteRequest: Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.asVoid(run(noteRequest(sql, options, now)))),
  requests: Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.map(
      run(sql<{ at: number }>`SELECT at FROM request WHERE at BETWEEN ${now - millisOf(options.rateWindow)} AND ${now} ORDER BY at`),
      (rows) => rows.map(({ at }) => Duration.millis(now - at))
    )),
  confirm: (taken) => Effect.asVoid(run(confirm(sql, options, taken))),
  fail: (taken, failed) => Effect.asVoid(run(fail(sql, options, taken, failed)))
})
