/**
 * Samples what the accounts of this runner wait for, keeps the last sample and sets the gauges. `/metrics` reads the sample, so a scrape
 * causes no load on the database and has a response without it.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Metrics from "../../observability/Metrics.ts"
import { age } from "../../observability/Status.ts"
import { disconnect } from "../../sync/Disconnect.ts"
import * as MonotonicClock from "../../sync/MonotonicClock.ts"
import { version } from "../../version.ts"
import { FleetDatabase } from "../FleetDatabase.ts"
import type { FleetRunner } from "../FleetRunner.ts"
import * as OwnershipCluster from "../OwnershipCluster.ts"
import * as FleetMetrics from "./FleetMetrics.ts"
import * as FleetReadiness from "./FleetReadiness.ts"
import * as FleetStatus from "./FleetStatus.ts"
import * as RepeatedFailure from "./RepeatedFailure.ts"

export class FleetSampler extends Context.Service<FleetSampler, {
  /** The accounts of this runner with the longest backlogs in the last sample, the longest first; at most {@link maxWorst}. */
  readonly worst: Effect.Effect<ReadonlyArray<FleetStatus.AccountBacklog>>
  /** Sets the gauges that need no database. */
  readonly refresh: Effect.Effect<void>
}>()("@plaza/stock-sync/fleet/operations/FleetSampler") {}

/** The accounts that `/metrics?top=N` can name. */
export const maxWorst = 100

const interval = Duration.seconds(10)
const maxWait = Duration.seconds(30)

// A long backlog takes a second to count: the query gets a twentieth of the time at most.
const pauseFactor = 20

const byState = (gauge: Metric.Gauge<number>, values: Readonly<Record<string, number>>) =>
  Effect.forEach(Object.entries(values), ([state, value]) => Metric.update(Metric.withAttributes(gauge, { state }), value), {
    discard: true
  })

const refresh = Effect.gen(function*() {
  const { now, reasons, state: { accounts, leaseRenewedAt, loop, shards } } = yield* FleetReadiness.current
  const { idle, used, waiting } = yield* Effect.flatMap(FleetDatabase, ({ connections }) => connections)
  const since = (at: MonotonicClock.MonotonicMillis) => Math.max(0, now - at) / 1_000
  yield* Metric.update(Metrics.ready, reasons.length === 0 ? 1 : 0)
  yield* Metric.update(Metric.withAttributes(Metrics.build, { version }), 1)
  yield* Metric.update(FleetMetrics.shards, shards)
  yield* Metric.update(FleetMetrics.configuredShards, OwnershipCluster.shards)
  if (leaseRenewedAt !== undefined) yield* Metric.update(FleetMetrics.leaseAge, since(leaseRenewedAt))
  yield* Metric.update(FleetMetrics.loopAge, since(loop.lastTurnAt))
  yield* Metric.update(FleetMetrics.databaseAge, since(loop.lastReachedAt))
  const { active, failing, owned, reading, waitingToRead } = accounts
  yield* byState(FleetMetrics.runnerAccounts, { owned, active, reading, waiting_to_read: waitingToRead, failing })
  yield* byState(FleetMetrics.poolConnections, { used, idle })
  yield* Metric.update(FleetMetrics.poolWaiting, waiting)
})

const sample = Effect.gen(function*() {
  const { state: { runner } } = yield* FleetReadiness.current
  const backlog = yield* FleetStatus.backlog(Option.some(runner), maxWorst)
  const products = yield* FleetStatus.unsettledCounts(Option.some(runner))
  const { failing, held, paused, pending, running } = yield* FleetStatus.accountCounts
  const alive = (yield* FleetStatus.runners).filter(({ alive }) => alive).length
  const now = yield* DateTime.now
  for (const [priority, count] of Object.entries(backlog.waiting)) {
    yield* Metric.update(Metric.withAttributes(Metrics.backlog, { priority }), count)
  }
  for (const [priority, since] of Object.entries(backlog.longestOfHealthy)) {
    const longest = since === undefined ? 0 : Duration.toSeconds(age(since, now))
    yield* Metric.update(Metric.withAttributes(Metrics.oldestWaiting, { priority }), longest)
  }
  yield* byState(Metrics.products, products)
  yield* byState(FleetMetrics.accounts, { running, paused, pending, failing, held })
  yield* Metric.update(FleetMetrics.runners, alive)
  return backlog.worst
})

export const layer: Layer.Layer<FleetSampler, never, FleetDatabase | FleetRunner> = Layer.effect(
  FleetSampler,
  Effect.gen(function*() {
    const context = yield* Effect.context<FleetDatabase | FleetRunner>()
    const worst = yield* Ref.make<ReadonlyArray<FleetStatus.AccountBacklog>>([])
    const logged = RepeatedFailure.logged("metrics.unsampled")
    const turn = Effect.gen(function*() {
      yield* refresh
      const start = yield* MonotonicClock.now
      yield* sample.pipe(
        Effect.flatMap((found) => Ref.set(worst, found)),
        // A statement that hangs is abandoned.
        disconnect,
        Effect.timeout(maxWait),
        // The gauges of the last sample stay.
        logged
      )
      const end = yield* MonotonicClock.now
      yield* Effect.sleep(Duration.max(interval, Duration.millis((end - start) * pauseFactor)))
    }).pipe(
      // A defect must not end the sampling.
      Effect.catchDefect((defect) => Effect.andThen(Effect.logError("metrics.failed", Cause.die(defect)), Effect.sleep(interval)))
    )
    yield* Metrics.initializeCounters
    yield* Effect.forkScoped(Effect.forever(turn))
    return FleetSampler.of({ worst: Ref.get(worst), refresh: Effect.provideContext(refresh, context) })
  })
)
