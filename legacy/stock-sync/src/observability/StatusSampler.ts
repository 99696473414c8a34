/**
 * Samples the state of a running worker and its ledger, keeps the last sample and sets the gauges. Requests of the status page and of
 * `/readyz` read the sample, so they cause no load on the ledger.
 */
import { Metrics as ClientMetrics } from "@plaza-legacy/client"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { CurrentLedger } from "../ledger/CurrentLedger.ts"
import type { Entry } from "../ledger/Entry.ts"
import type { Backlog, Counts, Ledger } from "../ledger/Ledger.ts"
import type { LedgerFault } from "../ledger/LedgerError.ts"
import type { HeldChange, RowIssue } from "../ledger/Snapshot.ts"
import type { Unit } from "../source/Source.ts"
import * as MonotonicClock from "../sync/MonotonicClock.ts"
import { outcomes, type State, SyncStatus } from "../sync/SyncStatus.ts"
import * as Gauges from "./Gauges.ts"
import * as History from "./History.ts"
import * as Metrics from "./Metrics.ts"
import * as Readiness from "./Readiness.ts"

/** Data of the ledger at one moment. */
export interface LedgerSample {
  readonly at: DateTime.Utc
  readonly backlog: Backlog
  readonly counts: Counts
  /** At most {@link maxListed}. */
  readonly quarantined: ReadonlyArray<Entry>
  /** At most {@link maxListed}. */
  readonly uncertain: ReadonlyArray<Entry>
  /** At most {@link maxListed}. */
  readonly rowIssues: ReadonlyArray<RowIssue>
  /** The unit of the positions of `rowIssues`. */
  readonly unit: Unit
  /** At most {@link maxHeldChanges}. */
  readonly heldChanges: ReadonlyArray<HeldChange>
}

export interface StatusSnapshot {
  readonly now: DateTime.Utc
  readonly state: State
  /** Why the worker is not ready; empty if it is ready. */
  readonly reasons: ReadonlyArray<Readiness.Reason>
  /** Undefined before the ledger was first open. */
  readonly ledger: LedgerSample | undefined
  /** Requests in the last window of the rate limit, as far as the history reaches. */
  readonly rateInUse: number
  readonly history: History.History
}

export interface Options {
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  /** The age at which the source counts as stale; undefined if it is read once. */
  readonly sourceStaleAfter: Duration.Duration | undefined
}

export class StatusSampler extends Context.Tag("@plaza/stock-sync/StatusSampler")<StatusSampler, {
  /** The current state of the worker with the last sample of the ledger. */
  readonly snapshot: Effect.Effect<StatusSnapshot>
}>() {}

/** The number of products and of rows that the status page lists. */
export const maxListed = 50

/** The number of changes of a held snapshot that the status page lists. */
export const maxHeldChanges = 500

const interval = Duration.seconds(10)

// Counting a million products takes a second or more and blocks the process: it gets a twentieth of the time at most.
const pauseFactor = 20

const first = <A, E>(count: number, stream: Stream.Stream<A, E>) =>
  count === 0 ? Effect.succeed([]) : Effect.map(Stream.runCollect(Stream.take(stream, maxListed)), Chunk.toReadonlyArray)

/** Reads from a ledger what the sections of a status page show. */
export const sampleLedger = (ledger: Ledger["Type"], at: DateTime.Utc): Effect.Effect<LedgerSample, LedgerFault> =>
  Effect.gen(function*() {
    const counts = yield* ledger.counts
    return {
      at,
      counts,
      backlog: yield* ledger.backlog,
      quarantined: yield* first(counts.quarantined, ledger.quarantined),
      uncertain: yield* first(counts.uncertain, ledger.uncertain),
      rowIssues: yield* first(counts.rejectedRows + counts.negativeRows, ledger.rowIssues),
      unit: (yield* ledger.snapshot).unit,
      heldChanges: Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(ledger.heldChanges, maxHeldChanges)))
    }
  })

const waitingIn = ({ backlog }: LedgerSample): number => Object.values(backlog.waiting).reduce((sum, each) => sum + each, 0)

const logReleased = (before: LedgerSample | undefined, after: LedgerSample) => {
  const released = (before?.counts.quarantined ?? 0) - after.counts.quarantined
  return released > 0
    ? Effect.annotateLogs(Effect.logInfo("products.released"), { products: released, quarantined: after.counts.quarantined })
    : Effect.void
}

export const layer = (options: Options): Layer.Layer<StatusSampler, never, CurrentLedger | SyncStatus> =>
  Layer.scoped(
    StatusSampler,
    Effect.gen(function*() {
      const status = yield* SyncStatus
      const current = yield* CurrentLedger
      const last = yield* Ref.make<Pick<StatusSnapshot, "ledger" | "history" | "rateInUse">>({
        ledger: undefined,
        history: [],
        rateInUse: 0
      })

      const snapshot = Effect.gen(function*() {
        const now = yield* DateTime.now
        const state = yield* status.state
        return { ...yield* Ref.get(last), now, state, reasons: Readiness.reasons(state, now, options.sourceStaleAfter) }
      })

      let nextRead = -Infinity
      /** Undefined if the ledger fails, or was read too recently. */
      const readLedger = (ledger: Ledger["Type"], now: DateTime.Utc) =>
        Effect.gen(function*() {
          const start = yield* MonotonicClock.now
          if (start < nextRead) return undefined
          const sample = yield* sampleLedger(ledger, now)
          const end = yield* MonotonicClock.now
          nextRead = end + (end - start) * pauseFactor
          return sample
        }).pipe(
          // The worker reports the fault when it uses the ledger next.
          Effect.catchTag("LedgerFault", () => Effect.succeed(undefined)),
          // A stop does not wait for a ledger that does not respond.
          Effect.disconnect
        )

      const sample = Effect.gen(function*() {
        const now = yield* DateTime.now
        const millis = DateTime.toEpochMillis(now)
        const before = yield* Ref.get(last)
        const { sends } = yield* status.state
        const open = yield* Ref.get(current)
        const read = Option.isSome(open) ? yield* readLedger(open.value, now) : undefined
        const ledger = read ?? before.ledger
        const requests = (yield* Metric.value(ClientMetrics.requests)).count
        const history = ledger === undefined ? before.history : History.add(before.history, {
          at: millis,
          backlog: waitingIn(ledger),
          sends: outcomes.reduce((sum, outcome) => sum + sends[outcome].count, 0),
          requests
        })
        const rateInUse = History.requestsSince(history, millis - Duration.toMillis(options.rateWindow))
        yield* Ref.set(last, { ledger, history, rateInUse })
        yield* Gauges.update(yield* snapshot, options)
        if (read !== undefined) yield* logReleased(before.ledger, read)
      }).pipe(
        // A defect, such as a ledger that is closed while it is read, must not end the sampling.
        Effect.catchAllDefect((defect) => Effect.logError("monitor.failed", Cause.die(defect)))
      )

      yield* Gauges.initializeCounters
      yield* Metric.set(Metrics.drift, 0)
      // The page shows a held snapshot at once, not after the next interval.
      const events = yield* status.subscribe
      const wakes = yield* Queue.sliding<void>(1)
      yield* Effect.forkScoped(
        Effect.forever(Effect.flatMap(Queue.take(events), (event) => {
          if (event._tag === "Reconciled") return Metric.set(Metrics.drift, event.differing)
          return event._tag === "SnapshotHeld" || event._tag === "SnapshotAccepted" ? Queue.offer(wakes, undefined) : Effect.void
        }))
      )
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(sample, Effect.timeoutOption(Queue.take(wakes), interval))))
      return { snapshot }
    })
  )
