/**
 * Samples the ledger of a running worker, keeps the last sample and sets the gauges. Requests of the status page and of `/readyz` read the
 * sample, so they cause no load on the ledger.
 */
import * as ClientMetrics from "@plaza/client/Metrics"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
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
import { issuesOf, type Ledger } from "../ledger/Ledger.ts"
import { LedgerCommands } from "../ledger/LedgerCommands.ts"
import type { RowIssue } from "../ledger/Snapshot.ts"
import { disconnect } from "../sync/Disconnect.ts"
import { SyncStatus } from "../sync/SyncStatus.ts"
import { log } from "./EventLogger.ts"
import * as Metrics from "./Metrics.ts"
import * as Status from "./Status.ts"

export class StatusSampler extends Context.Service<StatusSampler, {
  /** The current state of the worker with the last sample of the ledger. */
  readonly status: Effect.Effect<Status.Status>
}>()("@plaza/stock-sync/observability/StatusSampler") {}

const interval = Duration.seconds(10)

// Counting a million products takes a second or more and blocks the process: it gets a twentieth of the time at most.
const pauseFactor = 20n

const first = <A, E>(count: number, stream: Stream.Stream<A, E>, most = Status.maxListed) =>
  count === 0 ? Effect.succeed([]) : Stream.runCollect(Stream.take(stream, most))

// Rows of one product may fill the whole source.
const maxRepeated = 2_000

/** The first row of each product, and all rows without an id. */
const distinct = <E>(rows: Stream.Stream<RowIssue, E>) =>
  Stream.suspend(() => {
    const products = new Set<string>()
    return Stream.filter(
      Stream.take(rows, maxRepeated),
      ({ productId }) => productId === undefined || (!products.has(productId) && products.add(productId).size > 0)
    )
  })

/** Reads from a ledger what the sections of a status page show. */
export const sampleLedger = Effect.fnUntraced(function*(ledger: Ledger["Service"], at: DateTime.Utc) {
  const attention = yield* ledger.attention
  const { counts } = attention
  const { takenAt, unit } = yield* ledger.snapshot
  const sample: Status.LedgerSample = {
    at,
    counts,
    attention,
    backlog: yield* ledger.backlog,
    needing: yield* first(attention.products, ledger.needing, Status.maxNeeding),
    rejectedRows: yield* first(counts.rejectedRows, distinct(ledger.rejectedRows), Status.maxNeeding),
    acceptedAt: takenAt,
    quarantined: yield* first(counts.quarantined, ledger.quarantined),
    uncertain: yield* first(counts.uncertain, ledger.uncertain),
    rowIssues: yield* first(issuesOf(counts), ledger.rowIssues),
    unit,
    heldChanges: yield* Stream.runCollect(Stream.take(ledger.heldChanges, Status.maxHeldChanges))
  }
  return sample
})

const logReleased = (before: Status.LedgerSample | undefined, after: Status.LedgerSample) => {
  const released = (before?.counts.quarantined ?? 0) - after.counts.quarantined
  return released > 0
    ? log("Info", "products.released", { products: released, quarantined: after.counts.quarantined })
    : Effect.void
}

const make = Effect.fnUntraced(function*(settings: Omit<Status.Options, "commands">) {
  const options = { ...settings, commands: yield* LedgerCommands }
  const state = (yield* SyncStatus).state
  const current = yield* CurrentLedger
  const samples = yield* Ref.make(Status.noSamples)
  const status = Effect.gen(function*() {
    return Status.derive(yield* state, yield* Ref.get(samples), yield* DateTime.now, options)
  })

  let nextRead = 0n
  /** Undefined if the ledger fails, or was read too recently. */
  const readLedger = Effect.fnUntraced(
    function*(ledger: Ledger["Service"], now: DateTime.Utc) {
      const start = yield* Clock.monotonicTimeNanos
      if (start < nextRead) return undefined
      const sample = yield* sampleLedger(ledger, now)
      const end = yield* Clock.monotonicTimeNanos
      nextRead = end + (end - start) * pauseFactor
      return sample
    },
    // The worker reports the fault when it uses the ledger next.
    Effect.orElseSucceed(() => undefined)
  )

  const sample = Effect.gen(function*() {
    const now = yield* DateTime.now
    const open = yield* Ref.get(current)
    // A stop does not wait for a ledger that does not respond.
    const read = Option.isSome(open) ? yield* disconnect(readLedger(open.value, now)) : undefined
    const { count } = yield* Metric.value(ClientMetrics.requests)
    const before = yield* Ref.get(samples)
    yield* Ref.set(samples, Status.addSample(before, read, yield* state, count, now))
    yield* Metrics.update(yield* status)
    if (read !== undefined) yield* logReleased(before.ledger, read)
  }).pipe(
    // A defect, such as a ledger that is closed while it is read, must not end the sampling.
    Effect.catchDefect((defect) => Effect.logError("monitor.failed", Cause.die(defect)))
  )

  yield* Metrics.initializeCounters
  yield* Metric.update(Metrics.drift, 0)
  const wakes = yield* Queue.sliding<void>(1)
  yield* Status.observe(({ event }) => {
    if (event._tag === "Reconciled") return Metric.update(Metrics.drift, event.differing)
    // The next sample may wait for a ledger that does not respond.
    if (event._tag === "LedgerChanged") return Effect.flatMap(status, Metrics.update)
    // The page shows a held snapshot at once, not after the next interval.
    return event._tag === "SnapshotHeld" || event._tag === "SnapshotAccepted" ? Queue.offer(wakes, undefined) : Effect.void
  })
  // At once, because `/metrics` and a short run need the gauges too.
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(sample, Effect.timeoutOption(Queue.take(wakes), interval))), {
    startImmediately: true
  })
  return StatusSampler.of({ status })
})

export const layer = (options: Omit<Status.Options, "commands">): Layer.Layer<StatusSampler, never, CurrentLedger | SyncStatus> =>
  Layer.effect(StatusSampler, make(options))
