/**
 * How a snapshot becomes what is wanted: rows are gathered beside the ledger as they come, compared once the last one was
 * read, judged, and only what differs is written, in one transaction.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as SourceError from "@plaza/tabular/SourceError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Unit } from "../source/Source.js"
import * as DropGuard from "../sync/DropGuard.js"
import * as RejectedRowLimit from "../sync/RejectedRowLimit.js"
import {
  type Held,
  type Intake,
  type Ledger,
  type LedgerFault,
  type Preview,
  type Received,
  SnapshotHeld,
  type SnapshotPolicy
} from "./Ledger.js"
import type { LedgerConnection } from "./LedgerConnection.js"
import * as Staging from "./Staging.js"
import * as Tables from "./Tables.js"

/**
 * What differs, as `taken`. A line is renewed only where it will be shown: one more row at the top of a file moves all of
 * them. `was` is the wanted stock so far, `base` that at the beginning of the guard's window.
 */
const compare = (sql: SqlClient.SqlClient, from: number) =>
  sql`CREATE TEMP TABLE taken AS
    SELECT staged.id, staged.stock, staged.line, 'named' AS part, product.wanted AS was,
      CASE WHEN product.base_at > ${from} THEN product.base ELSE product.wanted END AS base
    FROM staged LEFT JOIN product ON product.id = staged.id
    WHERE ${sql.literal(Staging.good)} AND (
      product.id IS NULL OR product.wanted <> staged.stock OR product.part <> 'named' OR
      (product.state = 'quarantined' AND product.line <> staged.line)
    )`

/** Products that the snapshot does not name. A rejected or an excluded row still names its product. */
const findMissing = (sql: SqlClient.SqlClient) =>
  sql`CREATE TEMP TABLE missing AS SELECT id, part, wanted, line, base, base_at, left_at FROM product
    WHERE NOT EXISTS (SELECT 1 FROM staged WHERE staged.id = product.id)`

const zeroMissing = (sql: SqlClient.SqlClient, from: number) =>
  sql`INSERT INTO taken (id, stock, line, part, was, base)
    SELECT id, 0, line, 'zeroed', wanted, CASE WHEN base_at > ${from} THEN base ELSE wanted END FROM missing WHERE part <> 'zeroed'`

/** The implausible changes of this snapshot, as `alarm`. */
const findAlarms = (sql: SqlClient.SqlClient, zeroes: boolean) =>
  Effect.zipRight(
    sql`CREATE TEMP TABLE alarm AS
      SELECT id, kind, was, stock FROM (
        SELECT id, ${
      sql.literal(DropGuard.kindSql("base", "stock"))
    } AS kind, was, stock FROM taken WHERE part = 'named' AND was IS NOT NULL
      ) AS judged
      WHERE (kind IN ('soldOut', 'fell') AND stock < was) OR (kind = 'rose' AND stock > was)`,
    // Also what went missing before and is zeroed only now.
    sql`INSERT INTO alarm (id, kind, was, stock) SELECT id, 'missing', wanted, ${sql.literal(zeroes ? "0" : "wanted")} FROM missing
      WHERE part = 'named'${sql.literal(zeroes ? " OR (part <> 'zeroed' AND wanted > 0)" : "")}`
  )

interface KindCount {
  readonly kind: DropGuard.Kind | null
  readonly n: number
}

const countOf = (rows: ReadonlyArray<KindCount>, kind: DropGuard.Kind) =>
  rows.reduce((sum, row) => row.kind === kind ? sum + row.n : sum, 0)

/** Everything implausible within the window: what this snapshot changes, and what changed before and still holds. */
const measure = (sql: SqlClient.SqlClient, from: number): Effect.Effect<DropGuard.Figures, SqlError> =>
  Effect.map(
    Effect.all([
      sql<KindCount>`SELECT ${
        sql.literal(DropGuard.kindSql("base", "stock"))
      } AS kind, count(*) AS n FROM taken WHERE was IS NOT NULL AND part = 'named' GROUP BY 1`,
      sql<KindCount>`SELECT ${sql.literal(DropGuard.kindSql("base", "wanted"))} AS kind, count(*) AS n FROM product
        WHERE base_at > ${from} AND part <> 'excluded' AND NOT EXISTS (SELECT 1 FROM taken WHERE taken.id = product.id) GROUP BY 1`,
      sql<{ n: number }>`SELECT count(*) AS n FROM taken WHERE part = 'zeroed' AND base > 0`,
      sql<{ n: number }>`SELECT count(*) AS n FROM product WHERE part = 'named'`,
      sql<{ n: number }>`SELECT count(*) AS n FROM missing WHERE part = 'named' OR left_at > ${from}`,
      sql<{ n: number }>`SELECT count(*) AS n FROM product WHERE left_at > ${from} AND part <> 'excluded'`
    ]),
    ([now, before, [zeroed], [named], [missing], [left]]) => {
      const kinds = [...now, ...before]
      return {
        catalogue: (named?.n ?? 0) + (left?.n ?? 0),
        soldOut: countOf(kinds, "soldOut"),
        fell: countOf(kinds, "fell"),
        rose: countOf(kinds, "rose"),
        missing: missing?.n ?? 0,
        zeroed: zeroed?.n ?? 0
      }
    }
  )

interface HeldRow {
  readonly held_number: number
  readonly held_since: number | null
  readonly confirmed_number: number | null
}

interface Judgement {
  readonly received: Received
  readonly verdict: Verdict
}

type Verdict =
  | { readonly _tag: "Plausible" }
  /** Implausible, but confirmed. */
  | { readonly _tag: "Confirmed" }
  | { readonly _tag: "Held"; readonly number: number; readonly isNew: boolean }

interface TooManyRejected {
  readonly rejected: (unit: Unit) => string
}

const unconfirmed = "SELECT 1 FROM held_change WHERE held_change.id = alarm.id AND held_change.kind = alarm.kind"

/** Whether a snapshot is held: only if it adds implausible changes, and not for those that were confirmed. */
const judge = (sql: SqlClient.SqlClient, limits: DropGuard.Limits, figures: DropGuard.Figures): Effect.Effect<Verdict, SqlError> =>
  Effect.gen(function*() {
    const [all] = yield* sql<{ n: number }>`SELECT count(*) AS n FROM alarm`
    if (all?.n === 0 || !DropGuard.exceeds(limits, figures)) return { _tag: "Plausible" }
    const [row] = yield* sql<HeldRow>`SELECT held_number, held_since, confirmed_number FROM snapshot`
    const number = row?.held_number ?? 0
    const isHeld = row !== undefined && row.held_since !== null
    const others = isHeld
      ? yield* sql<KindCount>`SELECT kind, count(*) AS n FROM alarm WHERE NOT EXISTS (${sql.literal(unconfirmed)}) GROUP BY kind`
      : []
    const known = isHeld && others.length === 0
    if (isHeld && row.confirmed_number === number) {
      const of = (kind: DropGuard.Kind) => countOf(others, kind)
      const rest = {
        soldOut: of("soldOut"),
        fell: of("fell"),
        rose: of("rose"),
        missing: of("missing"),
        zeroed: figures.zeroed > 0 ? of("missing") : 0
      }
      if (known || !DropGuard.exceeds(limits, { ...rest, catalogue: figures.catalogue })) return { _tag: "Confirmed" }
    }
    return { _tag: "Held", number: known ? number : number + 1, isNew: !known }
  })

/** Compares and judges. */
const examine = (sql: SqlClient.SqlClient, policy: SnapshotPolicy, from: number): Effect.Effect<Judgement | TooManyRejected, SqlError> =>
  Effect.gen(function*() {
    yield* Staging.close(sql, policy.duplicates)
    const counts = yield* Staging.count(sql)
    if (RejectedRowLimit.exceeded(policy.maxBadRows, counts)) {
      const first = yield* Staging.firstRejected(sql, policy.duplicates)
      return { rejected: (unit) => RejectedRowLimit.sentence(counts, first, unit) }
    }
    yield* compare(sql, from)
    yield* findMissing(sql)
    const goneSpared = policy.gone === "zero" && (yield* Staging.unclaimed(sql))
    const zeroes = policy.gone === "zero" && !goneSpared
    if (zeroes) yield* zeroMissing(sql, from)
    yield* findAlarms(sql, zeroes)
    const figures = yield* measure(sql, from)
    const [changed] = yield* sql<{ n: number }>`SELECT count(*) AS n FROM taken WHERE was IS NULL OR was <> stock`
    const received = {
      rows: counts.all,
      rejected: counts.rejected,
      negative: counts.negative,
      changed: changed?.n ?? 0,
      figures,
      goneSpared
    }
    return { received, verdict: yield* judge(sql, policy.guard, figures) }
  })

/** Doubts that can't come true any longer, because the stock was confirmed after they ended. */
const stale = (now: number) => `(product.state = 'settled' AND product.doubt_until <= ${now})`
/** The new wanted stock is confirmed, and no request that may still take effect has another one. */
const certain = (now: number) =>
  `coalesce(product.confirmed = excluded.wanted, false) AND (product.doubt_until IS NULL OR ${
    stale(now)
  } OR (product.doubt_low = excluded.wanted AND product.doubt_high = excluded.wanted))`
// The last request was the confirmed one: an earlier one may overwrite it, but none has been sent since.
const confirmedLast = "product.confirmed = excluded.wanted AND product.sent = product.confirmed AND product.sent_at <= product.confirmed_at"
const stillRefused = "(product.state = 'quarantined' AND product.refused = excluded.wanted)"

// What may still take effect outlives a new wanted stock. A refusal holds for the stock that was refused.
// In the order of the ids, in which the indexes grow at their ends only.
const change = (sql: SqlClient.SqlClient, now: number, from: number) =>
  sql.unsafe(`INSERT INTO product (id, wanted, attempts, state, part, left_at, since, line, updated_at)
    SELECT id, stock, 0, 'pending', part, CASE WHEN part = 'zeroed' THEN ${now} END, ${now}, line, ${now} FROM taken WHERE true ORDER BY ${
    sql.onDialectOrElse({ pg: () => `id COLLATE "C"`, orElse: () => "id" })
  }
    ON CONFLICT (id) DO UPDATE SET
      wanted = excluded.wanted,
      part = excluded.part,
      left_at = CASE WHEN excluded.part = 'named' THEN NULL ELSE coalesce(product.left_at, excluded.left_at) END,
      line = excluded.line,
      base = CASE WHEN product.wanted = excluded.wanted OR product.base_at > ${from} THEN product.base ELSE product.wanted END,
      base_at = CASE WHEN product.wanted = excluded.wanted OR product.base_at > ${from} THEN product.base_at ELSE ${now} END,
      attempts = CASE WHEN product.wanted = excluded.wanted THEN product.attempts ELSE 0 END,
      updated_at = CASE WHEN product.wanted = excluded.wanted THEN product.updated_at ELSE excluded.updated_at END,
      doubt_low = CASE WHEN ${stale(now)} THEN NULL ELSE product.doubt_low END,
      doubt_high = CASE WHEN ${stale(now)} THEN NULL ELSE product.doubt_high END,
      doubt_until = CASE WHEN ${stale(now)} THEN NULL ELSE product.doubt_until END,
      state = CASE
        WHEN product.state = 'sending' OR ${stillRefused} THEN product.state
        WHEN ${certain(now)} THEN 'settled'
        WHEN product.doubt_until IS NOT NULL AND NOT ${stale(now)} THEN 'doubtful'
        ELSE 'pending'
      END,
      due_at = CASE
        WHEN ${stillRefused} OR (product.wanted = excluded.wanted AND NOT (${certain(now)})) THEN product.due_at
        WHEN ${confirmedLast} AND NOT (${certain(now)}) AND product.state <> 'sending' THEN product.doubt_until
      END,
      since = CASE
        WHEN ${stillRefused} THEN product.since
        WHEN product.state <> 'sending' AND ${certain(now)} THEN coalesce(product.confirmed_at, excluded.since)
        WHEN product.state IN ('pending', 'doubtful') THEN product.since
        ELSE excluded.since
      END`)

const leave = (sql: SqlClient.SqlClient, now: number) =>
  Effect.zipRight(
    sql`UPDATE product SET part = 'left', left_at = ${now} WHERE part IN ('named', 'excluded') AND id IN (SELECT id FROM missing)`,
    sql`UPDATE product SET part = 'excluded', left_at = NULL WHERE part <> 'excluded' AND id IN (SELECT id FROM staged WHERE kind = 'excluded')`
  )

/** What was confirmed is plausible from now on. Missing products stay missing, but since ever. */
const rebase = (sql: SqlClient.SqlClient) =>
  Effect.zipRight(
    sql`UPDATE product SET base = NULL, base_at = NULL WHERE base_at IS NOT NULL`,
    sql`UPDATE product SET left_at = ${sql.literal(String(Tables.ever))} WHERE left_at IS NOT NULL`
  )

// Begins with a write, because SQLite refuses to write for good where another process wrote after this one had begun to read.
const takeOver = (sql: SqlClient.SqlClient, { received, verdict }: Judgement, { duplicates, unit }: Taking, { from, now }: Period) =>
  Effect.all([
    sql`UPDATE snapshot SET taken_at = ${now}, row_count = ${received.rows}, unit = ${unit}`,
    sql`DELETE FROM row_issue`,
    received.rejected + received.negative > 0 ? Staging.noteIssues(sql, duplicates) : Effect.void,
    change(sql, now, from),
    leave(sql, now),
    verdict._tag === "Confirmed" ? rebase(sql) : Effect.void,
    analyze(sql, received)
  ], { discard: true })

// Autovacuum comes later than the next statements, and never to the tables of a copy.
const manyChanges = 1_000
const analyze = (sql: SqlClient.SqlClient, { changed }: Received) =>
  sql.onDialectOrElse({ pg: () => changed < manyChanges ? Effect.void : sql`ANALYZE product`, orElse: () => Effect.void })

const unhold = (sql: SqlClient.SqlClient) =>
  Effect.zipRight(
    sql`UPDATE snapshot SET held_since = NULL, held_at = NULL, confirmed_number = NULL`,
    sql`DELETE FROM held_change`
  )

/** Remembers the snapshot's implausible changes, so that they can be looked at and confirmed. */
const hold = (
  sql: SqlClient.SqlClient,
  { isNew, number }: Extract<Verdict, { readonly _tag: "Held" }>,
  figures: DropGuard.Figures,
  now: number
) =>
  sql.withTransaction(Effect.gen(function*() {
    const [row] = yield* sql<{ held_since: number }>`
      UPDATE snapshot SET held_since = CASE WHEN held_number = ${number} THEN coalesce(held_since, ${now}) ELSE ${now} END, held_at = ${now},
        held_number = ${number}, catalogue = ${figures.catalogue}, sold_out = ${figures.soldOut}, fell = ${figures.fell},
        rose = ${figures.rose}, missing = ${figures.missing}, zeroed = ${figures.zeroed}
      RETURNING held_since`
    if (isNew) {
      yield* sql`UPDATE snapshot SET confirmed_number = NULL`
      yield* sql`DELETE FROM held_change`
      yield* sql`INSERT INTO held_change (id, kind, was, wanted) SELECT id, kind, was, stock FROM alarm`
    }
    return { number, figures, since: row?.held_since ?? now, at: now, confirmed: false } satisfies Held
  }))

/** What a held snapshot would do, in words. */
export const heldText = ({ catalogue, fell, missing, rose, soldOut, zeroed }: DropGuard.Figures): string => {
  const parts = [[soldOut + zeroed, "sell out"], [fell, "fall to a third or less"], [rose, "rise more than tenfold"], [
    missing,
    "are missing"
  ]] as const
  return `of ${catalogue} products, ${parts.flatMap(([count, what]) => count === 0 ? [] : [`${count} ${what}`]).join(", ")}`
}

const heldBy = (limits: DropGuard.Limits, held: Held) =>
  new SnapshotHeld({
    held,
    message:
      `the source is held as snapshot ${held.number}, because it is implausible: ${heldText(held.figures)} within ${
        Duration.format(limits.window)
      }, ` +
      `and the limit is ${
        Math.floor(DropGuard.limitOf(limits, held.figures))
      }. Nothing of it was taken. Look at the changes with \`plaza-stock-sync status\`; if they are ` +
      `right, run \`plaza-stock-sync confirm ${held.number}\`, otherwise correct the source`
  })

interface Taking {
  readonly duplicates: SnapshotPolicy["duplicates"]
  readonly unit: Unit
}

/** The guard's window. */
interface Period {
  readonly from: number
  readonly now: number
}

const periodOf = ({ guard: { window } }: SnapshotPolicy): Effect.Effect<Period> =>
  Effect.map(Clock.currentTimeMillis, (now) => ({ now, from: now - Math.ceil(Duration.toMillis(window)) }))

const staged = <A, E, E2, R>(
  { run, sql }: LedgerConnection,
  { excluded, rows, source, unit }: Intake<E, R>,
  policy: SnapshotPolicy,
  use: (judgement: Judgement, period: Period) => Effect.Effect<A, E2>
): Effect.Effect<A, E | E2 | LedgerFault | SourceError.SourceError, R> =>
  Effect.gen(function*() {
    yield* run(Staging.open(sql))
    yield* rows.pipe(
      Stream.rechunk(Staging.batch),
      Stream.runForEachChunk((chunk) => run(Staging.gather(sql, chunk)))
    )
    yield* run(Staging.exclude(sql, excluded))
    const period = yield* periodOf(policy)
    const judgement = yield* run(examine(sql, policy, period.from))
    if ("rejected" in judgement) return yield* SourceError.content(source, judgement.rejected(unit))
    return yield* use(judgement, period)
  }).pipe(Effect.ensuring(Effect.ignore(run(Staging.drop(sql)))))

/** Takes rows over as the next snapshot. If they fail or are held, nothing of them is left. */
export const receive = (access: LedgerConnection): Ledger["Type"]["receive"] => (intake, policy) => {
  const { run, sql } = access
  const taking = { duplicates: policy.duplicates, unit: intake.unit }
  return staged(access, intake, policy, (judgement, period): Effect.Effect<Received, LedgerFault | SnapshotHeld> => {
    const { received, verdict } = judgement
    return verdict._tag === "Held"
      ? Effect.flatMap(run(hold(sql, verdict, received.figures, period.now)), (held) => Effect.fail(heldBy(policy.guard, held)))
      : Effect.as(run(sql.withTransaction(Effect.zipRight(takeOver(sql, judgement, taking, period), unhold(sql)))), received)
  })
}

/** Takes rows over even if they would be held, and keeps the changes for which they would be to be looked at. */
export const preview = (access: LedgerConnection): Ledger["Type"]["preview"] => (intake, policy) => {
  const { run, sql } = access
  const taking = { duplicates: policy.duplicates, unit: intake.unit }
  return staged(access, intake, policy, (judgement, period): Effect.Effect<Preview, LedgerFault> =>
    Effect.gen(function*() {
      const { received, verdict } = judgement
      const held = verdict._tag === "Held" ? Option.some(yield* run(hold(sql, verdict, received.figures, period.now))) : Option.none()
      yield* run(sql.withTransaction(takeOver(sql, judgement, taking, period)))
      return { ...received, held }
    }))
}
