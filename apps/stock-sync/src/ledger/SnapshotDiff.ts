/** Compares a staged snapshot with the products of the ledger, and measures how implausible the difference is. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as DropGuard from "../sync/DropGuard.js"
import * as LedgerRows from "./LedgerRows.js"
import type { SnapshotPolicy, SnapshotResult } from "./Snapshot.js"
import * as Staging from "./Staging.js"

/**
 * The table `changed`: the products that differ. `was` is the wanted stock so far, `base` that at the start of the guard's window.
 * A line is updated only for entries that show it, because one more row at the top of a file moves all lines.
 */
const createChanged = (sql: SqlClient.SqlClient, windowStart: number) =>
  sql`CREATE TEMP TABLE changed AS
    SELECT staged.id, staged.stock, staged.line, 'named' AS part, product.wanted AS was,
      CASE WHEN product.base_at > ${windowStart} THEN product.base ELSE product.wanted END AS base
    FROM staged LEFT JOIN product ON product.id = staged.id
    WHERE ${sql.literal(Staging.accepted)} AND (
      product.id IS NULL OR product.wanted <> staged.stock OR product.part <> 'named' OR
      (product.state = 'quarantined' AND product.line <> staged.line)
    )`

/** The table `missing`: the products that the snapshot does not name. A rejected or excluded row names its product. */
const createMissing = (sql: SqlClient.SqlClient) =>
  sql`CREATE TEMP TABLE missing AS SELECT id, part, wanted, line, base, base_at, left_at FROM product
    WHERE NOT EXISTS (SELECT 1 FROM staged WHERE staged.id = product.id)`

const zeroMissing = (sql: SqlClient.SqlClient, windowStart: number) =>
  sql`INSERT INTO changed (id, stock, line, part, was, base)
    SELECT id, 0, line, 'zeroed', wanted, CASE WHEN base_at > ${windowStart} THEN base ELSE wanted END FROM missing WHERE part <> 'zeroed'`

/** The table `implausible`: the implausible changes of this snapshot, including products that were missing before and are zeroed now. */
const createImplausible = (sql: SqlClient.SqlClient, zeroes: boolean) =>
  Effect.zipRight(
    sql`CREATE TEMP TABLE implausible AS
      SELECT id, kind, was, stock FROM (
        SELECT id, ${
      sql.literal(DropGuard.kindSql("base", "stock"))
    } AS kind, was, stock FROM changed WHERE part = 'named' AND was IS NOT NULL
      ) AS judged
      WHERE (kind IN ('soldOut', 'fell') AND stock < was) OR (kind = 'rose' AND stock > was)`,
    sql`INSERT INTO implausible (id, kind, was, stock) SELECT id, 'missing', wanted, ${sql.literal(zeroes ? "0" : "wanted")} FROM missing
      WHERE part = 'named'${sql.literal(zeroes ? " OR (part <> 'zeroed' AND wanted > 0)" : "")}`
  )

export const KindCount = Schema.Struct({ kind: Schema.NullOr(LedgerRows.Kind), n: Schema.Int })
const kindCounts = LedgerRows.all(KindCount)

export const countOfKind = (rows: ReadonlyArray<typeof KindCount.Type>, kind: DropGuard.Kind): number =>
  rows.reduce((sum, row) => row.kind === kind ? sum + row.n : sum, 0)

const figureCounts = LedgerRows.first(Schema.Struct({
  changed: Schema.Int,
  zeroed: Schema.Int,
  named: Schema.Int,
  missing: Schema.Int,
  left: Schema.Int
}))

/** The number of changed products, and the implausible changes within the window: those of this snapshot, and earlier ones that still hold. */
const measure = (
  sql: SqlClient.SqlClient,
  windowStart: number
): Effect.Effect<{ readonly changed: number; readonly figures: DropGuard.Figures }, SqlError | ParseError> =>
  Effect.gen(function*() {
    // One statement, because most of the time of a small snapshot is that of the way to the database.
    const found = yield* figureCounts(sql`SELECT
      (SELECT count(*) FROM changed WHERE was IS NULL OR was <> stock) AS changed,
      (SELECT count(*) FROM changed WHERE part = 'zeroed' AND base > 0) AS zeroed,
      (SELECT count(*) FROM product WHERE part = 'named') AS named,
      (SELECT count(*) FROM missing WHERE part = 'named' OR left_at > ${windowStart}) AS missing,
      (SELECT count(*) FROM product WHERE left_at > ${windowStart} AND part <> 'excluded') AS "left"`)
    const { changed, left, missing, named, zeroed } = yield* Effect.orDie(found)
    const kinds = yield* kindCounts(sql`
      SELECT ${sql.literal(DropGuard.kindSql("base", "stock"))} AS kind, count(*) AS n FROM changed
        WHERE was IS NOT NULL AND part = 'named' GROUP BY 1
      UNION ALL
      SELECT ${sql.literal(DropGuard.kindSql("base", "wanted"))} AS kind, count(*) AS n FROM product
        WHERE base_at > ${windowStart} AND part <> 'excluded' AND NOT EXISTS (SELECT 1 FROM changed WHERE changed.id = product.id) GROUP BY 1`)
    return {
      changed,
      figures: {
        catalogue: named + left,
        soldOut: countOfKind(kinds, "soldOut"),
        fell: countOfKind(kinds, "fell"),
        rose: countOfKind(kinds, "rose"),
        missing,
        zeroed
      }
    }
  })

/** Compares the staged rows, of which these counts are known. */
export const compare = (
  sql: SqlClient.SqlClient,
  policy: SnapshotPolicy,
  counts: { readonly all: number; readonly rejected: number; readonly negative: number },
  windowStart: number
): Effect.Effect<SnapshotResult, SqlError | ParseError> =>
  Effect.gen(function*() {
    yield* createChanged(sql, windowStart)
    yield* createMissing(sql)
    const missingKept = policy.missing === "zero" && (yield* Staging.hasUnattributedRow(sql))
    const zeroes = policy.missing === "zero" && !missingKept
    if (zeroes) yield* zeroMissing(sql, windowStart)
    yield* createImplausible(sql, zeroes)
    return {
      rows: counts.all,
      rejected: counts.rejected,
      negative: counts.negative,
      ...yield* measure(sql, windowStart),
      missingKept
    }
  })
