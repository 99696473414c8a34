/**
 * Makes a snapshot the wanted stock: stages its rows, compares them after the last one, judges the difference, and writes only that, in
 * one transaction.
 */
import * as SourceError from "@plaza/tabular/SourceError"
import type { Row } from "@plaza/tabular/Stock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Pull from "effect/Pull"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { type Kits, unadjusted } from "../../source/rules/ProductRules.ts"
import { unreachable } from "../../source/Source.ts"
import { Wording } from "../../Wording.ts"
import * as Events from "../Events.ts"
import type { Ledger } from "../Ledger.ts"
import { LedgerCommands } from "../LedgerCommands.ts"
import type { LedgerFault } from "../LedgerError.ts"
import * as Operation from "../Operation.ts"
import type { Failure, Run, Target } from "../Operation.ts"
import * as Rows from "../Rows.ts"
import type { SnapshotInput, SnapshotPolicy, SnapshotPreview, SnapshotResult } from "../Snapshot.ts"
import { compare, type Difference } from "./Compare.ts"
import * as Judge from "./Judge.ts"
import * as RejectedRowLimit from "./RejectedRowLimit.ts"
import * as Stage from "./Stage.ts"
import { appliedRecord, type GuardWindow, previewRecord, resetBaseline, resultRow, writes } from "./Write.ts"

/** The number of rows that are read before the ledger is used for them, so that a slow source of usual size delays nothing. */
export const RowsAhead = Context.Reference<number>("@plaza/stock-sync/ledger/RowsAhead", { defaultValue: () => 10_000 })

interface Ahead<E, R> {
  /** The rows that were read and those that follow. */
  readonly rows: Stream.Stream<Row, E, R>
  /** The rows, if no others follow. */
  readonly all: Option.Option<ReadonlyArray<Row>>
}

const readAhead = <E, R>(rows: Stream.Stream<Row, E, R>): Effect.Effect<Ahead<E, R>, E, R | Scope.Scope> =>
  Effect.gen(function*() {
    const most = yield* RowsAhead
    const pull = yield* Stream.toPull(Stream.rechunk(rows, Stage.batchSize))
    const ahead: Array<Row> = []
    while (ahead.length <= most) {
      const next = yield* Pull.catchDone(Effect.asSome(pull), () => Effect.succeedNone)
      if (Option.isNone(next)) return { rows: Stream.fromIterable(ahead), all: Option.some(ahead) }
      ahead.push(...next.value)
    }
    return { rows: Stream.concat(Stream.fromIterable(ahead), Stream.fromPull(Effect.succeed(pull))), all: Option.none() }
  })

type Ruled = Pick<SnapshotInput<never, never>, "adjustments" | "excluded" | "kits" | "unusedRules">

const noKits: Kits = new Map()

/** Once the rows are read. */
const rulesOf = ({ adjustments = unadjusted, excluded, kits = noKits, unusedRules }: Ruled): Stage.RuleSet => ({
  adjustments,
  excluded,
  kits,
  unused: unusedRules?.() ?? []
})

/** The digest of all that decides what a snapshot changes. */
const digestOf = (input: Ruled & Pick<SnapshotInput<never, never>, "unit">, policy: SnapshotPolicy, rows: ReadonlyArray<Row>): string => {
  const { adjustments, excluded, kits, unused } = rulesOf(input)
  const ruled = [
    [...excluded].sort(),
    adjustments.all,
    [...adjustments.products],
    Array.from(kits, ([id, parts]) => [id, [...parts]]),
    unused
  ]
  return createHash("sha256").update(JSON.stringify([input.unit, ruled, policy, rows])).digest("base64")
}

/** What the last applied snapshot changed, if it has this digest and no later one is held. It then counts as applied now. */
const findRepeated = (target: Target, digest: string): Effect.Effect<Option.Option<SnapshotResult>, Failure> =>
  Effect.gen(function*() {
    const { sql } = target
    const found = yield* resultRow(
      sql`SELECT result FROM snapshot WHERE ${Operation.mine(target)} AND digest = ${digest} AND held_since IS NULL`
    )
    if (Option.isNone(found)) return Option.none()
    const now = yield* Operation.now
    yield* Operation.together(target, [
      (isOwned) => sql`UPDATE snapshot SET taken_at = ${now} WHERE ${Operation.mine(target)} AND ${isOwned}`
    ])
    return Option.some({ ...found.value.result, changed: 0, repeated: true })
  })

/** For a transaction that looks for its owner at its end. */
export const unfenced = ({ sql }: Target, steps: ReadonlyArray<Operation.Step>): ReadonlyArray<Fragment> =>
  steps.map((step) => step(sql`1 = 1`))

interface Judged extends Difference {
  readonly verdict: Judge.Verdict
}

/** Too many rows are rejected. The sentence depends on what a row is. */
interface TooManyRejected {
  readonly message: (unit: SnapshotInput<never, never>["unit"]) => string
}

/** A confirmed snapshot has its number already. */
const incrementOf = ({ _tag }: Judge.Verdict) => _tag === "Plausible" ? 1 : 0

/** Settings of the session for a transaction that compares many rows. */
const prepareTransaction = (sql: SqlClient) =>
  sql.onDialectOrElse({
    // Before the statistics know the account, the planner would join some thousand rows in nested loops, a minute for 10,000.
    pg: () => sql`SELECT set_config('enable_nestloop', 'off', true)`,
    orElse: () => Effect.void
  })

const compareAndJudge = (
  target: Target,
  counts: Stage.Counts,
  policy: SnapshotPolicy,
  windowStart: number
): Effect.Effect<Judged | TooManyRejected, Failure> =>
  Effect.gen(function*() {
    const { sql } = target
    if (RejectedRowLimit.exceeded(policy.maxBadRows, counts)) {
      const { named, option } = yield* Wording
      const first = Option.getOrUndefined(yield* Stage.firstRejected(sql, policy.duplicates, option("duplicates")))
      return { message: (unit) => RejectedRowLimit.sentence(counts, first, unit, named("max-bad-rows")) }
    }
    const difference = yield* compare(target, policy, counts, windowStart)
    return { ...difference, verdict: yield* Judge.judge(target, policy.guard, difference) }
  })

// Autovacuum runs later than the next statements. A user that does not own the table may not, which the server ignores.
const manyChanges = 1_000
const isLargePart = Rows.only(Schema.Struct({ large: Schema.Boolean }))
const analyze = ({ sql }: Target, { changed }: SnapshotResult): Effect.Effect<void, Failure> =>
  sql.onDialectOrElse({
    pg: () =>
      changed < manyChanges ? Effect.void : Effect.flatMap(
        isLargePart(sql`SELECT ${sql.literal(String(changed * 5))} > reltuples AS large FROM pg_class WHERE oid = 'product'::regclass`),
        // Other accounts of a fleet do not wait for each other.
        ({ large }) => large ? Effect.asVoid(sql`ANALYZE (SKIP_LOCKED) product`) : Effect.void
      ),
    orElse: () => Effect.void
  })

const writeAll = (
  target: Target,
  judged: Judged,
  counts: Stage.Counts,
  { excluded }: Pick<SnapshotInput<never, never>, "excluded">,
  policy: SnapshotPolicy,
  window: GuardWindow,
  record: ReadonlyArray<Fragment>
) =>
  Effect.gen(function*() {
    const { option } = yield* Wording
    yield* Operation.atOnce(target.sql, [Stage.forgetIssues(target), ...writes(target, judged, excluded, window), ...record])
    yield* Stage.recordIssues(target, counts, policy.duplicates, option("duplicates"))
    if (judged.verdict._tag === "Confirmed") yield* resetBaseline(target)
    yield* analyze(target, judged.result)
  })

const inUse = (source: string, rows: number, { most, waited }: Operation.SessionsInUse) =>
  unreachable(
    source,
    `${most} other sources of this runner with more than ${rows.toLocaleString("en")} rows are still being read after ` +
      `${Duration.format(waited)}, and it is tried again`
  )

/** One batch to insert next and one that the source fills: more would only hold rows in memory. */
const batchesAhead = 2

/** How many times a source gives way, so that others which wait for its session do not wait much longer. */
const giveWayAtMost = 100

/** The session of a snapshot, and how its statements run. */
export interface Staging {
  readonly run: Run
  readonly session: Required<Operation.Database>["session"]
  readonly giveWay: Required<Operation.Database>["giveWay"]
  readonly orFault: ReturnType<typeof Operation.orFault<LedgerFault>>
}

/** A session for rows that are read. Only a source that is still read waits for others. */
export const readSession = ({ session }: Staging) => Effect.catchTag(session("read"), "SessionsInUse", (failure) => Effect.die(failure))

/** `run`: how the statements of each step run. */
const staged = <A, E, R, F>(
  target: Target,
  input: Ruled,
  rows: Stream.Stream<Row, E, R>,
  policy: SnapshotPolicy,
  use: (target: Target, judged: Judged, counts: Stage.Counts, window: GuardWindow) => Effect.Effect<A, Failure>,
  run: <B, S>(statements: Effect.Effect<B, Failure, S>) => Effect.Effect<B, F, S>
) =>
  Effect.scoped(Effect.gen(function*() {
    const { sql } = target
    const ignored = Stage.ignoredOf(input.excluded, input.kits ?? noKits)
    // Without `run`: the session serves other accounts after a fault of this one, and a session that is lost is no fault of the account once
    // its snapshot is applied or its source has failed.
    yield* Effect.acquireRelease(run(Stage.prepare(sql)), () => Effect.ignore(Stage.clear(sql)))
    yield* rows.pipe(
      Stream.rechunk(Stage.batchSize),
      // Reads on while a batch is staged.
      Stream.bufferArray({ capacity: batchesAhead }),
      Stream.runForEachArray((batch) => run(Stage.insert(sql, batch, ignored)))
    )
    const now = yield* Operation.now
    const window = { now, start: now - Math.ceil(Duration.toMillis(policy.guard.window)) }
    // Outside of the transaction, so that commands beside the worker wait less.
    const counts = yield* run(Stage.finish(target, rulesOf(input), policy))
    return yield* run(Operation.transaction(target, Effect.gen(function*() {
      yield* prepareTransaction(sql)
      const judged = yield* compareAndJudge(target, counts, policy, window.start)
      return "message" in judged ? judged : { used: yield* use(target, judged, counts, window) }
    })))
  }))

export const make = (
  account: Target,
  run: Run,
  staging: Staging
): Pick<Ledger["Service"], "applySnapshot" | "previewSnapshot"> => {
  const givingWay = <E, R>(rows: Stream.Stream<Row, E, R>): Stream.Stream<Row, E, R> => {
    let times = 0
    return Stream.mapArrayEffect(rows, (batch) =>
      times >= giveWayAtMost ? Effect.succeed(batch) : Effect.map(staging.giveWay, (waited) => {
        if (waited) times++
        return batch
      }))
  }
  /** Stages the rows, and uses them in one transaction. */
  const withStaged = <A, E, R>(
    input: SnapshotInput<E, R>,
    { all, rows }: Ahead<E, R>,
    policy: SnapshotPolicy,
    use: (target: Target, judged: Judged, counts: Stage.Counts, window: GuardWindow) => Effect.Effect<A, Failure>
  ) =>
    Effect.scoped(Effect.gen(function*() {
      const result = yield* Option.match(all, {
        onNone: () =>
          staging.orFault(staging.session("reading")).pipe(
            Effect.catchTag("SessionsInUse",
              (failure) => Effect.flatMap(RowsAhead, (more) => Effect.fail(inUse(input.source, more, failure)))),
            Effect.flatMap((sql) => staged({ ...account, sql }, input, givingWay(rows), policy, use, staging.run))
          ),
        // At once: other operations of the account, which wait for their turns, would keep the session.
        onSome: (rows) =>
          staging.run(Effect.scoped(Effect.flatMap(readSession(staging), (sql) =>
            staged({ ...account, sql }, input, Stream.fromIterable(rows), policy, use, identity))))
      })
      return "message" in result ? yield* Effect.fail(SourceError.content(input.source, result.message(input.unit))) : result.used
    }))

  return {
    applySnapshot: (input, policy) =>
      Effect.scoped(Effect.gen(function*() {
        const ahead = yield* readAhead(input.rows)
        const digest = Option.getOrUndefined(Option.map(ahead.all, (rows) => digestOf(input, policy, rows)))
        const repeated = digest === undefined ? Option.none() : yield* run(findRepeated(account, digest))
        if (Option.isSome(repeated)) return repeated.value
        const applied = yield* withStaged(input, ahead, policy, (target, judged, counts, window) =>
          Effect.gen(function*() {
            const { result, verdict } = judged
            if (verdict._tag === "Held") {
              const event = {
                kind: "snapshotHeld",
                code: undefined,
                detail: Judge.describe(result.figures),
                count: verdict.number
              } as const
              if (verdict.isNew) yield* Operation.atOnce(target.sql, unfenced(target, Events.steps(target, event, window.now)))
              return { held: yield* Judge.hold(target, verdict, result.figures, window.now) }
            }
            // Also without changes if it ends the hold of an earlier one. Before the record, which does that.
            const event = { kind: "snapshotAccepted", code: undefined, detail: undefined, count: result.changed } as const
            const endsHold = ({ sql }: Target) =>
              sql`EXISTS (SELECT 1 FROM snapshot WHERE ${Operation.mine(target)} AND held_since IS NOT NULL)`
            const happened = Events.steps(target, event, window.now, result.changed > 0 ? undefined : endsHold)
            yield* writeAll(target, judged, counts, input, policy, window, [
              ...unfenced(target, happened),
              ...appliedRecord(target, judged, input.unit, digest, incrementOf(verdict), window.now)
            ])
            return result
          }))
        return "held" in applied ? yield* Effect.fail(Judge.failure(policy.guard, applied.held, yield* LedgerCommands)) : applied
      })),
    previewSnapshot: (input, policy) =>
      withStaged(input, { all: Option.none(), rows: input.rows }, policy, (target, judged, counts, window) =>
        Effect.gen(function*(): Effect.fn.Return<SnapshotPreview, Failure> {
          const { result, verdict } = judged
          const held = verdict._tag === "Held"
            ? Option.some(yield* Judge.hold(target, verdict, result.figures, window.now))
            : Option.none()
          yield* writeAll(target, judged, counts, input, policy, window, [
            previewRecord(target, result, input.unit, incrementOf(verdict), window.now)
          ])
          return { ...result, held }
        }))
  }
}
