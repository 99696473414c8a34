/** Compares a staged snapshot with the products of the ledger, and measures how implausible the difference is. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as DropGuard from "../sync/DropGuard.ts"
import * as LedgerRows from "./LedgerRows.ts"
import type { SnapshotPolicy, SnapshotResult } from "./Snapshot.ts"
import * as Staging from "./Staging.ts"
import type { Relations } from "./Statements.ts"

/** The products that the snapshot does not name. A rejected or excluded row names its product. */
const missing = (sql: SqlClient.SqlClient) =>
  sql`SELECT id, part, wanted, line, base, base_at, left_at FROM product WHERE NOT EXISTS (SELECT 1 FROM staged WHERE staged.id = product.id)`

/**
 * The products that differ. `was` is the wanted stock so far, `base` that at the start of the guard's window. A line is updated only for
 * entries that show it, because one more row at the top of a file moves all lines.
 */
const changed = (sql: SqlClient.SqlClient, windowStart: number, zeroes: boolean, { join, stock }: Staging.Offer) =>
  sql`SELECT staged.id, ${stock} AS stock, staged.line, 'named' AS part, product.wanted AS was,
      CASE WHEN product.base_at > ${windowStart} THEN product.base ELSE product.wanted END AS base
    FROM staged LEFT JOIN product ON product.id = staged.id ${join}
    WHERE ${sql.literal(Staging.accepted)} AND (
      product.id IS NULL OR product.wanted <> ${stock} OR product.part <> 'named' OR
      (product.state IN ('quarantined', 'uncertain') AND product.line <> staged.line)
    ) ${
    zeroes
      ? sql`UNION ALL SELECT id, 0, line, 'zeroed', wanted, CASE WHEN base_at > ${windowStart} THEN base ELSE wanted END
        FROM missing WHERE part <> 'zeroed'`
      : sql``
  }`

/** The implausible changes of this snapshot, including products that were missing before and are zeroed now. */
const implausible = (sql: SqlClient.SqlClient, zeroes: boolean) =>
  sql`SELECT id, kind, was, stock FROM (
      SELECT id, ${
    sql.literal(DropGuard.kindSql("base", "stock"))
  } AS kind, was, stock FROM changed WHERE part = 'named' AND was IS NOT NULL
    ) AS judged
    WHERE (kind IN ('soldOut', 'fell') AND stock < was) OR (kind = 'rose' AND stock > was)
    UNION ALL SELECT id, 'missing', wanted, ${sql.literal(zeroes ? "0" : "wanted")} FROM missing
    WHERE part = 'named'${sql.literal(zeroes ? " OR (part <> 'zeroed' AND wanted > 0)" : "")}`

/** What is compared, from the relations `staged` and `duplicated`. `zeroes`: missing products get a wanted stock of 0. */
export const relations = (sql: SqlClient.SqlClient, windowStart: number, zeroes: boolean, offer: Staging.Offer) => ({
  missing: missing(sql),
  changed: changed(sql, windowStart, zeroes, offer),
  implausible: implausible(sql, zeroes)
} satisfies Relations)

const Measures = Schema.Struct({
  added: Schema.Int,
  updated: Schema.Int,
  changed: Schema.Int,
  zeroed: Schema.Int,
  named: Schema.Int,
  missing: Schema.Int,
  left: Schema.Int,
  implausible: Schema.Int,
  sold_out: Schema.Int,
  fell: Schema.Int,
  rose: Schema.Int
})
const measures = LedgerRows.first(Measures)

export interface Difference {
  readonly result: SnapshotResult
  /** The changed products that the ledger does not have, and those that it has. */
  readonly added: number
  readonly updated: number
  /** How many changes of this snapshot are implausible. */
  readonly implausible: number
}

/**
 * Measures the relations: the changed products, and the implausible changes within the window, which are those of this snapshot and
 * earlier ones that still hold. `prefix` stands in front of the statement.
 */
export const measure = (
  sql: SqlClient.SqlClient,
  windowStart: number,
  { all, missingKept, negative, rejected }: Staging.Counts & { readonly missingKept: boolean },
  prefix: Fragment = sql``
): Effect.Effect<Difference, SqlError | ParseError> =>
  Effect.gen(function*() {
    const of = (kind: DropGuard.Kind) => sql.literal(`count(CASE WHEN kind = '${kind}' THEN 1 END)`)
    const row = yield* Effect.flatMap(
      measures(sql`${prefix} SELECT added, updated, changed, zeroed, sold_out, fell, rose,
        (SELECT count(*) FROM product WHERE part = 'named') AS named,
        (SELECT count(*) FROM missing WHERE part = 'named' OR left_at > ${windowStart}) AS missing,
        (SELECT count(*) FROM product WHERE left_at > ${windowStart} AND part <> 'excluded') AS "left",
        (SELECT count(*) FROM implausible) AS implausible
      FROM (
        SELECT count(*) - count(was) AS added, count(was) AS updated, count(CASE WHEN was IS NULL OR was <> stock THEN 1 END) AS changed,
          count(CASE WHEN part = 'zeroed' AND base > 0 THEN 1 END) AS zeroed FROM changed
      ) AS counted, (
        SELECT ${of("soldOut")} AS sold_out, ${of("fell")} AS fell, ${of("rose")} AS rose FROM (
          SELECT ${sql.literal(DropGuard.kindSql("base", "stock"))} AS kind FROM changed WHERE was IS NOT NULL AND part = 'named'
          UNION ALL
          SELECT ${sql.literal(DropGuard.kindSql("base", "wanted"))} AS kind FROM product
            WHERE base_at > ${windowStart} AND part <> 'excluded' AND NOT EXISTS (SELECT 1 FROM changed WHERE changed.id = product.id)
        ) AS judged
      ) AS kinds`),
      Effect.orDie
    )
    return {
      added: row.added,
      updated: row.updated,
      implausible: row.implausible,
      result: {
        rows: all,
        rejected,
        negative,
        changed: row.changed,
        figures: {
          catalogue: row.named + row.left,
          soldOut: row.sold_out,
          fell: row.fell,
          rose: row.rose,
          missing: row.missing,
          zeroed: row.zeroed
        },
        missingKept
      }
    }
  })

// `measure` looks up each product that changed within the window. Postgres joins by hashing.
const indexChanged = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({ pg: () => Effect.void, orElse: () => sql`CREATE INDEX changed_id ON changed (id)` })

/** Compares the staged rows, of which these counts are known. */
export const compare = (
  sql: SqlClient.SqlClient,
  policy: SnapshotPolicy,
  counts: Staging.Counts,
  windowStart: number,
  offer: Staging.Offer
): Effect.Effect<Difference, SqlError | ParseError> =>
  Effect.gen(function*() {
    const missingKept = policy.missing === "zero" && (yield* Staging.mayLackRows(sql))
    const compared = Object.entries(relations(sql, windowStart, policy.missing === "zero" && !missingKept, offer))
    yield* Effect.forEach(compared, ([name, query]) => sql`CREATE TEMP TABLE ${sql.literal(name)} AS ${query}`, { discard: true })
    yield* indexChanged(sql)
    return yield* measure(sql, windowStart, { ...counts, missingKept })
  })
