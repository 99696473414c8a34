/** Writes what a compared snapshot changes. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { Unit } from "../../source/Source.ts"
import { by, mine, type Target } from "../Operation.ts"
import * as Rows from "../Rows.ts"
import { beforeEveryWindow, excusedByRevert } from "../Schema.ts"
import type { SnapshotResult } from "../Snapshot.ts"
import type { Difference } from "./Compare.ts"
import * as Past from "./Past.ts"

/** The window of the drop guard, in milliseconds since the epoch as the ledger stores times. */
export interface GuardWindow {
  readonly start: number
  readonly now: number
}

// In the order of ids, so that the indexes grow at their ends only. No clause for conflicts, because only the owner inserts products, and it
// would make each of them a third more expensive in Postgres.
const insertNew = ({ account, sql }: Target, { now }: GuardWindow) =>
  sql.unsafe(`INSERT INTO product (account, id, wanted, attempts, state, listing, missing_since, queued_at, line, updated_at)
    SELECT ${account}, id, stock, 0, 'pending', listing, CASE WHEN listing = 'zeroed' THEN ${now} END, ${now}, line, ${now} FROM change
    WHERE was IS NULL ORDER BY ${sql.onDialectOrElse({ pg: () => `id COLLATE "C"`, orElse: () => "id" })}`)

/** A product that a revert excuses is missing as if a person had confirmed that. */
const missingSince = (column: string, otherwise: string) =>
  `CASE ${column} WHEN ${excusedByRevert} THEN ${beforeEveryWindow} ELSE ${otherwise} END`

// A doubt outlives a new wanted stock. A refusal holds for the stock that was refused.
export const updateKnown = ({ account, sql }: Target, { now, start }: GuardWindow) => {
  // Doubt that can no longer come true, because the stock was confirmed after it ended.
  const doubtExpired = `(p.state = 'settled' AND p.doubt_until <= ${now})`
  // The new wanted stock is confirmed, and no request that may still take effect has another one.
  const isCertain = `(coalesce(p.confirmed = c.stock, false) AND (p.doubt_until IS NULL OR ${doubtExpired}
    OR (p.doubt_low = c.stock AND p.doubt_high = c.stock)))`
  // The last request was the confirmed one: only an earlier one may still overwrite it.
  const confirmedLast = "p.confirmed = c.stock AND p.sent = p.confirmed AND p.sent_at <= p.confirmed_at"
  const stillRejected = "((p.state = 'quarantined' AND p.refused_stock = c.stock) OR (p.state = 'uncertain' AND p.wanted = c.stock))"
  const isSame = "p.wanted = c.stock"
  // The guard does not count it, in this snapshot and in later ones.
  const isExcusedZero = `(c.listing = 'zeroed' AND coalesce(p.missing_since, 0) = ${excusedByRevert})`
  return sql.unsafe(`UPDATE product AS p SET wanted = c.stock, listing = c.listing, line = c.line,
      missing_since = CASE c.listing WHEN 'zeroed' THEN ${missingSince("p.missing_since", `coalesce(p.missing_since, ${now})`)}
        WHEN 'missing' THEN p.missing_since END,
      baseline = CASE WHEN ${isExcusedZero} THEN NULL WHEN ${isSame} OR p.baseline_at > ${start} THEN p.baseline ELSE p.wanted END,
      baseline_at = CASE WHEN ${isExcusedZero} THEN NULL WHEN ${isSame} OR p.baseline_at > ${start} THEN p.baseline_at ELSE ${now} END,
      attempts = CASE WHEN ${isSame} THEN p.attempts ELSE 0 END,
      mismatches = CASE WHEN ${isSame} THEN p.mismatches ELSE 0 END,
      updated_at = CASE WHEN ${isSame} THEN p.updated_at ELSE ${now} END,
      doubt_low = CASE WHEN ${doubtExpired} THEN NULL ELSE p.doubt_low END,
      doubt_high = CASE WHEN ${doubtExpired} THEN NULL ELSE p.doubt_high END,
      doubt_until = CASE WHEN ${doubtExpired} THEN NULL ELSE p.doubt_until END,
      state = CASE
        WHEN p.state = 'sending' OR ${stillRejected} THEN p.state
        WHEN ${isCertain} THEN 'settled'
        WHEN p.doubt_until IS NOT NULL AND NOT ${doubtExpired} THEN 'doubtful'
        ELSE 'pending'
      END,
      due_at = CASE
        WHEN ${stillRejected} OR (${isSame} AND NOT ${isCertain}) THEN p.due_at
        WHEN ${confirmedLast} AND NOT ${isCertain} AND p.state <> 'sending' THEN p.doubt_until
      END,
      queued_at = CASE
        WHEN ${stillRejected} THEN p.queued_at
        WHEN p.state <> 'sending' AND ${isCertain} THEN coalesce(p.confirmed_at, ${now})
        WHEN p.state IN ('pending', 'doubtful') THEN p.queued_at
        ELSE ${now}
      END
    FROM change AS c WHERE c.was IS NOT NULL AND p.account = ${account} AND p.id = c.id`)
}

const leaveMissing = ({ account, sql }: Target, { now }: GuardWindow) =>
  sql`UPDATE product SET listing = 'missing', missing_since = ${sql.literal(missingSince("missing_since", String(now)))}
    WHERE account = ${account} AND (listing IN ('named', 'excluded') OR missing_since = ${excusedByRevert})
      AND id IN (SELECT id FROM missing)`

const exclude = ({ account, sql }: Target) =>
  sql`UPDATE product SET listing = 'excluded', missing_since = NULL
    WHERE account = ${account} AND (listing <> 'excluded' OR missing_since = ${excusedByRevert})
      AND id IN (SELECT id FROM staged WHERE kind = 'excluded')`

/** Confirmed changes count as plausible from now on. Missing products stay missing, but no longer count within the window. */
export const resetBaseline = (target: Target): Effect.Effect<unknown, SqlError> =>
  Effect.andThen(
    target.sql`UPDATE product ${by(target, "product_baseline")} SET baseline = NULL, baseline_at = NULL
      WHERE ${mine(target)} AND baseline_at IS NOT NULL`,
    target.sql`UPDATE product ${by(target, "product_missing")} SET missing_since = ${beforeEveryWindow}
      WHERE ${mine(target)} AND missing_since IS NOT NULL AND missing_since <> ${excusedByRevert}`
  )

/** The statements that write the compared products, for `atOnce`. */
export const writes = (
  target: Target,
  { added, updated, zeroes }: Difference,
  excluded: ReadonlySet<string>,
  window: GuardWindow
): ReadonlyArray<Fragment> => [
  ...(added > 0 ? [insertNew(target, window)] : []),
  ...(updated > 0 ? [updateKnown(target, window)] : []),
  ...(zeroes ? [] : [leaveMissing(target, window)]),
  ...(excluded.size > 0 ? [exclude(target)] : [])
]

/** The snapshot names the product with a stock: one that was not undone, unless a person confirmed it. */
const isNamed = "EXISTS (SELECT 1 FROM staged WHERE staged.id = reverted_stock.id AND staged.kind = 'accepted')"

/**
 * What a revert is once the staged snapshot is applied. It ends when each product that it undid was named with another stock, or all of it was
 * confirmed: a snapshot that omits or rejects a product does not show that the source is right.
 */
const revertedAfter = (target: Target, column: "reverted_at" | "reverted_to", increment: 0 | 1) =>
  increment === 0
    ? target.sql`NULL`
    : target.sql`CASE WHEN EXISTS (SELECT 1 FROM reverted_stock WHERE ${mine(target)} AND NOT ${target.sql.literal(isNamed)})
      THEN ${target.sql.literal(column)} END`

/**
 * The statements that record the snapshot as the last applied one, for `atOnce`. Nothing is held once another snapshot was applied.
 * `increment`: 0 if it is the held snapshot, which was confirmed and has a number.
 */
export const appliedRecord = (
  target: Target,
  { relisted, result }: Difference,
  unit: Unit,
  digest: string | undefined,
  increment: 0 | 1,
  now: number
): ReadonlyArray<Fragment> => [
  ...Past.record(target, { changed: result.changed, relisted, rows: result.rows, increment, revertedTo: undefined }, now),
  target.sql`UPDATE snapshot SET taken_at = ${now}, row_count = ${result.rows}, unit = ${unit}, digest = ${digest ?? null},
    result = ${encodeResult(result)}, last_number = last_number + ${
    result.changed === 0 ? 0 : increment
  }, held_since = NULL, held_at = NULL,
    confirmed_number = NULL, reverted_to = ${revertedAfter(target, "reverted_to", increment)},
    reverted_at = ${revertedAfter(target, "reverted_at", increment)} WHERE ${mine(target)}`,
  target.sql`DELETE FROM held_change WHERE ${mine(target)}`,
  increment === 0
    ? target.sql`DELETE FROM reverted_stock WHERE ${mine(target)}`
    : target.sql`DELETE FROM reverted_stock WHERE ${mine(target)} AND ${target.sql.literal(isNamed)}`
]

/** The statement that records a snapshot in a copy, which keeps what is held. */
export const previewRecord = (target: Target, result: SnapshotResult, unit: Unit, increment: 0 | 1, now: number): Fragment =>
  target.sql`UPDATE snapshot SET taken_at = ${now}, row_count = ${result.rows}, unit = ${unit},
    last_number = last_number + ${result.changed === 0 ? 0 : increment}, reverted_to = ${revertedAfter(target, "reverted_to", increment)},
    reverted_at = ${revertedAfter(target, "reverted_at", increment)} WHERE ${mine(target)}`

const Result = Schema.fromJsonString(Schema.Struct({
  rows: Schema.Int,
  changed: Schema.Int,
  rejected: Schema.Int,
  negative: Schema.Int,
  figures: Rows.FiguresRow,
  missingKept: Schema.Boolean
}))
const encodeResult = Schema.encodeSync(Result)
export const resultRow = Rows.first(Schema.Struct({ result: Result }))
