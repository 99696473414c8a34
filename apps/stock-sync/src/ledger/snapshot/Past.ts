/** Records what each applied snapshot changed, so that the stock of an earlier one can be restored. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { integer, mine, type Target } from "../Operation.ts"
import * as Rows from "../Rows.ts"
import type { PastSnapshot } from "../Snapshot.ts"

/** The most snapshots of an account that can be restored. */
export const mostSnapshots = 1_000

/** Recorded changes of an account: twice as many as its source has rows, and at least so many. Those of the last snapshot are always kept. */
const fewestChanges = 2_000

/** What a snapshot or a revert changed. */
export interface Recorded {
  readonly changed: number
  /** Products that a snapshot names again, or sets to 0, without another stock. */
  readonly relisted: number
  /** The rows of the snapshot. */
  readonly rows: number
  /** 0 if it has the number of the held snapshot, else 1. */
  readonly increment: 0 | 1
  /** The snapshot that a revert restores. */
  readonly revertedTo: number | undefined
}

/**
 * Statements that record the staged changes, for `atOnce` before those that change the row of `snapshot`. Nothing comes before the first
 * snapshot, so what that changes is not recorded. Products that become missing are not recorded either: a revert does not list them again.
 */
export const record = (
  target: Target,
  { changed, increment, relisted, revertedTo, rows }: Recorded,
  now: number
): ReadonlyArray<Fragment> => {
  if (changed + relisted === 0) return []
  const { account, sql } = target
  const number = sql`last_number + ${integer(sql, changed === 0 ? 1 : increment)}`
  // A product that was recorded under this number already has its earliest stock and listing.
  const stocks = sql`INSERT INTO past_stock (account, number, id, stock, listing)
      SELECT ${integer(sql, account)}, ${number}, change.id, change.was, change.was_listing FROM snapshot CROSS JOIN change
      WHERE ${mine(target)} AND taken_at IS NOT NULL AND (change.was IS NULL OR change.was <> change.stock OR change.was_listing <> 'named')
        AND change.id NOT IN (SELECT id FROM past_stock WHERE ${mine(target)}
          AND number = (SELECT ${number} FROM snapshot WHERE ${mine(target)}))`
  if (changed === 0) {
    return [
      stocks,
      sql`UPDATE past_snapshot SET kept = kept + ${relisted}
        WHERE ${mine(target)} AND number = (SELECT max(number) FROM past_snapshot WHERE ${mine(target)})`
    ]
  }
  const mostChanges = Math.max(fewestChanges, 2 * rows)
  // The earliest snapshot that is still kept. `later`: the changes between it and the last one.
  const earliest = sql`(SELECT min(number) FROM (
      SELECT number, row_number() OVER (ORDER BY number DESC) AS place,
        coalesce(sum(kept) OVER (ORDER BY number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS later
      FROM past_snapshot WHERE ${mine(target)}
    ) AS newest WHERE place = 1 OR (place < ${mostSnapshots} AND later + ${integer(sql, changed)} <= ${mostChanges}))`
  return [
    sql`DELETE FROM past_stock WHERE ${mine(target)} AND number <= ${earliest}`,
    stocks,
    sql`DELETE FROM past_snapshot WHERE ${mine(target)} AND number < ${earliest}`,
    sql`INSERT INTO past_snapshot (account, number, taken_at, row_count, changed, kept, reverted_to)
      SELECT account, ${number}, ${integer(sql, now)}, ${integer(sql, rows)}, ${integer(sql, changed)},
        ${integer(sql, changed + relisted)}, ${revertedTo === undefined ? sql.literal("NULL") : integer(sql, revertedTo)}
      FROM snapshot WHERE ${mine(target)}`
  ]
}

const pastRows = Rows.all(Schema.Struct({
  number: Schema.Int,
  taken_at: Rows.Instant,
  row_count: Schema.Int,
  changed: Schema.Int,
  reverted_to: Schema.NullOr(Schema.Int)
}))

/** The snapshots that can be restored, and reverts, the latest first. */
export const list = (target: Target): Effect.Effect<ReadonlyArray<PastSnapshot>, SqlError | Schema.SchemaError> =>
  Effect.map(
    pastRows(target.sql`SELECT number, taken_at, row_count, changed, reverted_to FROM past_snapshot
      WHERE ${mine(target)} ORDER BY number DESC`),
    (rows) =>
      rows.map(({ changed, number, reverted_to: revertedTo, row_count: rowCount, taken_at: takenAt }) => ({
        number,
        takenAt,
        rows: rowCount,
        changed,
        revertedTo: revertedTo ?? undefined
      }))
  )
