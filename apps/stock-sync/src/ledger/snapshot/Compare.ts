/** Compares a staged snapshot with the products of the ledger, and measures how implausible the difference is. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import { atOnce, type Target } from "../Operation.ts"
import * as Rows from "../Rows.ts"
import { excusedByRevert } from "../Schema.ts"
import type { SnapshotPolicy, SnapshotResult } from "../Snapshot.ts"
import * as DropGuard from "./DropGuard.ts"
import * as Stage from "./Stage.ts"

/** The products that the snapshot does not name. A rejected or excluded row names its product. */
const findMissing = ({ account, sql }: Target) =>
  sql`INSERT INTO missing (id, listing, wanted, line, baseline, baseline_at, missing_since)
    SELECT id, listing, wanted, line, baseline, baseline_at, missing_since FROM product
    WHERE account = ${account} AND NOT EXISTS (SELECT 1 FROM staged WHERE staged.id = product.id)`

/** A line is updated only for entries that show it, because one more row at the top of a file moves all lines. */
const findChanged = ({ account, sql }: Target, windowStart: number) =>
  sql`INSERT INTO change (id, stock, line, listing, was, was_listing, baseline)
    SELECT staged.id, staged.stock, staged.line, 'named', product.wanted, product.listing,
      CASE WHEN product.baseline_at > ${windowStart} THEN product.baseline ELSE product.wanted END
    FROM staged LEFT JOIN product ON product.account = ${account} AND product.id = staged.id
    WHERE staged.kind = 'accepted' AND (product.id IS NULL OR product.wanted <> staged.stock OR product.listing <> 'named'
      OR product.missing_since = ${excusedByRevert} OR (product.state IN ('quarantined', 'uncertain') AND product.line <> staged.line))`

/** Missing products get a wanted stock of 0. With a baseline of 0, the guard does not count it. */
const zeroMissing = ({ sql }: Target, windowStart: number) =>
  sql`INSERT INTO change (id, stock, line, listing, was, was_listing, baseline)
    SELECT id, 0, line, 'zeroed', wanted, listing,
      CASE WHEN missing_since = ${excusedByRevert} THEN 0 WHEN baseline_at > ${windowStart} THEN baseline ELSE wanted END FROM missing
    WHERE listing <> 'zeroed'`

const isNotExcused = `coalesce(missing_since, 0) <> ${excusedByRevert}`

const isReverted = (change: string, account: number) =>
  `EXISTS (SELECT 1 FROM reverted_stock WHERE reverted_stock.account = ${account} AND reverted_stock.id = ${change}.id
    AND reverted_stock.stock = ${change}.stock) AND ${change}.was <> ${change}.stock`

/** The changes that a revert undid. Begins with the table that is empty without a revert. */
const repeatsReverted = (account: number) =>
  `FROM reverted_stock CROSS JOIN change
    WHERE reverted_stock.account = ${account} AND change.id = reverted_stock.id AND change.stock = reverted_stock.stock
      AND change.was <> change.stock`

/** The implausible changes of this snapshot, including products that were missing before and are zeroed now. */
export const findImplausible = ({ account, sql }: Target, zeroes: boolean) =>
  sql.unsafe(`INSERT INTO implausible (id, kind, was, stock)
    SELECT id, kind, was, stock FROM (
      SELECT id, ${DropGuard.kindSql("baseline", "stock")} AS kind, was, stock FROM change WHERE listing <> 'zeroed' AND was IS NOT NULL
    ) AS judged
    WHERE ((kind IN ('soldOut', 'fell') AND stock < was) OR (kind = 'rose' AND stock > was)) AND NOT (${isReverted("judged", account)})
    UNION ALL SELECT id, 'missing', wanted, ${zeroes ? "0" : "wanted"} FROM missing
    WHERE (listing = 'named'${zeroes ? " OR (listing <> 'zeroed' AND wanted > 0)" : ""}) AND ${isNotExcused}
      AND NOT EXISTS (SELECT 1 FROM change WHERE change.id = missing.id AND ${isReverted("change", account)})
    UNION ALL SELECT change.id, 'reverted', was, change.stock ${repeatsReverted(account)}`)

const decode = Rows.only(Schema.Struct({
  added: Schema.Int,
  updated: Schema.Int,
  changed: Schema.Int,
  relisted: Schema.Int,
  zeroed: Schema.Int,
  named: Schema.Int,
  missing: Schema.Int,
  missedBefore: Schema.Int,
  reverted: Schema.Int,
  soldOut: Schema.Int,
  fell: Schema.Int,
  rose: Schema.Int
}))

export interface Difference {
  readonly result: SnapshotResult
  /** The changed products that the ledger does not have, and those that it has. */
  readonly added: number
  readonly updated: number
  /** Changed products that were not named before, and keep their stock. */
  readonly relisted: number
  /** Missing products get a wanted stock of 0. */
  readonly zeroes: boolean
}

/**
 * The implausible changes are counted within the window: those of this snapshot, and earlier ones that still hold. Products that were
 * missing before still belong to the catalogue.
 */
export const measure = ({ account, sql }: Target, windowStart: number) => {
  const of = (kind: DropGuard.Kind) => sql.literal(`count(CASE WHEN kind = '${kind}' THEN 1 END)`)
  return decode(sql`SELECT added, updated, changed, relisted, zeroed, "soldOut", fell, rose,
      (SELECT count(*) FROM product WHERE account = ${account} AND listing = 'named') AS named,
      (SELECT count(*) FROM missing WHERE (listing = 'named' AND ${
    sql.literal(isNotExcused)
  }) OR missing_since > ${windowStart}) AS missing,
      (SELECT count(*) FROM product WHERE account = ${account} AND missing_since > ${windowStart} AND listing <> 'excluded') AS "missedBefore",
      (SELECT count(*) ${sql.literal(repeatsReverted(account))}) AS reverted
    FROM (
      SELECT count(*) - count(was) AS added, count(was) AS updated, count(CASE WHEN was IS NULL OR was <> stock THEN 1 END) AS changed,
        count(CASE WHEN was = stock AND was_listing <> 'named' THEN 1 END) AS relisted,
        count(CASE WHEN listing = 'zeroed' AND baseline > 0 THEN 1 END) AS zeroed FROM change
    ) AS counted, (
      SELECT ${of("soldOut")} AS "soldOut", ${of("fell")} AS fell, ${of("rose")} AS rose FROM (
        SELECT ${sql.literal(DropGuard.kindSql("baseline", "stock"))} AS kind FROM change WHERE was IS NOT NULL AND listing <> 'zeroed'
        UNION ALL
        SELECT ${sql.literal(DropGuard.kindSql("baseline", "wanted"))} AS kind FROM product
          WHERE account = ${account} AND baseline_at > ${windowStart} AND listing <> 'excluded'
            AND NOT EXISTS (SELECT 1 FROM change WHERE change.id = product.id)
      ) AS judged
    ) AS kinds`)
}

/** Compares the staged rows, of which these counts are known. */
export const compare = (
  target: Target,
  policy: Pick<SnapshotPolicy, "missing">,
  { all, negative, rejected }: Stage.Counts,
  windowStart: number
): Effect.Effect<Difference, SqlError | Schema.SchemaError> =>
  Effect.gen(function*() {
    const missingKept = policy.missing === "zero" && (yield* Stage.mayLackRows(target))
    const zeroes = policy.missing === "zero" && !missingKept
    yield* atOnce(target.sql, [findMissing(target), findChanged(target, windowStart)])
    if (zeroes) yield* zeroMissing(target, windowStart)
    const { added, changed, missedBefore, named, relisted, updated, ...kinds } = yield* measure(target, windowStart)
    return {
      added,
      updated,
      relisted,
      zeroes,
      result: { rows: all, rejected, negative, changed, figures: { ...kinds, catalogue: named + missedBefore }, missingKept }
    }
  })
