/**
 * Makes a snapshot the wanted stock: stages its rows, compares them after the last one, judges the difference, and writes only
 * that, in one transaction.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as SourceError from "@plaza-legacy/tabular/SourceError"
import type { Row } from "@plaza-legacy/tabular/Stock"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Stream from "effect/Stream"
import { Wording } from "../config/Wording.ts"
import { type Adjustments, unadjusted } from "../source/ProductRules.ts"
import * as RejectedRowLimit from "../sync/RejectedRowLimit.ts"
import * as HeldSnapshots from "./HeldSnapshots.ts"
import type { Ledger } from "./Ledger.ts"
import { LedgerCommands } from "./LedgerCommands.ts"
import * as LedgerConnection from "./LedgerConnection.ts"
import type { LedgerFault, SnapshotHeld } from "./LedgerError.ts"
import * as Migrations from "./Migrations.ts"
import * as RowsAhead from "./RowsAhead.ts"
import type { SnapshotInput, SnapshotPolicy, SnapshotPreview, SnapshotResult } from "./Snapshot.ts"
import * as SnapshotDiff from "./SnapshotDiff.ts"
import * as Staging from "./Staging.ts"
import { withRelations, type Write, writeTogether } from "./Statements.ts"
import * as Tables from "./Tables.ts"

/** The window of the drop guard, in milliseconds since the epoch as the ledger stores times. */
interface GuardWindow {
  readonly start: number
  readonly now: number
}

interface Judged extends SnapshotDiff.Difference {
  readonly verdict: HeldSnapshots.Verdict
}

/** What else the transaction that applies a snapshot writes into the row of `snapshot`: assignments, each after a comma. */
export type SnapshotAssignments = (result: SnapshotResult) => Fragment

/** Doubt that can no longer come true, because the stock was confirmed after it ended. */
const doubtExpired = (now: number) => `(product.state = 'settled' AND product.doubt_until <= ${now})`
/** The new wanted stock is confirmed, and no request that may still take effect has another one. */
const isCertain = (now: number) =>
  `coalesce(product.confirmed = excluded.wanted, false) AND (product.doubt_until IS NULL OR ${
    doubtExpired(now)
  } OR (product.doubt_low = excluded.wanted AND product.doubt_high = excluded.wanted))`
// The last request was the confirmed one: only an earlier one may still overwrite it.
const confirmedLast = "product.confirmed = excluded.wanted AND product.sent = product.confirmed AND product.sent_at <= product.confirmed_at"
const stillRefused = "(product.state = 'quarantined' AND product.refused = excluded.wanted)"
const stillUncertain = "(product.state = 'uncertain' AND product.wanted = excluded.wanted)"

// Inserted in the order of ids, so that the indexes grow at their ends only.
const insertInto = (sql: SqlClient.SqlClient, condition: string, { now }: GuardWindow) =>
  `INSERT INTO product (id, wanted, attempts, state, part, left_at, since, line, updated_at)
    SELECT id, stock, 0, 'pending', part, CASE WHEN part = 'zeroed' THEN ${now} END, ${now}, line, ${now} FROM changed WHERE ${condition} ORDER BY ${
    sql.onDialectOrElse({ pg: () => `id COLLATE "C"`, orElse: () => "id" })
  }`

// A new product can't exist by now, because only the owner of the ledger inserts products. A conflict clause would make each of them a
// third more expensive in Postgres.
const insertNew = ({ sql }: LedgerConnection.LedgerConnection, window: GuardWindow) => sql.unsafe(insertInto(sql, "was IS NULL", window))

// A doubt outlives a new wanted stock. A refusal holds for the stock that was refused.
const updateKnown = ({ isShared, sql }: LedgerConnection.LedgerConnection, window: GuardWindow) => {
  const { now, start } = window
  return sql.unsafe(`${insertInto(sql, "was IS NOT NULL", window)}
    ON CONFLICT (${LedgerConnection.keyColumns(isShared, "id")}) DO UPDATE SET
      wanted = excluded.wanted,
      part = excluded.part,
      left_at = CASE WHEN excluded.part = 'named' THEN NULL ELSE coalesce(product.left_at, excluded.left_at) END,
      line = excluded.line,
      base = CASE WHEN product.wanted = excluded.wanted OR product.base_at > ${start} THEN product.base ELSE product.wanted END,
      base_at = CASE WHEN product.wanted = excluded.wanted OR product.base_at > ${start} THEN product.base_at ELSE ${now} END,
      attempts = CASE WHEN product.wanted = excluded.wanted THEN product.attempts ELSE 0 END,
      mismatches = CASE WHEN product.wanted = excluded.wanted THEN product.mismatches ELSE 0 END,
      updated_at = CASE WHEN product.wanted = excluded.wanted THEN product.updated_at ELSE excluded.updated_at END,
      doubt_low = CASE WHEN ${doubtExpired(now)} THEN NULL ELSE product.doubt_low END,
      doubt_high = CASE WHEN ${doubtExpired(now)} THEN NULL ELSE product.doubt_high END,
      doubt_until = CASE WHEN ${doubtExpired(now)} THEN NULL ELSE product.doubt_until END,
      state = CASE
        WHEN product.state = 'sending' OR ${stillRefused} OR ${stillUncertain} THEN product.state
        WHEN ${isCertain(now)} THEN 'settled'
        WHEN product.doubt_until IS NOT NULL AND NOT ${doubtExpired(now)} THEN 'doubtful'
        ELSE 'pending'
      END,
      due_at = CASE
        WHEN ${stillRefused} OR ${stillUncertain} OR (product.wanted = excluded.wanted AND NOT (${isCertain(now)})) THEN product.due_at
        WHEN ${confirmedLast} AND NOT (${isCertain(now)}) AND product.state <> 'sending' THEN product.doubt_until
      END,
      since = CASE
        WHEN ${stillRefused} OR ${stillUncertain} THEN product.since
        WHEN product.state <> 'sending' AND ${isCertain(now)} THEN coalesce(product.confirmed_at, excluded.since)
        WHEN product.state IN ('pending', 'doubtful') THEN product.since
        ELSE excluded.since
      END`)
}

/** Confirmed changes count as plausible from now on. Missing products stay missing, but no longer count within the window. */
const resetBaseline = (sql: SqlClient.SqlClient) =>
  Effect.zipRight(
    sql`UPDATE product SET base = NULL, base_at = NULL WHERE base_at IS NOT NULL`,
    sql`UPDATE product SET left_at = ${sql.literal(String(Tables.beforeEveryWindow))} WHERE left_at IS NOT NULL`
  )

// Autovacuum runs later than the next statements, and never for temporary tables.
const manyChanges = 1_000
const analyze = ({ isShared, sql }: LedgerConnection.LedgerConnection, { changed }: SnapshotResult) =>
  sql.onDialectOrElse({ pg: () => isShared || changed < manyChanges ? Effect.void : sql`ANALYZE product`, orElse: () => Effect.void })

/** Writes the compared snapshot, after the issues of the last one were deleted. No two statements write the same row. */
const writes = (
  connection: LedgerConnection.LedgerConnection,
  { added, result, updated }: SnapshotDiff.Difference,
  { excluded, unit }: Pick<SnapshotInput<never, never>, "excluded" | "unit">,
  { duplicates, missing }: SnapshotPolicy,
  window: GuardWindow,
  assignments: Fragment
): Effect.Effect<ReadonlyArray<Write>> =>
  Effect.map(Wording, ({ option }) => {
    const { sql } = connection
    return [
      sql`UPDATE snapshot SET taken_at = ${window.now}, row_count = ${result.rows}, unit = ${unit}${assignments}`,
      ...(result.rejected + result.negative > 0 ? [Staging.recordIssues(sql, duplicates, option("duplicates"))] : []),
      ...(added > 0 ? [insertNew(connection, window)] : []),
      ...(updated > 0 ? [updateKnown(connection, window)] : []),
      // A missing product with a wanted stock of 0 is one of the changes.
      ...(missing === "zero" && !result.missingKept ? [] : [
        sql`UPDATE product SET part = 'left', left_at = ${window.now} WHERE part IN ('named', 'excluded') AND id IN (SELECT id FROM missing)`
      ]),
      ...(excluded.size === 0 ? [] : [
        sql`UPDATE product SET part = 'excluded', left_at = NULL
          WHERE part <> 'excluded' AND id IN (SELECT id FROM staged WHERE kind = 'excluded')`
      ])
    ]
  })

// The first statement writes: a transaction of SQLite that starts by reading fails for good if another process writes before it does.
const deleteIssues = (sql: SqlClient.SqlClient): Write => sql`DELETE FROM row_issue`

const write = (
  connection: LedgerConnection.LedgerConnection,
  judged: Judged,
  input: Pick<SnapshotInput<never, never>, "excluded" | "unit">,
  policy: SnapshotPolicy,
  window: GuardWindow,
  assignments: Fragment
) => {
  const { sql } = connection
  return Effect.all([
    deleteIssues(sql),
    Effect.flatMap(writes(connection, judged, input, policy, window, assignments), Effect.all),
    judged.verdict._tag === "Confirmed" ? resetBaseline(sql) : Effect.void,
    analyze(connection, judged.result)
  ], { discard: true })
}

const guardWindow = ({ guard: { window } }: SnapshotPolicy): Effect.Effect<GuardWindow> =>
  Effect.map(Clock.currentTimeMillis, (now) => ({ now, start: now - Math.ceil(Duration.toMillis(window)) }))

/** Too many rows are rejected. The sentence depends on what a row is. */
interface TooManyRejected {
  readonly message: (unit: SnapshotInput<never, never>["unit"]) => string
}

const compareAndJudge = (
  sql: SqlClient.SqlClient,
  policy: SnapshotPolicy,
  adjustments: Adjustments,
  windowStart: number
): Effect.Effect<Judged | TooManyRejected, SqlError | ParseError> =>
  Effect.gen(function*() {
    yield* Staging.finish(sql, policy.duplicates)
    const counts = yield* Staging.count(sql)
    if (RejectedRowLimit.exceeded(policy.maxBadRows, counts)) {
      const { named, option } = yield* Wording
      const first = Option.getOrUndefined(yield* Staging.firstRejected(sql, policy.duplicates, option("duplicates")))
      return { message: (unit) => RejectedRowLimit.sentence(counts, first, unit, named("max-bad-rows")) }
    }
    const difference = yield* SnapshotDiff.compare(sql, policy, counts, windowStart, yield* Staging.offer(sql, adjustments))
    return { ...difference, verdict: yield* HeldSnapshots.judge(sql, policy.guard, difference) }
  })

/** One batch to insert next and one that the source fills: more would only hold rows in memory. */
const batchesAhead = 2

/** Stages and judges a snapshot, uses it, and drops what was staged. */
const withStaged = <A, E, E2, R>(
  { run, sql }: LedgerConnection.LedgerConnection,
  { adjustments = unadjusted, excluded, rows, source, unit }: SnapshotInput<E, R>,
  policy: SnapshotPolicy,
  use: (judged: Judged, window: GuardWindow) => Effect.Effect<A, E2>
): Effect.Effect<A, E | E2 | LedgerFault | SourceError.SourceError, R> =>
  Effect.gen(function*() {
    yield* run(Staging.create(sql))
    yield* rows.pipe(
      Stream.rechunk(Staging.batchSize),
      // Reads on while a batch is staged.
      Stream.bufferChunks({ capacity: batchesAhead }),
      Stream.runForEachChunk((chunk) => run(Staging.insert(sql, chunk)))
    )
    if (excluded.size > 0) yield* run(Staging.exclude(sql, excluded))
    const window = yield* guardWindow(policy)
    const judged = yield* run(compareAndJudge(sql, policy, adjustments, window.start))
    if ("message" in judged) return yield* SourceError.content(source, judged.message(unit))
    return yield* use(judged, window)
  }).pipe(Effect.ensuring(Effect.ignore(run(Staging.drop(sql)))))

/** Nothing is held once another snapshot was applied. */
const noneHeld = (sql: SqlClient.SqlClient, assignments: Fragment) => sql`, ${sql.literal(HeldSnapshots.noneHeldColumns)}${assignments}`

/** Applies a snapshot. If its rows fail or it is held, the wanted stock stays unchanged. */
export const apply = (
  connection: LedgerConnection.LedgerConnection,
  assignments: SnapshotAssignments = () => connection.sql``
): Ledger["Type"]["applySnapshot"] =>
(input, policy) => {
  const { run, sql } = connection
  return withStaged(connection, input, policy, (judged, window): Effect.Effect<SnapshotResult, LedgerFault | SnapshotHeld> => {
    const { result, verdict } = judged
    return verdict._tag === "Held"
      ? Effect.flatMap(run(HeldSnapshots.hold(sql, verdict, result.figures, window.now)),
        (held) => Effect.flatMap(LedgerCommands, (commands) => Effect.fail(HeldSnapshots.failure(policy.guard, held, commands))))
      : Effect.as(
        run(sql.withTransaction(Effect.all([
          write(connection, judged, input, policy, window, noneHeld(sql, assignments(result))),
          connection.isShared ? Effect.void : Migrations.ensureIndexes(sql),
          HeldSnapshots.clearChanges(sql)
        ], { discard: true }))),
        result
      )
  })
}

const haveDistinctIds = (rows: ReadonlyArray<Staging.StagedRow>): boolean => {
  const ids = rows.flatMap(([, id]) => id === null ? [] : [id])
  return new Set(ids).size === ids.length
}

/** How a small snapshot is compared and written: in Postgres without temporary tables, in SQLite with one of them. */
const smallSnapshot = (
  sql: SqlClient.SqlClient,
  rows: ReadonlyArray<Staging.StagedRow>,
  { missing, changed }: Omit<ReturnType<typeof SnapshotDiff.relations>, "implausible">
) => {
  const compared = { duplicated: Staging.noneDuplicated(sql), missing, changed }
  const clearHeld = HeldSnapshots.clearChanges(sql)
  return sql.onDialectOrElse({
    pg: () => {
      const relations = { staged: Staging.select(sql, rows), ...compared }
      return {
        // Before the statistics know the account, the planner would join some thousand rows in nested loops, a minute for 10,000.
        prepare: sql`SET LOCAL enable_nestloop = off`,
        relations,
        write: (statements: ReadonlyArray<Write>) =>
          Effect.zipRight(deleteIssues(sql), writeTogether(sql, relations, [...statements, clearHeld])),
        end: Effect.void
      }
    },
    orElse: () => ({
      prepare: Staging.createSmall(sql, rows),
      relations: compared,
      write: (statements: ReadonlyArray<Write>) => {
        const steps = statements.map((statement) => sql`${withRelations(sql, compared)} ${statement}`)
        return sql.withTransaction(Effect.all([deleteIssues(sql), ...steps, clearHeld], { discard: true }))
      },
      end: Effect.ignore(Staging.dropSmall(sql))
    })
  })
}

/**
 * Applies a small snapshot with few statements. In Postgres, the caller has begun a transaction. None: it needs the complete comparison,
 * because it is held or refused, or has several rows of a product, or rejected rows while missing products get a wanted stock of 0.
 */
export const applySmall = (
  connection: LedgerConnection.LedgerConnection,
  all: ReadonlyArray<Row>,
  input: Pick<SnapshotInput<never, never>, "adjustments" | "excluded" | "unit">,
  policy: SnapshotPolicy,
  assignments: SnapshotAssignments
): Effect.Effect<Option.Option<SnapshotResult>, SqlError | ParseError> =>
  Effect.gen(function*() {
    const { sql } = connection
    const rows = all.map(Staging.toStagedRow).filter(([, id]) => id === null || !input.excluded.has(id))
    const countOf = (kind: Staging.StagedRow[3]) => rows.reduce((count, row) => row[3] === kind ? count + 1 : count, 0)
    const counts = { all: rows.length, rejected: countOf("bad"), negative: countOf("negative") }
    const zeroes = policy.missing === "zero"
    if (!haveDistinctIds(rows) || (zeroes && counts.rejected > 0) || RejectedRowLimit.exceeded(policy.maxBadRows, counts)) {
      return Option.none()
    }
    const window = yield* guardWindow(policy)
    const staged = [...Staging.adjusted(rows, input.adjustments ?? unadjusted), ...Staging.toExcludedRows(input.excluded)]
    const { implausible, ...compared } = SnapshotDiff.relations(sql, window.start, zeroes, Staging.offerAsStaged(sql))
    const { end, prepare, relations, write } = smallSnapshot(sql, staged, compared)
    return yield* Effect.gen(function*() {
      yield* prepare
      const difference = yield* SnapshotDiff.measure(sql, window.start, { ...counts, missingKept: false },
        withRelations(sql, { ...relations, implausible }))
      if (!HeldSnapshots.isPlausible(policy.guard, difference)) return Option.none()
      const { result } = difference
      yield* write(yield* writes(connection, difference, input, policy, window, noneHeld(sql, assignments(result))))
      return Option.some(result)
    }).pipe(Effect.ensuring(end))
  })

/** As `apply`, with few statements for a snapshot of usual size. One that is held is compared twice. */
export const applyAhead = (connection: LedgerConnection.LedgerConnection): Ledger["Type"]["applySnapshot"] => (input, policy) =>
  Effect.scoped(Effect.gen(function*() {
    const { all, input: ahead } = yield* RowsAhead.read(input)
    const applied = Option.isNone(all)
      ? Option.none()
      : yield* connection.run(applySmall(connection, all.value, ahead, policy, () => connection.sql``))
    return Option.isSome(applied) ? applied.value : yield* apply(connection)(ahead, policy)
  }))

/** Applies a snapshot even if it would be held, and records the changes that would hold it. */
export const preview = (connection: LedgerConnection.LedgerConnection): Ledger["Type"]["previewSnapshot"] => (input, policy) => {
  const { run, sql } = connection
  return withStaged(connection, input, policy, (judged, window): Effect.Effect<SnapshotPreview, LedgerFault> =>
    Effect.gen(function*() {
      const { result, verdict } = judged
      const held = verdict._tag === "Held"
        ? Option.some(yield* run(HeldSnapshots.hold(sql, verdict, result.figures, window.now)))
        : Option.none()
      yield* run(sql.withTransaction(write(connection, judged, input, policy, window, sql``)))
      return { ...result, held }
    }))
}
