/**
 * Reads the source and applies its snapshots: at the start, after each change of the source, some time after a failure, and once a
 * held snapshot is confirmed. After a failure the wanted stock stays unchanged.
 */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { Ledger } from "../ledger/Ledger.ts"
import type { LedgerFault, SnapshotHeld } from "../ledger/LedgerError.ts"
import type { SnapshotPolicy } from "../ledger/Snapshot.ts"
import { isSettling, type Snapshot, Source, type SourceFailure } from "../source/Source.ts"
import * as Backoff from "./Backoff.ts"
import { DispatchSignal } from "./DispatchSignal.ts"
import * as FailureEvent from "./FailureEvent.ts"
import * as MonotonicClock from "./MonotonicClock.ts"
import { SyncStatus } from "./SyncStatus.ts"

export class SnapshotIngest extends Context.Service<SnapshotIngest, {
  /** Reads the source once. */
  readonly ingest: Effect.Effect<void, LedgerFault | SnapshotHeld | SourceFailure, Ledger>
  /**
   * Reads the source once, if it has changed or a held snapshot was confirmed. Publishes its failures. The ledger is not used for an
   * unchanged source without a held snapshot. Returns whether a snapshot with other rows than the last one was applied.
   */
  readonly poll: Effect.Effect<boolean, LedgerFault, Ledger>
  /**
   * Reads the source until the ledger fails, the first time now or when it is due again. Skips a version that was applied or held
   * before, also with an earlier opening of the ledger, unless the ledger no longer has that snapshot.
   */
  readonly run: (first: "now" | "later") => Effect.Effect<never, LedgerFault, Ledger>
  readonly progress: Effect.Effect<Progress>
}>()("@plaza/stock-sync/sync/SnapshotIngest") {}

const backoff: Backoff.Backoff = { first: Duration.seconds(2), longest: Duration.minutes(1) }
// Another process confirms a held snapshot or restores an earlier one in the ledger, which gives no signal.
const ledgerPollInterval = Duration.seconds(5)

/** What is known of the source. */
export interface Progress {
  /** The version of the source that was last applied or held. */
  readonly version: Option.Option<string>
  /** Identifies the ledger's snapshot of that version. A ledger that was removed or restored has another one. */
  readonly ledgerSnapshot: string | undefined
  /** Failures since the source was last read. */
  readonly failures: number
  /** When to read it again by the last attempt, if that says so. */
  readonly retryAt: MonotonicClock.MonotonicMillis | undefined
  /** Not before this time by the server of the source, whatever else asks for a read. */
  readonly notBefore: MonotonicClock.MonotonicMillis | undefined
  /** When it was last read, or its reading failed. */
  readonly triedAt: MonotonicClock.MonotonicMillis | undefined
}

export const unread: Progress = {
  version: Option.none(),
  ledgerSnapshot: undefined,
  failures: 0,
  retryAt: undefined,
  notBefore: undefined,
  triedAt: undefined
}

/** A source is read at least so often, however long its server asks to wait. */
const longestServerWait = Duration.toMillis("1 hour")

/** The times that a failure names: that of a file, which may change earlier, or that of a server, which may refuse who comes earlier. */
const timesOf = (failure: SourceFailure): Effect.Effect<Pick<Progress, "notBefore" | "retryAt">> =>
  Effect.zipWith(retryAtOf(failure), MonotonicClock.now, (retryAt, now) =>
    failure._tag === "SourceError" || retryAt === undefined || failure.isUnfinished === true || isSettling(failure)
      ? { retryAt, notBefore: undefined }
      : { retryAt: undefined, notBefore: Math.min(retryAt, now + longestServerWait) })

/** When a failed or settling source says that it is to be read again. */
export const retryAtOf = (failure: SourceFailure): Effect.Effect<MonotonicClock.MonotonicMillis | undefined> =>
  Effect.zipWith(DateTime.now, MonotonicClock.now, (wall, now) =>
    failure._tag === "SourceError" || failure.retryAt === undefined
      ? undefined
      : now + DateTime.toEpochMillis(failure.retryAt) - DateTime.toEpochMillis(wall))

/** When to read the source again after a failure, or once its file has settled; infinite if it was read. */
export const nextTry = (
  { failures, notBefore = Number.NEGATIVE_INFINITY, retryAt = Infinity }: Progress
): Effect.Effect<MonotonicClock.MonotonicMillis> =>
  failures === 0
    ? Effect.succeed(retryAt)
    : Effect.zipWith(Backoff.delay(backoff, failures), MonotonicClock.now,
      (delay, now) => Math.max(notBefore, Math.min(retryAt, now + Duration.toMillis(delay))))

const snapshotIdentity = Effect.gen(function*() {
  const ledger = yield* Ledger
  const { held, reverted, takenAt } = yield* ledger.snapshot
  const millis = (at: DateTime.Utc | undefined) => at === undefined ? "" : DateTime.toEpochMillis(at)
  return `${millis(takenAt)}/${millis(Option.getOrUndefined(held)?.at)}/${millis(reverted?.at)}`
})

const isConfirmed = Effect.gen(function*() {
  const ledger = yield* Ledger
  const { held } = yield* ledger.snapshot
  return Option.exists(held, ({ confirmed }) => confirmed)
})

export const make = (
  policy: SnapshotPolicy,
  earlier: Progress
): Effect.Effect<SnapshotIngest["Service"], never, DispatchSignal | Source | SyncStatus> =>
  Effect.gen(function*() {
    const signal = yield* DispatchSignal
    const source = yield* Source
    const status = yield* SyncStatus
    const progress = yield* Ref.make(earlier)
    // A source that is polled more often than the ledger must not put its check off.
    const checkedAt = yield* Ref.make(yield* MonotonicClock.now)
    const update = (change: Partial<Progress>) => Ref.update(progress, (before) => ({ ...before, ...change }))

    const recordVersion = (version: Option.Option<string>) =>
      Effect.flatMap(snapshotIdentity, (ledgerSnapshot) => update({ version, ledgerSnapshot }))

    const applySnapshot = Effect.fn("StockSync.applySnapshot")(function*({ rows, version, ...snapshot }: Snapshot) {
      const ledger = yield* Ledger
      const count = yield* Ref.make(0)
      const counted = Stream.mapArrayEffect(rows, (chunk) => Effect.as(Ref.update(count, (before) => before + chunk.length), chunk))
      const result = yield* ledger.applySnapshot({ ...snapshot, source: source.name, rows: counted }, policy).pipe(
        Effect.tapErrorTag("SnapshotHeld", (failure) =>
          Effect.gen(function*() {
            yield* recordVersion(version)
            const event = yield* FailureEvent.make("source", failure)
            yield* status.publish({ _tag: "SnapshotHeld", rows: yield* Ref.get(count), held: failure.held, failure: event })
          }))
      )
      yield* recordVersion(version)
      const total = yield* Ref.get(count)
      yield* Effect.annotateCurrentSpan({ "stock_sync.rows": total, "stock_sync.rows.changed": result.changed })
      yield* status.publish({ _tag: "SnapshotAccepted", rows: total, result })
      return result.repeated !== true
    })

    const publishFailure = Effect.fnUntraced(function*(failure: SourceFailure) {
      yield* update(yield* timesOf(failure))
      if (isSettling(failure)) return
      const event = yield* FailureEvent.make("source", failure)
      yield* Ref.update(progress, (before) => ({ ...before, failures: before.failures + 1 }))
      yield* status.publish({ _tag: "SourceFailed", failure: event })
    })

    const ingest = Effect.scoped(Effect.gen(function*() {
      yield* update({ retryAt: undefined, notBefore: undefined })
      const snapshot = yield* source.open((yield* Ref.get(progress)).version)
      return yield* Option.match(snapshot, {
        onNone: () => Effect.as(status.publish({ _tag: "SourceUnchanged" }), false),
        onSome: applySnapshot
      })
    })).pipe(
      Effect.tap(() => update({ failures: 0 })),
      Effect.tapErrorTag("SnapshotHeld", () => update({ failures: 0 })),
      Effect.tapErrorTag("SourceError", publishFailure),
      Effect.tapErrorTag("SourceUnreachable", publishFailure),
      Effect.ensuring(Effect.flatMap(MonotonicClock.now, (triedAt) => update({ triedAt }))),
      signal.during
    )

    const poll = Effect.gen(function*() {
      // A confirmed snapshot is read again although the source has not changed.
      if ((yield* status.state).source.held !== undefined && (yield* isConfirmed)) yield* update({ version: Option.none() })
      const none = () => Effect.succeed(false)
      return yield* Effect.catchTags(ingest, { SnapshotHeld: none, SourceError: none, SourceUnreachable: none })
    })

    /** Another process has confirmed the held snapshot, or has restored the stock of an earlier one. */
    const isLedgerChanged = Effect.gen(function*() {
      const { ledgerSnapshot } = yield* Ref.get(progress)
      return ledgerSnapshot !== undefined && (ledgerSnapshot !== (yield* snapshotIdentity) || (yield* isConfirmed))
    })

    /** Waits until the source changes, is to be tried again, or another process has changed the ledger's snapshot. */
    const awaitNext = (changes: Queue.Dequeue<void>): Effect.Effect<void, LedgerFault, Ledger> =>
      Effect.gen(function*() {
        const { notBefore = Number.NEGATIVE_INFINITY } = yield* Ref.get(progress)
        const asked = notBefore - (yield* MonotonicClock.now)
        if (asked > 0) {
          yield* Effect.sleep(Math.ceil(asked))
          return yield* Effect.asVoid(Queue.clear(changes))
        }
        const wait = (yield* nextTry(yield* Ref.get(progress))) - (yield* MonotonicClock.now)
        if (wait < Infinity) return yield* Effect.asVoid(Effect.timeoutOption(Queue.take(changes), Math.max(0, Math.ceil(wait))))
        const sinceCheck = (yield* MonotonicClock.now) - (yield* Ref.get(checkedAt))
        const untilCheck = Math.max(0, Math.ceil(Duration.toMillis(ledgerPollInterval) - sinceCheck))
        const changed = yield* Effect.timeoutOption(Queue.take(changes), untilCheck)
        if (Option.isSome(changed)) return
        yield* Ref.set(checkedAt, yield* MonotonicClock.now)
        if (yield* isLedgerChanged) return yield* update({ version: Option.none() })
        yield* awaitNext(changes)
      })

    const first = Effect.gen(function*() {
      const { ledgerSnapshot } = yield* Ref.get(progress)
      if (ledgerSnapshot !== (yield* snapshotIdentity)) yield* update({ version: Option.none() })
      return yield* poll
    })

    const run = (when: "now" | "later") =>
      Effect.scoped(Effect.gen(function*() {
        const changes = yield* Queue.sliding<void>(1)
        yield* Effect.forkScoped(Stream.runForEach(source.changes, () => Queue.offer(changes, undefined)))
        if (when === "now") yield* signal.during(first)
        return yield* Effect.forever(Effect.andThen(awaitNext(changes), poll))
      }))

    return { ingest: Effect.asVoid(ingest), poll, run, progress: Ref.get(progress) }
  })
