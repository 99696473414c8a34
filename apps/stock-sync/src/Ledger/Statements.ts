/**
 * The ledger's operations in SQL, one short statement each. Knows nothing of files and locks; `Sqlite` opens them.
 *
 * @since 0.1.0
 */
import { ProductId } from "@plaza/domain/Ids"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Entry, EntryState } from "../Entry.js"
import { type Ledger, LedgerFault, OtherAccount, type SetAside } from "../Ledger.js"
import { receive } from "./Receive.js"

interface ProductRow {
  readonly id: string
  readonly wanted: number
  readonly confirmed: number | null
  readonly confirmed_at: number | null
  readonly sent: number | null
  readonly attempts: number
  readonly state: EntryState
  readonly refusal_tag: string | null
  readonly refusal_code: string | null
  readonly refusal_message: string | null
  readonly refused: number | null
  readonly line: number
  readonly updated_at: number
}

const toEntry = (row: ProductRow): Entry => ({
  productId: ProductId.make(row.id),
  wanted: row.wanted,
  confirmed: row.confirmed ?? undefined,
  confirmedAt: row.confirmed_at ?? undefined,
  sent: row.sent ?? undefined,
  attempts: row.attempts,
  state: row.state,
  refusal: row.refusal_tag === null || row.refused === null ? undefined : {
    tag: row.refusal_tag,
    code: row.refusal_code ?? undefined,
    message: row.refusal_message ?? "",
    value: row.refused
  },
  line: row.line,
  updatedAt: row.updated_at
})

// Rows a page: a page is in memory at a time, whatever the size of the ledger.
const page = 1000

/** Reads a table page by page, each beginning behind the last key of the one before. */
const paged = <A, K>(first: K, read: (after: K) => Effect.Effect<ReadonlyArray<A>, LedgerFault>, keyOf: (row: A) => K) =>
  Stream.paginateChunkEffect(first, (after) =>
    Effect.map(read(after), (rows) => {
      const last = rows.at(-1)
      return [
        Chunk.unsafeFromArray(rows),
        last === undefined || rows.length < page ? Option.none<K>() : Option.some(keyOf(last))
      ]
    }))

/**
 * The operations on an open ledger.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (sql: SqlClient.SqlClient, path: string, faultOf: (error: SqlError) => LedgerFault): Ledger["Type"] => {
  const run = <A, R>(effect: Effect.Effect<A, SqlError, R>) => Effect.mapError(effect, faultOf)
  const gone = (productId: string) =>
    new LedgerFault({ path, message: `the ledger ${path} no longer knows the product ${JSON.stringify(productId)}: start again` })

  const account = run(sql<{ base_url: string; account_id: string }>`SELECT base_url, account_id FROM account`).pipe(
    Effect.map(([row]) => Option.map(Option.fromNullable(row), (found) => ({ baseUrl: found.base_url, id: found.account_id })))
  )

  const products = (condition: string) =>
    Stream.map(
      paged(
        "",
        (after) =>
          run(sql<ProductRow>`SELECT * FROM product WHERE id > ${after} AND ${sql.literal(condition)} ORDER BY id LIMIT ${page}`),
        (row) => row.id
      ),
      toEntry
    )

  return {
    path,
    account,
    bind: (wanted) =>
      Effect.gen(function*() {
        const found = Option.getOrUndefined(yield* account)
        if (found === undefined) {
          return yield* Effect.asVoid(run(sql`INSERT INTO account (one, base_url, account_id) VALUES (1, ${wanted.baseUrl}, ${wanted.id})`))
        }
        if (found.baseUrl === wanted.baseUrl && found.id === wanted.id) return
        return yield* new OtherAccount({
          path,
          message: `the ledger ${path} belongs to account ${found.id} at ${found.baseUrl}, but the key to account ${wanted.id} at ` +
            `${wanted.baseUrl}: name another file with --ledger or STOCK_SYNC_LEDGER; nothing was sent`
        })
      }),
    receive: receive(sql, faultOf),
    counts: run(Effect.all([
      sql<{ state: EntryState; n: number }>`
        SELECT state, count(*) AS n FROM product WHERE snapshot = (SELECT number FROM snapshot) GROUP BY state`,
      sql<{ n: number }>`SELECT count(*) AS n FROM set_aside`
    ])).pipe(Effect.map(([states, setAside]) => {
      const of = (state: EntryState) => states.find((row) => row.state === state)?.n ?? 0
      return {
        settled: of("settled"),
        pending: of("pending"),
        sending: of("sending"),
        doubtful: of("doubtful"),
        quarantined: of("quarantined"),
        setAside: setAside[0]?.n ?? 0
      }
    })),
    unsettled: products("state <> 'settled' AND snapshot = (SELECT number FROM snapshot)"),
    open: products("state <> 'settled'"),
    setAside: Stream.map(
      paged(
        0,
        (after) =>
          run(sql<{ at: number; line: number; product_id: string | null; reason: string }>`
            SELECT rowid AS at, line, product_id, reason FROM set_aside WHERE rowid > ${after} ORDER BY rowid LIMIT ${page}`),
        (row) => row.at
      ),
      (row): SetAside => ({ line: row.line, productId: row.product_id ?? undefined, reason: row.reason })
    ),
    begin: (productId) =>
      Clock.currentTimeMillis.pipe(
        Effect.flatMap((now) =>
          run(sql<{ wanted: number }>`
            UPDATE product SET doubt = CASE WHEN state = 'doubtful' THEN sent END, sent = wanted, state = 'sending',
              attempts = attempts + 1, updated_at = ${now}
            WHERE id = ${productId} RETURNING wanted`)
        ),
        Effect.flatMap(([row]) => row === undefined ? Effect.fail(gone(productId)) : Effect.succeed(row.wanted))
      ),
    confirm: (productId, value) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.asVoid(run(sql`
          UPDATE product SET confirmed = ${value}, confirmed_at = ${now}, sent = ${value}, doubt = NULL, attempts = 0,
            state = CASE WHEN wanted = ${value} THEN 'settled' ELSE 'pending' END,
            refusal_tag = NULL, refusal_code = NULL, refusal_message = NULL, refused = NULL, updated_at = ${now}
          WHERE id = ${productId}`))),
    fail: (productId, state, refusal, absent) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.asVoid(run(sql`
          UPDATE product SET
            state = CASE WHEN ${state} = 'pending' AND doubt IS NOT NULL THEN 'doubtful' ELSE ${state} END,
            sent = CASE WHEN ${state} = 'pending' AND doubt IS NOT NULL THEN doubt ELSE ${refusal.value} END,
            doubt = NULL,
            confirmed = CASE WHEN ${absent ? 1 : 0} THEN NULL ELSE confirmed END,
            confirmed_at = CASE WHEN ${absent ? 1 : 0} THEN NULL ELSE confirmed_at END,
            refusal_tag = ${refusal.tag}, refusal_code = ${refusal.code ?? null}, refusal_message = ${refusal.message},
            refused = ${refusal.value}, updated_at = ${now}
          WHERE id = ${productId}`)))
  }
}
