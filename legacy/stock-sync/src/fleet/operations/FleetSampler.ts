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
import * as Gauges from "../../observability/Gauges.ts"
import * as Metrics from "../../observability/Metrics.ts"
import * as MonotonicClock from "../../sync/MonotonicClock.ts"
import { version } from "../../version.ts"
import { FleetDatabase } from "../FleetDatabase.ts"
import type { FleetRunner } from "../FleetRunner.ts"
import * as OwnershipCluster from "../OwnershipCluster.ts"
import * as FleetMetrics from "./FleetMetrics.ts"
import * as FleetReadiness from "./FleetReadiness.ts"
import * as FleetStatus from "./FleetStatus.ts"
import * as RepeatedFailure from "./RepeatedFailure.ts"

export class FleetSampler extends Context.Tag("@plaza/stock-sync/fleet/operations/FleetSampler")<FleetSampler, {
  /** The accounts of this runner with the longest backlogs in the last sample, the longest first; at most {@link maxWorst}. */
  readonly worst: Effect.Effect<ReadonlyArray<FleetStatus.AccountBacklog>>
  /** Sets the gauges that need no database. */
  readonly refresh: Effect.Effect<void>
}>() {}

/** The accounts that `/metrics?top=N` can name. */
export const maxWorst = 100

const interval = Duration.seconds(10)
const maxWait = Duration.seconds(30)

// A long backlog takes a second to count: the query gets a twentieth of the time at most.
const pauseFactor = 20

const set = (gauge: Metric.Metric.Gauge<number>, values: Readonly<Record<string, number>>, label: string) =>
  Effect.forEach(Object.entries(values), ([name, value]) => Metric.set(Metric.tagged(gauge, label, name), value), { discard: true })

const seconds = (millis: number) => Math.max(0, millis) / 1_000

const refresh = Effect.gen(function*() {
  const { now, reasons, state: { accounts, leaseRenewedAt, loop, shards } } = yield* FleetReadiness.current
  const { pool } = yield* FleetDatabase
  yield* Metric.set(Metrics.ready, reasons.length === 0 ? 1 : 0)
  yield* Metric.set(Metric.tagged(Metrics.build, "version", version), 1)
  yield* Metric.set(FleetMetrics.shards, shards)
  yield* Metric.set(FleetMetrics.configuredShards, OwnershipCluster.shards)
  if (leaseRenewedAt !== undefined) yield* Metric.set(FleetMetrics.leaseAge, seconds(now - leaseRenewedAt))
  yield* Metric.set(FleetMetrics.loopAge, seconds(now - loop.lastTurnAt))
  yield* Metric.set(FleetMetrics.databaseAge, seconds(now - loop.lastReachedAt))
  const { active, failing, owned, reading, waitingToRead } = accounts
  yield* set(FleetMetrics.runnerAccounts, { owned, active, reading, waiting_to_read: waitingToRead, failing }, "state")
  yield* set(FleetMetrics.poolConnections, { used: pool.totalCount - pool.idleCount, idle: pool.idleCount }, "state")
  yield* Metric.set(FleetMetrics.poolWaiting, pool.waitingCount)
})

const sample = Effect.gen(function*() {
  const { state: { runner } } = yield* FleetReadiness.current
  const backlog = yield* FleetStatus.backlog(Option.some(runner), maxWorst)
  const products = yield* FleetStatus.unsettledCounts(Option.some(runner))
  const { failing, held, paused, pending, running } = yield* FleetStatus.accountCounts
  const alive = (yield* FleetStatus.runners).filter(({ alive }) => alive).length
  const now = yield* DateTime.now
  yield* set(Metrics.backlog, backlog.waiting, "priority")
  for (const [priority, since] of Object.entries(backlog.longestOfHealthy)) {
    const age = since === undefined ? 0 : seconds(DateTime.distance(since, now))
    yield* Metric.set(Metric.tagged(Metrics.oldestWaiting, "priority", priority), age)
  }
  yield* set(Metrics.products, { ...products }, "state")
  yield* set(FleetMetrics.accounts, { running, paused, pending, failing, held }, "state")
  yield* Metric.set(FleetMetrics.runners, alive)
  return backlog.worst
})

export const layer: Layer.Layer<FleetSampler, never, FleetDatabase | FleetRunner> = Layer.scoped(
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
        Effect.disconnect,
        Effect.timeout(maxWait),
        // The gauges of the last sample stay.
        logged
      )
      const end = yield* MonotonicClock.now
      yield* Effect.sleep(Duration.max(interval, Duration.millis((end - start) * pauseFactor)))
    }).pipe(
      // A defect must not end the sampling.
      Effect.catchAllDefect((defect) => Effect.zipRight(Effect.logError("metrics.failed", Cause.die(defect)), Effect.sleep(interval)))
    )
    yield* Gauges.initializeCounters
    yield* Effect.forkScoped(Effect.forever(turn))
    return { worst: Ref.get(worst), refresh: Effect.provide(refresh, context) }
  })
)
