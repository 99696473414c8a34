/** Reads products, issues, held changes and the history, page by page, and counts them. */
import { ProductId } from "@plaza/domain/Ids"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { EntryState } from "./Entry.ts"
import type { Attention, Backlog, Counts, Ledger, NeedingEntry, ProductStatus } from "./Ledger.ts"
import type { LedgerFault } from "./LedgerError.ts"
import { by, type Failure, mine, type Run, type Target } from "./Operation.ts"
import * as Rows from "./Rows.ts"
import * as Tables from "./Schema.ts"
import type { HeldChange, RowIssue } from "./Snapshot.ts"
import * as StockPriority from "./StockPriority.ts"

const pageSize = 1_000

/** Reads a table page by page, each after the last key of the page before. */
const paginate = <A, K>(first: K, read: (after: K) => Effect.Effect<ReadonlyArray<A>, LedgerFault>, keyOf: (row: A) => K) =>
  Stream.paginate(first, (after) =>
    Effect.map(read(after), (rows) => {
      const last = rows.at(-1)
      return [rows, last === undefined || rows.length < pageSize ? Option.none<K>() : Option.some(keyOf(last))] as const
    }))

const products = Rows.all(Rows.Product)
const oneProduct = Rows.first(Schema.Struct({
  ...Rows.Product.fields,
  listing: Schema.Literals(["named", "missing", "zeroed", "excluded"])
}))
const historyRows = Rows.all(Rows.HistoryRow)
const heldRows = Rows.all(Schema.Struct({ id: Schema.String, kind: Rows.Kind, was: Schema.Int, wanted: Schema.Int }))
const issueRows = Rows.all(Schema.Struct({
  place: Schema.Int,
  line: Schema.Int,
  product_id: Schema.NullOr(Schema.String),
  kind: Schema.Literals(["rejected", "negative", "rule"]),
  reason: Schema.String
}))
const CountColumns = {
  total: Schema.Int,
  unsettled: Schema.Int,
  /** Part of `unsettled`, and of no other count. */
  excluded: Schema.Int,
  sending: Schema.Int,
  doubtful: Schema.Int,
  uncertain: Schema.Int,
  quarantined: Schema.Int,
  missing: Schema.Int,
  rejected: Schema.Int,
  negative: Schema.Int,
  rule: Schema.Int
}
const CountsRow = Schema.Struct(CountColumns)
const countsRow = Rows.only(CountsRow)

const toCounts = (row: typeof CountsRow.Type): Counts => ({
  settled: row.total - row.unsettled,
  pending: row.unsettled - row.excluded - row.sending - row.doubtful - row.uncertain - row.quarantined,
  sending: row.sending,
  doubtful: row.doubtful,
  uncertain: row.uncertain,
  quarantined: row.quarantined,
  missing: row.missing,
  rejectedRows: row.rejected,
  negativeRows: row.negative,
  ruleIssues: row.rule
})

/** A million products are counted without reading each: as a whole, and by an index for the states that few products have. */
const countColumns = (target: Target) => {
  const { sql } = target
  const excluded = (condition: string) =>
    sql`(SELECT count(*) FROM product ${by(target, "product_excluded")} WHERE ${mine(target)} AND ${
      sql.literal(`${Tables.isExcluded} AND ${condition}`)
    })`
  const inState = (state: EntryState) =>
    sql`(SELECT count(*) FROM product ${by(target, "product_exceptional")} WHERE ${mine(target)} AND ${
      sql.literal(`${Tables.exceptional} AND state = '${state}'`)
    }) - ${excluded(`state = '${state}'`)}`
  const ofKind = (kind: RowIssue["kind"]) => sql`(SELECT count(*) FROM row_issue WHERE ${mine(target)} AND kind = ${kind})`
  return sql`(SELECT count(*) FROM product WHERE ${mine(target)}) AS total,
    (SELECT count(*) FROM product ${by(target, "product_unsettled")} WHERE ${mine(target)} AND state <> 'settled') AS unsettled,
    ${excluded("1 = 1")} AS excluded, ${inState("sending")} AS sending, ${inState("doubtful")} AS doubtful, ${
    inState("uncertain")
  } AS uncertain, ${inState("quarantined")} AS quarantined,
    (SELECT count(*) FROM product ${by(target, "product_missing")} WHERE ${mine(target)} AND missing_since IS NOT NULL
      AND missing_since <> ${Tables.excusedByRevert}) AS missing,
    ${ofKind("rejected")} AS rejected, ${ofKind("negative")} AS negative, ${ofKind("rule")} AS rule`
}

const assertion = String(StockPriority.indexOf("assertion"))
const attentionRow = Rows.only(Schema.Struct({
  ...CountColumns,
  due: Schema.Int,
  delayed: Schema.Int,
  /** Part of `due`: quarantined products are due when the time of their retry has come. */
  retried: Schema.Int,
  needing: Schema.Int,
  unnamed: Schema.Int
}))
const rejectedRows = Rows.all(Schema.Struct({ known: Schema.Literals(["settled", "waiting", "needing", "unknown"]), n: Schema.Int }))

const attention = (target: Target): Effect.Effect<Attention, Failure> =>
  Effect.gen(function*() {
    const { sql } = target
    const count = (condition: string, index: string) =>
      sql`(SELECT count(*) FROM product ${by(target, index)} WHERE ${mine(target)} AND ${sql.literal(condition)})`
    const isWaiting = `priority < ${assertion}`
    // One statement, so that a product that is sent meanwhile is in one part only.
    const row = yield* attentionRow(sql`SELECT ${countColumns(target)},
      ${count(`${Tables.due} AND ${isWaiting}`, "product_due")} AS due,
      ${count(`${Tables.delayed} AND ${isWaiting}`, "product_delayed")} AS delayed,
      ${count(`${Tables.exceptional} AND state = 'quarantined' AND ${Tables.due} AND ${isWaiting}`, "product_exceptional")} AS retried,
      ${count(`${Tables.exceptional} AND ${Tables.needsPerson}`, "product_exceptional")} AS needing,
      (SELECT count(*) FROM row_issue WHERE ${mine(target)} AND kind = 'rejected' AND product_id IS NULL) AS unnamed`)
    const named = yield* rejectedRows(sql`SELECT known, count(*) AS n FROM (
        SELECT CASE WHEN product.id IS NULL OR listing = 'excluded' THEN 'unknown' WHEN ${sql.literal(Tables.needsPerson)} THEN 'needing'
          WHEN state = 'settled' THEN 'settled' ELSE 'waiting' END AS known
        FROM (SELECT DISTINCT product_id FROM row_issue WHERE ${mine(target)} AND kind = 'rejected' AND product_id IS NOT NULL) AS rejected
        LEFT JOIN product ON ${mine(target)} AND product.id = rejected.product_id
      ) AS each GROUP BY known`)
    const countOf = (known: (typeof named)[number]["known"]) => named.find((each) => each.known === known)?.n ?? 0
    return {
      counts: toCounts(row),
      waiting: row.due + row.delayed - row.retried + row.sending,
      products: row.needing,
      rejected: {
        settled: countOf("settled"),
        waiting: countOf("waiting"),
        needing: countOf("needing"),
        unknown: countOf("unknown") + row.unnamed
      }
    }
  })

const dueRow = Rows.first(Schema.Struct({ at: Rows.Instant }))
const waitingByPriority = Rows.all(Schema.Struct({ priority: Rows.Priority, n: Schema.Int, since: Schema.Int }))
const oldestProduct = Rows.first(Schema.Struct({ id: ProductId, since: Rows.Instant }))
const oldestConfirmation = Rows.first(Schema.Struct({ since: Rows.Instant }))
const countOf = Rows.only(Schema.Struct({ n: Schema.Int }))
const toInstant = Schema.decodeSync(Rows.Instant)

const backlog = (target: Target): Effect.Effect<Backlog, Failure> =>
  Effect.gen(function*() {
    const { sql } = target
    const part = (condition: string, index: string) =>
      sql`SELECT priority, count(*) AS n, min(queued_at) AS since FROM product ${by(target, index)}
        WHERE ${mine(target)} AND ${sql.literal(`${condition} AND priority < ${assertion}`)} GROUP BY priority`
    const priorities = yield* waitingByPriority(sql`SELECT priority, CAST(sum(n) AS BIGINT) AS n, min(since) AS since FROM (
        ${part(Tables.due, "product_due")} UNION ALL ${part(Tables.delayed, "product_delayed")}
      ) AS part GROUP BY priority ORDER BY min(since)`)
    const [longest] = priorities
    const oldestWhere = (condition: string, index: string) =>
      longest === undefined ? Effect.succeedNone : oldestProduct(sql`SELECT id, queued_at AS since FROM product ${by(target, index)}
        WHERE ${mine(target)} AND ${sql.literal(condition)} AND priority = ${StockPriority.indexOf(longest.priority)}
          AND queued_at = ${longest.since} ORDER BY id LIMIT 1`)
    const oldestDue = yield* oldestWhere(Tables.due, "product_due")
    const oldest = Option.isSome(oldestDue) ? oldestDue : yield* oldestWhere(Tables.delayed, "product_delayed")
    const sending = yield* countOf(
      sql`SELECT count(*) AS n FROM product ${by(target, "product_exceptional")} WHERE ${mine(target)}
        AND ${sql.literal(Tables.exceptional)} AND state = 'sending'`
    )
    const confirmed = yield* oldestConfirmation(sql`SELECT queued_at AS since FROM product ${by(target, "product_due")}
      WHERE ${mine(target)} AND ${sql.literal(`${Tables.due} AND priority = ${assertion}`)} ORDER BY queued_at, id LIMIT 1`)
    const each = <A>(read: (row: (typeof priorities)[number] | undefined) => A) => {
      const of = (waiting: StockPriority.Waiting) => read(priorities.find(({ priority }) => priority === waiting))
      return { soldOut: of("soldOut"), falling: of("falling"), backInStock: of("backInStock"), rest: of("rest"), doubtful: of("doubtful") }
    }
    return {
      waiting: each((row) => row?.n ?? 0),
      longest: each((row) => row === undefined ? undefined : toInstant(row.since)),
      sending: sending.n,
      oldest: Option.map(oldest, ({ id, since }) => ({ productId: id, since })),
      oldestConfirmation: Option.map(confirmed, ({ since }) => since)
    }
  })

const isWaiting = (priority: StockPriority.Priority | null): priority is StockPriority.Waiting =>
  priority !== null && priority !== "assertion"

export const make = (
  target: Target,
  run: Run
): Pick<
  Ledger["Service"],
  | "all"
  | "attention"
  | "backlog"
  | "counts"
  | "heldChanges"
  | "history"
  | "needing"
  | "nextDelayed"
  | "nextDue"
  | "product"
  | "quarantined"
  | "queue"
  | "rejectedRows"
  | "rowIssues"
  | "uncertain"
  | "unsettled"
> => {
  const { sql } = target
  const productRows = (condition: string, index?: string) =>
    paginate(
      "",
      (after) =>
        run(
          products(
            sql`SELECT * FROM product ${index === undefined ? sql`` : by(target, index)} WHERE ${mine(target)} AND id > ${after} AND ${
              sql.literal(condition)
            }
            ORDER BY id LIMIT ${pageSize}`
          )
        ),
      (row): string => row.id
    )
  const productsWhere = (condition: string, index?: string) => Stream.map(productRows(condition, index), Rows.toEntry)

  const waiting = sql.literal(`priority < ${assertion} AND NOT ${Tables.refused}`)
  const due = paginate(
    { priority: -1, queuedAt: 0, id: "" },
    ({ id, priority, queuedAt }) =>
      run(
        products(sql`SELECT * FROM product ${by(target, "product_due")} WHERE ${mine(target)} AND ${sql.literal(Tables.due)} AND ${waiting}
        AND (priority, queued_at, id) > (${priority}, ${queuedAt}, ${id}) ORDER BY priority, queued_at, id LIMIT ${pageSize}`)
      ),
    (row) => ({ priority: row.priority === null ? -1 : StockPriority.indexOf(row.priority), queuedAt: row.queued_at, id: row.id })
  )
  const delayed = paginate(
    { dueAt: Number.MIN_SAFE_INTEGER, id: "" },
    ({ dueAt, id }) =>
      run(
        products(
          sql`SELECT * FROM product ${by(target, "product_delayed")} WHERE ${mine(target)} AND ${sql.literal(Tables.delayed)} AND ${waiting}
        AND (due_at, id) > (${dueAt}, ${id}) ORDER BY due_at, id LIMIT ${pageSize}`
        )
      ),
    (row) => ({ dueAt: row.due_at ?? 0, id: row.id })
  )
  const issues = (condition: string) =>
    Stream.map(
      paginate(
        0,
        (after) =>
          run(issueRows(sql`SELECT place, line, product_id, kind, reason FROM row_issue WHERE ${mine(target)} AND place > ${after}
            AND ${sql.literal(condition)} ORDER BY place LIMIT ${pageSize}`)),
        (row) => row.place
      ),
      (row): RowIssue => ({ line: row.line, productId: row.product_id ?? undefined, kind: row.kind, reason: row.reason })
    )
  const firstDue = (condition: string, maxAttempts: number) =>
    run(Effect.map(
      dueRow(
        sql`SELECT due_at AS at FROM product ${by(target, "product_delayed")} WHERE ${mine(target)} AND ${
          sql.literal(condition)
        } AND listing <> 'excluded'
        AND attempts < ${maxAttempts} ORDER BY due_at LIMIT 1`
      ),
      Option.map(({ at }) => at)
    ))

  const product = (id: string): Effect.Effect<Option.Option<ProductStatus>, Failure> =>
    Effect.gen(function*() {
      const found = yield* oneProduct(sql`SELECT * FROM product WHERE ${mine(target)} AND id = ${id}`)
      if (Option.isNone(found)) return Option.none()
      const row = found.value
      const isDue = isWaiting(row.priority) && row.due_at === null
      const ahead = !isDue ? undefined : yield* countOf(sql`SELECT count(*) AS n FROM product ${by(target, "product_due")}
        WHERE ${mine(target)} AND ${sql.literal(Tables.due)} AND ${waiting}
          AND (priority, queued_at, id) < (${StockPriority.indexOf(row.priority ?? "rest")}, ${row.queued_at}, ${row.id})`)
      return Option.some({ ...Rows.toEntry(row), listing: row.listing, ahead: ahead?.n })
    })

  return {
    product: (id) => run(product(id)),
    unsettled: productsWhere(`state <> 'settled' AND NOT (${Tables.isExcluded})`, "product_unsettled"),
    quarantined: productsWhere(`${Tables.exceptional} AND state = 'quarantined' AND listing <> 'excluded'`, "product_exceptional"),
    uncertain: productsWhere(`${Tables.exceptional} AND state = 'uncertain' AND listing <> 'excluded'`, "product_exceptional"),
    attention: run(attention(target)),
    needing: Stream.map(
      productRows(`${Tables.exceptional} AND ${Tables.needsPerson}`, "product_exceptional"),
      (row): NeedingEntry => ({ ...Rows.toEntry(row), since: DateTime.makeUnsafe(row.queued_at) })
    ),
    all: productsWhere("1 = 1"),
    queue: Stream.concat(due, delayed).pipe(
      Stream.flatMap((row) => isWaiting(row.priority) ? Stream.succeed({ ...Rows.toEntry(row), priority: row.priority }) : Stream.empty)
    ),
    heldChanges: Stream.map(
      paginate(
        "",
        (after) =>
          run(
            heldRows(
              sql`SELECT id, kind, was, wanted FROM held_change WHERE ${mine(target)} AND id > ${after} ORDER BY id LIMIT ${pageSize}`
            )
          ),
        (row) => row.id
      ),
      (row): HeldChange => ({ productId: row.id, kind: row.kind, from: row.was, to: row.wanted })
    ),
    rowIssues: issues("1 = 1"),
    rejectedRows: issues("kind = 'rejected'"),
    history: (product) =>
      Stream.map(
        paginate(
          Number.MAX_SAFE_INTEGER,
          (before) => {
            const condition = Option.match(product, { onNone: () => sql`1 = 1`, onSome: (id) => sql`product_id = ${id}` })
            return run(historyRows(sql`SELECT * FROM history WHERE ${mine(target)} AND n < ${before} AND ${condition}
              ORDER BY n DESC LIMIT ${pageSize}`))
          },
          (row) => row.n
        ),
        Rows.toHistoryEntry
      ),
    counts: run(Effect.map(countsRow(sql`SELECT ${countColumns(target)}`), toCounts)),
    backlog: run(backlog(target)),
    nextDue: (maxAttempts) => firstDue(Tables.delayed, Option.getOrElse(maxAttempts, () => Number.MAX_SAFE_INTEGER)),
    nextDelayed: firstDue("due_at IS NOT NULL", Number.MAX_SAFE_INTEGER)
  }
}
