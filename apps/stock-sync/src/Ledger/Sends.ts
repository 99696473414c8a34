/**
 * The ledger's part in sending: what is handed out next, and what became of it, one short statement each. Knows nothing of why a send
 * ended as it did.
 *
 * @since 0.1.0
 */
import { ProductId } from "@plaza/domain/Ids"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { urgencies } from "../Entry.js"
import { type Backlog, type Choice, type Ledger, LedgerFault, type Seen, type Taken } from "../Ledger.js"
import { type Access, texts } from "./Access.js"
import * as Tables from "./Tables.js"

interface DueRow {
  readonly id: string
  readonly wanted: number
  readonly urgency: number
  readonly since: number
}

const assertion = urgencies.indexOf("assertion")
const special = (sql: SqlClient.SqlClient) => sql.literal(Tables.special)

/** A product as being sent. A doubt about an earlier value is kept beside it, in case that this one certainly doesn't arrive. */
const mark = (sql: SqlClient.SqlClient, productId: string, now: number) =>
  sql<{ wanted: number }>`
    UPDATE product SET doubt = CASE WHEN state = 'doubtful' THEN sent END, sent = wanted, state = 'sending',
      attempts = attempts + 1, since = CASE WHEN state = 'settled' THEN ${now} ELSE since END, updated_at = ${now}
    WHERE id = ${productId} RETURNING wanted`

/** Both orders are those of an index, so the size of the backlog doesn't matter. */
const choose = (sql: SqlClient.SqlClient, { assertBefore, resting }: Choice) =>
  Effect.gen(function*() {
    const passedOver = texts(sql, resting)
    const waiting = yield* sql<DueRow>`
      SELECT id, wanted, urgency, since FROM product
      WHERE urgency < ${sql.literal(String(assertion))} AND id NOT IN (${passedOver}) ORDER BY urgency, since, id LIMIT 1`
    return waiting.length > 0 || Option.isNone(assertBefore) ? waiting : yield* sql<DueRow>`
      SELECT id, wanted, urgency, since FROM product
      WHERE urgency = ${sql.literal(String(assertion))} AND since < ${assertBefore.value} AND id NOT IN (${passedOver})
      ORDER BY since, id LIMIT 1`
  })

const take = (sql: SqlClient.SqlClient, choice: Choice): Effect.Effect<Option.Option<Taken>, SqlError> =>
  Effect.gen(function*() {
    const [row] = yield* choose(sql, choice)
    const urgency = urgencies[row?.urgency ?? -1]
    if (row === undefined || urgency === undefined) return Option.none()
    const [marked] = yield* mark(sql, row.id, yield* Clock.currentTimeMillis)
    return Option.some({ productId: ProductId.make(row.id), value: marked?.wanted ?? row.wanted, urgency, since: row.since })
  })

const backlog = (sql: SqlClient.SqlClient): Effect.Effect<Backlog, SqlError> =>
  Effect.gen(function*() {
    const classes = yield* sql<{ urgency: number; n: number; since: number }>`
      SELECT urgency, count(*) AS n, min(since) AS since FROM product WHERE urgency < ${sql.literal(String(assertion))}
      GROUP BY urgency ORDER BY min(since)`
    const longest = classes[0]
    const [oldest] = longest === undefined ? [] : yield* sql<{ id: string; since: number }>`
      SELECT id, since FROM product WHERE urgency = ${longest.urgency} ORDER BY since, id LIMIT 1`
    const [sending] = yield* sql<{ n: number }>`SELECT count(*) AS n FROM product WHERE ${special(sql)} AND state = 'sending'`
    const [confirmed] = yield* sql<{ since: number }>`
      SELECT since FROM product WHERE urgency = ${sql.literal(String(assertion))} ORDER BY since, id LIMIT 1`
    const each = <A>(read: (row: (typeof classes)[number] | undefined) => A) => {
      const of = (urgency: keyof Backlog["waiting"]) => read(classes.find((row) => row.urgency === urgencies.indexOf(urgency)))
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
      UPDATE product SET state = CASE WHEN doubt IS NULL THEN 'pending' ELSE 'doubtful' END, sent = coalesce(doubt, sent), doubt = NULL,
        attempts = 0, since = ${now}, updated_at = ${now}
      WHERE ${special(sql)} AND state = 'quarantined' AND ${named} RETURNING id`
    return released.map(({ id }) => ProductId.make(id))
  })

// Every urgency by its number, because that is what the index begins with.
const ranks = urgencies.map((_, rank) => rank).join(", ")

const forgetFuture = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.asVoid(sql`
      UPDATE product SET since = ${now}, updated_at = ${now}, confirmed_at = CASE WHEN confirmed_at > ${now} THEN ${now} ELSE confirmed_at END
      WHERE urgency IN (${sql.literal(ranks)}) AND since > ${now}`))

const observe = (sql: SqlClient.SqlClient, seen: ReadonlyArray<Seen>, begunAt: number): Effect.Effect<number, SqlError> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const stocks = new Map<string, number>(seen.map(({ productId, stock }) => [productId, stock]))
    const known = yield* sql<{ id: string; confirmed: number }>`
      SELECT id, confirmed FROM product
      WHERE id IN (${texts(sql, stocks.keys())}) AND state = 'settled' AND part <> 'left' AND updated_at < ${begunAt}`
    const differing = known.filter(({ confirmed, id }) => confirmed !== stocks.get(id))
    const same = known.filter(({ confirmed, id }) => confirmed === stocks.get(id)).map(({ id }) => id)
    yield* sql`UPDATE product SET confirmed_at = ${begunAt}, since = ${begunAt} WHERE id IN (${texts(sql, same)})`
    yield* Effect.forEach(differing, ({ id }) =>
      sql`UPDATE product SET state = 'pending', confirmed = ${stocks.get(id) ?? null}, since = ${now}, attempts = 0, updated_at = ${now}
        WHERE id = ${id}`, { discard: true })
    return differing.length
  })

/**
 * What was being sent when a process ended: nobody knows whether it was taken.
 *
 * @since 0.1.0
 * @category statements
 */
export const cutOff = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  sql`UPDATE product SET state = 'doubtful', doubt = NULL WHERE ${special(sql)} AND state = 'sending'`

/**
 * The operations around a send.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({ path, run, sql }: Access): Pick<Ledger["Type"], "backlog" | "begin" | "confirm" | "fail" | "forgetFuture" | "observe" | "release" | "take"> => ({
  backlog: run(backlog(sql)),
  forgetFuture: run(forgetFuture(sql)),
  observe: (seen, begunAt) => run(observe(sql, seen, begunAt)),
  take: (choice) => run(take(sql, choice)),
  release: (products) => run(release(sql, products)),
  begin: (productId) =>
    Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => run(mark(sql, productId, now))),
      Effect.flatMap(([row]) =>
        row === undefined
          ? Effect.fail(new LedgerFault({ path, message: `the ledger ${path} no longer knows the product ${JSON.stringify(productId)}: start again` }))
          : Effect.succeed(row.wanted)
      )
    ),
  confirm: (productId, value) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.asVoid(run(sql`
        UPDATE product SET confirmed = ${value}, confirmed_at = ${now}, sent = ${value}, doubt = NULL, attempts = 0,
          state = CASE WHEN wanted = ${value} THEN 'settled' ELSE 'pending' END,
          since = CASE WHEN wanted = ${value} THEN ${now} ELSE since END,
          refusal_tag = NULL, refusal_code = NULL, refusal_message = NULL, refused = NULL, updated_at = ${now}
        WHERE id = ${productId}`))),
  fail: (productId, state, refusal, absent) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      // What the service may still hold of an earlier value is forgotten only where this send told more about it.
      const doubt = state === "quarantined" && !absent ? sql`doubt` : sql`NULL`
      const outcome = state === "pending"
        ? sql`state = CASE WHEN doubt IS NULL THEN 'pending' ELSE 'doubtful' END, sent = coalesce(doubt, ${refusal.value})`
        : sql`state = ${state}, sent = ${refusal.value}`
      const confirmed = absent ? sql`confirmed = NULL, confirmed_at = NULL,` : sql``
      return Effect.asVoid(run(sql`
        UPDATE product SET ${outcome}, doubt = ${doubt}, ${confirmed}
          refusal_tag = ${refusal.tag}, refusal_code = ${refusal.code ?? null}, refusal_message = ${refusal.message},
          refused = ${refusal.value}, updated_at = ${now}
        WHERE id = ${productId}`))
    })
})
