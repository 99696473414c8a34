/** Reads products, issues, held changes and the history, page by page, and counts them. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { EntryState } from "./Entry.ts"
import type { Ledger } from "./Ledger.ts"
import type { LedgerConnection } from "./LedgerConnection.ts"
import type { LedgerFault } from "./LedgerError.ts"
import * as LedgerRows from "./LedgerRows.ts"
import type { HeldChange, RowIssue } from "./Snapshot.ts"
import * as Tables from "./Tables.ts"

const pageSize = 1_000

/** Reads a table page by page, each after the last key of the page before. */
const paginate = <A, K>(first: K, read: (after: K) => Effect.Effect<ReadonlyArray<A>, LedgerFault>, keyOf: (row: A) => K) =>
  Stream.paginateChunkEffect(first, (after) =>
    Effect.map(read(after), (rows) => {
      const last = rows.at(-1)
      return [
        Chunk.unsafeFromArray(rows),
        last === undefined || rows.length < pageSize ? Option.none<K>() : Option.some(keyOf(last))
      ]
    }))

const IssueKind = Schema.Literal("rejected", "negative")

const products = LedgerRows.all(LedgerRows.Product)
const historyRows = LedgerRows.all(LedgerRows.HistoryRow)
const heldRows = LedgerRows.all(Schema.Struct({ id: Schema.String, kind: LedgerRows.Kind, was: Schema.Int, wanted: Schema.Int }))
const issueRows = LedgerRows.all(Schema.Struct({
  place: Schema.Int,
  line: Schema.Int,
  product_id: Schema.NullOr(Schema.String),
  kind: IssueKind,
  reason: Schema.String
}))
const countsRow = LedgerRows.first(Schema.Struct({
  total: Schema.Int,
  unsettled: Schema.Int,
  sending: Schema.Int,
  doubtful: Schema.Int,
  uncertain: Schema.Int,
  quarantined: Schema.Int,
  missing: Schema.Int,
  rejected: Schema.Int,
  negative: Schema.Int
}))

/** A million products are counted without reading each: as a whole, and by an index for the states that few products have. */
const countRows = (sql: SqlClient.SqlClient) => {
  const inState = (state: EntryState) =>
    sql`(SELECT count(*) FROM product WHERE ${sql.literal(`${Tables.exceptional} AND state = '${state}'`)})`
  const ofKind = (kind: RowIssue["kind"]) => sql`(SELECT count(*) FROM row_issue WHERE ${sql.literal(`kind = '${kind}'`)})`
  return sql`SELECT (SELECT count(*) FROM product) AS total, (SELECT count(*) FROM product WHERE state <> 'settled') AS unsettled,
    ${inState("sending")} AS sending, ${inState("doubtful")} AS doubtful, ${inState("uncertain")} AS uncertain, ${
    inState("quarantined")
  } AS quarantined,
    (SELECT count(*) FROM product WHERE left_at IS NOT NULL) AS missing,
    ${ofKind("rejected")} AS rejected, ${ofKind("negative")} AS negative`
}

export const make = (
  { run, sql }: LedgerConnection
): Pick<
  Ledger["Type"],
  "all" | "counts" | "heldChanges" | "history" | "quarantined" | "queue" | "rowIssues" | "uncertain" | "unsettled"
> => {
  const productsWhere = (condition: string) =>
    Stream.map(
      paginate(
        "",
        (after) =>
          run(products(sql`SELECT * FROM product WHERE id > ${after} AND ${sql.literal(condition)} ORDER BY id LIMIT ${pageSize}`)),
        (row): string => row.id
      ),
      LedgerRows.toEntry
    )

  const isWaiting = sql.literal(`priority < ${Tables.priorityIndex("assertion")} AND NOT ${Tables.refused}`)
  const due = paginate(
    { priority: -1, since: 0, id: "" },
    ({ id, priority, since }) =>
      run(products(sql`SELECT * FROM product WHERE ${sql.literal(Tables.due)} AND ${isWaiting}
        AND (priority, since, id) > (${priority}, ${since}, ${id}) ORDER BY priority, since, id LIMIT ${pageSize}`)),
    (row) => ({ priority: row.priority === null ? -1 : Tables.priorityIndex(row.priority), since: row.since, id: row.id })
  )
  const delayed = paginate(
    { dueAt: Number.MIN_SAFE_INTEGER, id: "" },
    ({ dueAt, id }) =>
      run(products(sql`SELECT * FROM product WHERE ${sql.literal(Tables.delayed)} AND ${isWaiting}
        AND (due_at, id) > (${dueAt}, ${id}) ORDER BY due_at, id LIMIT ${pageSize}`)),
    (row) => ({ dueAt: row.due_at ?? 0, id: row.id })
  )

  return {
    unsettled: productsWhere("state <> 'settled'"),
    quarantined: productsWhere(`${Tables.exceptional} AND state = 'quarantined'`),
    uncertain: productsWhere(`${Tables.exceptional} AND state = 'uncertain'`),
    all: productsWhere("1 = 1"),
    queue: Stream.mapConcat(Stream.concat(due, delayed),
      (row) => LedgerRows.isWaiting(row.priority) ? [{ ...LedgerRows.toEntry(row), priority: row.priority }] : []),
    heldChanges: Stream.map(
      paginate(
        "",
        (after) => run(heldRows(sql`SELECT id, kind, was, wanted FROM held_change WHERE id > ${after} ORDER BY id LIMIT ${pageSize}`)),
        (row) => row.id
      ),
      (row): HeldChange => ({ productId: row.id, kind: row.kind, from: row.was, to: row.wanted })
    ),
    rowIssues: Stream.map(
      paginate(
        0,
        (after) =>
          run(issueRows(
            sql`SELECT place, line, product_id, kind, reason FROM row_issue WHERE place > ${after} ORDER BY place LIMIT ${pageSize}`
          )),
        (row) => row.place
      ),
      (row): RowIssue => ({ line: row.line, productId: row.product_id ?? undefined, kind: row.kind, reason: row.reason })
    ),
    history: (product) =>
      Stream.map(
        paginate(
          Number.MAX_SAFE_INTEGER,
          (before) => {
            const condition = Option.match(product, { onNone: () => sql`1 = 1`, onSome: (id) => sql`product_id = ${id}` })
            return run(historyRows(sql`SELECT * FROM history WHERE n < ${before} AND ${condition} ORDER BY n DESC LIMIT ${pageSize}`))
          },
          (row) => row.n
        ),
        LedgerRows.toHistoryEntry
      ),
    counts: Effect.map(run(countsRow(countRows(sql))), (found) => {
      const { doubtful, missing, negative, quarantined, rejected, sending, total, uncertain, unsettled } = Option.getOrThrow(found)
      return {
        settled: total - unsettled,
        pending: unsettled - sending - doubtful - uncertain - quarantined,
        sending,
        doubtful,
        uncertain,
        quarantined,
        missing,
        rejectedRows: rejected,
        negativeRows: negative
      }
    })
  }
}
