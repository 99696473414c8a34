/**
 * The ledger's operations in SQL, and what is read from it. Knows nothing of files, servers and locks; `Sqlite` and `Postgres` open them.
 *
 * @since 0.1.0
 */
import { ProductId } from "@plaza/domain/Ids"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Entry, EntryState } from "../Entry.js"
import { type Held, type Ledger, type LedgerFault, OtherAccount, type SetAside } from "../Ledger.js"
import type { Access } from "./Access.js"
import { receive } from "./Receive.js"
import * as Sends from "./Sends.js"
import * as Tables from "./Tables.js"

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

interface StateCount {
  readonly state: EntryState
  readonly n: number
}

interface SnapshotRow {
  readonly taken_at: number | null
  readonly held_since: number | null
  readonly held_at: number | null
  readonly zeroed: number | null
  readonly dropped: number | null
  readonly catalogue: number | null
}

const toHeld = (row: SnapshotRow): Held | undefined =>
  row.held_since === null || row.held_at === null
    ? undefined
    : { since: row.held_since, at: row.held_at, zeroed: row.zeroed ?? 0, dropped: row.dropped ?? 0, catalogue: row.catalogue ?? 0 }

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
export const make = (access: Access): Ledger["Type"] => {
  const { path, run, sql } = access

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

  const snapshot = <A>(read: (row: SnapshotRow) => A | null | undefined) =>
    Effect.map(run(sql<SnapshotRow>`SELECT * FROM snapshot`), ([row]) => Option.fromNullable(row === undefined ? undefined : read(row)))

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
            `${wanted.baseUrl}: name another one with --ledger or STOCK_SYNC_LEDGER; nothing was sent`
        })
      }),
    receive: receive(access),
    takenAt: snapshot((row) => row.taken_at),
    held: snapshot(toHeld),
    // A million products are counted without a look at each: the table as a whole, and by an index what is otherwise than most.
    counts: run(Effect.all([
      sql<{ n: number }>`SELECT count(*) AS n FROM product`,
      sql<{ n: number }>`SELECT count(*) AS n FROM product WHERE state <> 'settled'`,
      sql<StateCount>`SELECT state, count(*) AS n FROM product WHERE ${sql.literal(Tables.special)} GROUP BY state`,
      sql<StateCount>`SELECT state, count(*) AS n FROM product WHERE part = 'left' GROUP BY state`,
      sql<{ n: number }>`SELECT count(*) AS n FROM set_aside`
    ])).pipe(Effect.map(([all, open, special, left, setAside]) => {
      const among = (rows: ReadonlyArray<StateCount>, state: EntryState) => rows.find((row) => row.state === state)?.n ?? 0
      const of = (state: EntryState) => among(special, state) - among(left, state)
      const opened = open[0]?.n ?? 0
      return {
        settled: (all[0]?.n ?? 0) - opened - among(left, "settled"),
        pending: special.reduce((rest, { n }) => rest - n, opened) - among(left, "pending"),
        sending: of("sending"),
        doubtful: of("doubtful"),
        quarantined: of("quarantined"),
        setAside: setAside[0]?.n ?? 0
      }
    })),
    unsettled: products("state <> 'settled' AND part <> 'left'"),
    open: products("state <> 'settled'"),
    quarantined: products(`${Tables.special} AND state = 'quarantined'`),
    setAside: Stream.map(
      paged(
        0,
        (after) =>
          run(sql<{ place: number; line: number; product_id: string | null; reason: string }>`
            SELECT place, line, product_id, reason FROM set_aside WHERE place > ${after} ORDER BY place LIMIT ${page}`),
        (row) => row.place
      ),
      (row): SetAside => ({ line: row.line, productId: row.product_id ?? undefined, reason: row.reason })
    ),
    ...Sends.make(access)
  }
}
