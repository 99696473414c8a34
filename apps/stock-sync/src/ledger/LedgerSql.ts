/** The ledger's operations in SQL, and what is read from it. `Sqlite` and `Postgres` open the database. */
import { StockPriority } from "@plaza/client"
import { ProductId } from "@plaza/domain/Ids"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Unit } from "../source/Source.js"
import * as ApplySnapshot from "./ApplySnapshot.js"
import * as DispatchQueries from "./DispatchQueries.js"
import type { Entry, EntryState, Waiting } from "./Entry.js"
import {
  type Account,
  type Held,
  type HeldChange,
  type HistoryEntry,
  type Ledger,
  type LedgerFault,
  type LedgerOptions,
  NotHeld,
  OtherAccount,
  type RowIssue
} from "./Ledger.js"
import type { LedgerConnection } from "./LedgerConnection.js"
import * as Tables from "./Tables.js"

interface ProductRow {
  readonly id: string
  readonly wanted: number
  readonly confirmed: number | null
  readonly confirmed_at: number | null
  readonly sent: number | null
  readonly doubt_low: number | null
  readonly doubt_high: number | null
  readonly doubt_until: number | null
  readonly attempts: number
  readonly state: EntryState
  readonly due_at: number | null
  readonly since: number
  readonly refusal_tag: string | null
  readonly refusal_code: string | null
  readonly refusal_message: string | null
  readonly refused: number | null
  readonly line: number
  readonly updated_at: number
  readonly priority: number | null
}

const toEntry = (row: ProductRow): Entry => ({
  productId: ProductId.make(row.id),
  wanted: row.wanted,
  confirmed: row.confirmed ?? undefined,
  confirmedAt: row.confirmed_at ?? undefined,
  sent: row.sent ?? undefined,
  doubt: row.doubt_low === null || row.doubt_high === null || row.doubt_until === null
    ? undefined
    : { lowest: row.doubt_low, highest: row.doubt_high, until: row.doubt_until },
  attempts: row.attempts,
  state: row.state,
  dueAt: row.due_at ?? undefined,
  refusal: row.refusal_tag === null || row.refused === null ? undefined : {
    tag: row.refusal_tag,
    code: row.refusal_code ?? undefined,
    message: row.refusal_message ?? "",
    value: row.refused
  },
  line: row.line,
  updatedAt: row.updated_at
})

const isWaiting = (priority: StockPriority.Priority | undefined): priority is Waiting => priority !== undefined && priority !== "assertion"

interface StateCount {
  readonly state: EntryState
  readonly n: number
}

interface SnapshotRow {
  readonly taken_at: number | null
  readonly row_count: number | null
  readonly unit: Unit | null
  readonly held_number: number
  readonly held_since: number | null
  readonly held_at: number | null
  readonly confirmed_number: number | null
  readonly catalogue: number | null
  readonly sold_out: number | null
  readonly fell: number | null
  readonly rose: number | null
  readonly missing: number | null
  readonly zeroed: number | null
}

const toHeld = (row: SnapshotRow): Held | undefined =>
  row.held_since === null || row.held_at === null ? undefined : {
    number: row.held_number,
    since: row.held_since,
    at: row.held_at,
    confirmed: row.confirmed_number === row.held_number,
    figures: {
      catalogue: row.catalogue ?? 0,
      soldOut: row.sold_out ?? 0,
      fell: row.fell ?? 0,
      rose: row.rose ?? 0,
      missing: row.missing ?? 0,
      zeroed: row.zeroed ?? 0
    }
  }

// Rows a page: a page is in memory at a time, whatever the size of the ledger.
const page = 1000

/** Reads a table page by page, each beginning after the last key of the one before. */
const paged = <A, K>(first: K, read: (after: K) => Effect.Effect<ReadonlyArray<A>, LedgerFault>, keyOf: (row: A) => K) =>
  Stream.paginateChunkEffect(first, (after) =>
    Effect.map(read(after), (rows) => {
      const last = rows.at(-1)
      return [
        Chunk.unsafeFromArray(rows),
        last === undefined || rows.length < page ? Option.none<K>() : Option.some(keyOf(last))
      ]
    }))

const named = ({ baseUrl, id }: Account) => `account ${id ?? "without a known id"} at ${baseUrl}`

/** Why a ledger does not belong to an account, or that it can't be told; undefined if it does. */
const mismatch = (found: Account, wanted: Account): string | undefined => {
  if (found.id !== undefined && wanted.id !== undefined && found.id !== wanted.id) {
    return `belongs to ${named(found)}, but the key to ${
      named(wanted)
    }: name another ledger with --ledger or STOCK_SYNC_LEDGER; nothing was sent`
  }
  const adopt =
    "If it is the same account, run `plaza-stock-sync adopt`; otherwise name another ledger with --ledger or STOCK_SYNC_LEDGER. Nothing was sent"
  if (found.baseUrl !== wanted.baseUrl) return `belongs to ${named(found)}, but PLAZA_BASE_URL is ${wanted.baseUrl}. ${adopt}`
  const sameId = found.id !== undefined && found.id === wanted.id
  const sameKey = found.keyFingerprint === "" || found.keyFingerprint === wanted.keyFingerprint
  return sameId || sameKey
    ? undefined
    : `was used with another key, and GET /me does not show whether it belongs to the same account. ${adopt}`
}

/** The operations on an open ledger. */
export const make = (access: LedgerConnection, options: LedgerOptions, check: Ledger["Type"]["check"] = Effect.void): Ledger["Type"] => {
  const { path, run, sql } = access

  const account = run(
    sql<{ base_url: string; account_id: string | null; key_fingerprint: string }>`SELECT base_url, account_id, key_fingerprint FROM account`
  ).pipe(
    Effect.map(([row]) =>
      Option.map(Option.fromNullable(row),
        (found): Account => ({ baseUrl: found.base_url, id: found.account_id ?? undefined, keyFingerprint: found.key_fingerprint }))
    )
  )

  const write = ({ baseUrl, id, keyFingerprint }: Account) =>
    Effect.asVoid(
      run(sql`INSERT INTO account (one, base_url, account_id, key_fingerprint) VALUES (1, ${baseUrl}, ${id ?? null}, ${keyFingerprint})
      ON CONFLICT (one) DO UPDATE SET base_url = excluded.base_url, account_id = coalesce(excluded.account_id, account.account_id),
        key_fingerprint = excluded.key_fingerprint`)
    )

  const other = (message: string) => new OtherAccount({ path, message: `the ledger ${path} ${message}` })

  const products = (condition: string) =>
    Stream.map(
      paged(
        "",
        (after) => run(sql<ProductRow>`SELECT * FROM product WHERE id > ${after} AND ${sql.literal(condition)} ORDER BY id LIMIT ${page}`),
        (row) => row.id
      ),
      toEntry
    )

  const waits = sql.literal(`priority < ${Tables.rankOf("assertion")} AND state <> 'quarantined'`)
  const dueNow = paged(
    { priority: -1, since: 0, id: "" },
    ({ id, priority, since }) =>
      run(sql<ProductRow>`SELECT * FROM product WHERE ${sql.literal(Tables.due)} AND ${waits}
        AND (priority, since, id) > (${priority}, ${since}, ${id}) ORDER BY priority, since, id LIMIT ${page}`),
    (row) => ({ priority: row.priority ?? -1, since: row.since, id: row.id })
  )
  const dueLater = paged(
    { dueAt: Number.MIN_SAFE_INTEGER, id: "" },
    ({ dueAt, id }) =>
      run(sql<ProductRow>`SELECT * FROM product WHERE ${sql.literal(Tables.parked)} AND ${waits}
        AND (due_at, id) > (${dueAt}, ${id}) ORDER BY due_at, id LIMIT ${page}`),
    (row) => ({ dueAt: row.due_at ?? 0, id: row.id })
  )

  return {
    path,
    check,
    account,
    bind: (wanted) =>
      Effect.gen(function*() {
        const found = Option.getOrUndefined(yield* account)
        const problem = found === undefined ? undefined : mismatch(found, wanted)
        if (problem !== undefined) return yield* other(problem)
        yield* write(wanted)
      }),
    adopt: (wanted) =>
      Effect.gen(function*() {
        const found = Option.getOrUndefined(yield* account)
        if (found?.id !== undefined && wanted.id !== undefined && found.id !== wanted.id) return yield* other(mismatch(found, wanted) ?? "")
        yield* write(wanted)
      }),
    receive: ApplySnapshot.receive(access),
    preview: ApplySnapshot.preview(access),
    snapshot: Effect.map(run(sql<SnapshotRow>`SELECT * FROM snapshot`), ([row]) => ({
      takenAt: row?.taken_at ?? undefined,
      rows: row?.row_count ?? undefined,
      unit: row?.unit ?? "line",
      held: Option.fromNullable(row === undefined ? undefined : toHeld(row))
    })),
    heldChanges: Stream.map(
      paged(
        "",
        (after) =>
          run(sql<{ id: string; kind: HeldChange["kind"]; was: number; wanted: number }>`
            SELECT id, kind, was, wanted FROM held_change WHERE id > ${after} ORDER BY id LIMIT ${page}`),
        (row) => row.id
      ),
      (row): HeldChange => ({ productId: row.id, kind: row.kind, from: row.was, to: row.wanted })
    ),
    confirmHeld: (number) =>
      Effect.gen(function*() {
        const [row] = yield* run(sql<SnapshotRow>`
          UPDATE snapshot SET confirmed_number = ${number} WHERE held_number = ${number} AND held_since IS NOT NULL RETURNING *`)
        const held = row === undefined ? undefined : toHeld(row)
        if (held !== undefined) return held
        const [now] = yield* run(sql<SnapshotRow>`SELECT * FROM snapshot`)
        const current = now === undefined ? undefined : toHeld(now)
        return yield* new NotHeld({
          message: current === undefined
            ? "no snapshot is held: there is nothing to confirm"
            : `snapshot ${number} is not held (any longer); snapshot ${current.number} is: look at it with \`plaza-stock-sync status\`, then run ` +
              `\`plaza-stock-sync confirm ${current.number}\``
        })
      }),
    // A million products are counted without a look at each: the table as a whole, and by an index what is otherwise than most.
    counts: run(Effect.all([
      sql<{ n: number }>`SELECT count(*) AS n FROM product`,
      sql<{ n: number }>`SELECT count(*) AS n FROM product WHERE state <> 'settled'`,
      sql<StateCount>`SELECT state, count(*) AS n FROM product WHERE ${sql.literal(Tables.special)} GROUP BY state`,
      sql<{ n: number }>`SELECT count(*) AS n FROM product WHERE left_at IS NOT NULL`,
      sql<{ kind: RowIssue["kind"]; n: number }>`SELECT kind, count(*) AS n FROM row_issue GROUP BY kind`
    ])).pipe(Effect.map(([all, open, special, missing, issues]) => {
      const of = (state: EntryState) => special.find((row) => row.state === state)?.n ?? 0
      const ofKind = (kind: RowIssue["kind"]) => issues.find((row) => row.kind === kind)?.n ?? 0
      const opened = open[0]?.n ?? 0
      return {
        settled: (all[0]?.n ?? 0) - opened,
        pending: special.reduce((rest, { n }) => rest - n, opened),
        sending: of("sending"),
        doubtful: of("doubtful"),
        quarantined: of("quarantined"),
        missing: missing[0]?.n ?? 0,
        rejectedRows: ofKind("rejected"),
        negativeRows: ofKind("negative")
      }
    })),
    unsettled: products("state <> 'settled'"),
    queue: Stream.mapConcat(Stream.concat(dueNow, dueLater), (row) => {
      const priority = StockPriority.priorities[row.priority ?? -1]
      return isWaiting(priority) ? [{ ...toEntry(row), priority }] : []
    }),
    quarantined: products(`${Tables.special} AND state = 'quarantined'`),
    all: products("1 = 1"),
    rowIssues: Stream.map(
      paged(
        0,
        (after) =>
          run(sql<{ place: number; line: number; product_id: string | null; kind: RowIssue["kind"]; reason: string }>`
            SELECT place, line, product_id, kind, reason FROM row_issue WHERE place > ${after} ORDER BY place LIMIT ${page}`),
        (row) => row.place
      ),
      (row): RowIssue => ({ line: row.line, productId: row.product_id ?? undefined, kind: row.kind, reason: row.reason })
    ),
    history: (product) =>
      Stream.map(
        paged(
          Number.MAX_SAFE_INTEGER,
          (before) => {
            const one = Option.match(product, { onNone: () => sql`1 = 1`, onSome: (id) => sql`product_id = ${id}` })
            return run(sql<HistoryRow>`SELECT * FROM history WHERE n < ${before} AND ${one} ORDER BY n DESC LIMIT ${page}`)
          },
          (row) => row.n
        ),
        (row): HistoryEntry => ({
          productId: row.product_id,
          value: row.value,
          reason: StockPriority.priorities[row.priority] ?? "rest",
          sentAt: row.sent_at,
          endedAt: row.ended_at,
          outcome: row.outcome,
          code: row.code ?? undefined,
          message: row.message ?? undefined
        })
      ),
    ...DispatchQueries.make(access, options)
  }
}

interface HistoryRow {
  readonly n: number
  readonly product_id: string
  readonly value: number
  readonly priority: number
  readonly sent_at: number
  readonly ended_at: number
  readonly outcome: HistoryEntry["outcome"]
  readonly code: string | null
  readonly message: string | null
}
