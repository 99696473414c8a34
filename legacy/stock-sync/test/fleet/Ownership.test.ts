/** The ownership of shards among runners that meet in a real Postgres. Timers are real: the database's clock is. */
import { describe, expect, it } from "@effect/vitest"
import * as Postgres from "@plaza-legacy/testing/Postgres"
import { Context, Effect, Exit, Layer, Logger, LogLevel, Redacted, Scope } from "effect"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import * as FleetMigrations from "../../src/fleet/FleetMigrations.ts"
import { Ownership } from "../../src/fleet/Ownership.ts"
import * as OwnershipCluster from "../../src/fleet/OwnershipCluster.ts"
import * as MonotonicClock from "../../src/sync/MonotonicClock.ts"
import { eventually } from "../support/eventually.ts"
import * as DatabaseProxy from "../support/failover/DatabaseProxy.ts"
import { shared } from "../support/shared.ts"

const prepared = Effect.gen(function*() {
  const { url } = yield* Postgres.scoped
  const context = yield* Layer.build(FleetDatabase.layer(Redacted.make(url)))
  yield* Effect.provide(Effect.zipRight(FleetMigrations.migrate, OwnershipCluster.migrate), context)
  return Context.get(context, FleetDatabase.FleetDatabase)
})

let database: FleetDatabase.FleetDatabase["Type"]
shared(prepared, (built) => {
  database = built
})

interface Runner {
  readonly ownership: Ownership["Type"]
  readonly stop: Effect.Effect<void>
}

const startWith = (database: FleetDatabase.FleetDatabase["Type"]): Effect.Effect<Runner, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const own = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const context = yield* Layer.buildWithScope(Layer.fresh(OwnershipCluster.layer), own).pipe(
      Effect.provideService(FleetDatabase.FleetDatabase, database)
    )
    return { ownership: Context.get(context, Ownership), stop: Scope.close(own, Exit.void) }
  })
const start = Effect.suspend(() => startWith(database))

const shares = (runners: ReadonlyArray<Runner>) =>
  Effect.forEach(runners, ({ ownership }) => Effect.map(ownership.owned, (shards) => [...shards.keys()]))

/** Waits until every shard has exactly one owner, and each runner at least some. */
const settled = (...runners: ReadonlyArray<Runner>) =>
  eventually(shares(runners), (all) => {
    const owned = all.flat()
    return owned.length === OwnershipCluster.shards && new Set(owned).size === owned.length && all.every((share) => share.length > 0)
  })

describe("runners", () => {
  it.live("share the shards, take over those of one that stops, and give a new one its share", () =>
    Effect.scoped(Effect.gen(function*() {
      const one = yield* start
      yield* settled(one)
      const two = yield* start
      const three = yield* start
      const all = yield* settled(one, two, three)
      for (const share of all) expect(share.length).toBeGreaterThan(OwnershipCluster.shards / 3 * 0.8)
      yield* one.stop
      yield* settled(two, three)
      expect(yield* one.ownership.owned).toEqual(new Map())
      yield* settled(two, three, yield* start)
    })), 60_000)

  it.live("with a distant database, keep their other shards while they give many to a new runner",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const network = yield* DatabaseProxy.start(Redacted.value(database.url), { latency: "15 millis" })
        const distant = Context.get(yield* Layer.build(FleetDatabase.layer(Redacted.make(network.url))), FleetDatabase.FleetDatabase)
        yield* network.set("slow")
        const one = yield* startWith(distant)
        yield* settled(one)
        const before = yield* one.ownership.owned
        const two = yield* startWith(distant)
        yield* settled(one, two)
        const kept = yield* one.ownership.owned
        expect(kept).toEqual(new Map(Array.from(before).filter(([shard]) => kept.has(shard))))
      })), 60_000)

  it.live("renew their leases", () =>
    Effect.scoped(Effect.gen(function*() {
      const one = yield* start
      yield* settled(one)
      const acquiredAt = yield* one.ownership.renewedAt
      yield* eventually(one.ownership.renewedAt, (renewedAt) => (renewedAt ?? 0) > (acquiredAt ?? Number.POSITIVE_INFINITY))
    })), 60_000)

  it.live("agree on the shard of an account", () =>
    Effect.scoped(Effect.gen(function*() {
      const [one, two] = [yield* start, yield* start]
      for (const account of ["a", "shop-1", "Ä", "x".repeat(200)]) {
        expect(one.ownership.shardOf(account)).toBe(two.ownership.shardOf(account))
        expect(one.ownership.shardOf(account)).toBeGreaterThan(0)
        expect(one.ownership.shardOf(account)).toBeLessThanOrEqual(OwnershipCluster.shards)
      }
      expect(one.ownership.runner).not.toBe(two.ownership.runner)
    })), 60_000)

  it.live("take no advisory locks, which other programs of the database may use", () =>
    Effect.scoped(Effect.gen(function*() {
      yield* settled(yield* start)
      const { sql } = database
      expect(yield* sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`).toEqual([])
    })), 60_000)

  it.live("store no messages, which a slow start would turn into failures", () =>
    Effect.scoped(Effect.gen(function*() {
      yield* settled(yield* start)
      const tables = yield* database.sql<{ name: string }>`
        SELECT tablename AS name FROM pg_tables WHERE tablename LIKE 'cluster%' ORDER BY tablename`
      expect(tables.map(({ name }) => name)).toEqual(["cluster_locks", "cluster_runners"])
    })), 60_000)

  it.live("that are frozen lose their shards, and their sessions, although their connections stay open",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const network = yield* DatabaseProxy.start(Redacted.value(database.url))
        const own = Context.get(yield* Layer.build(FleetDatabase.layer(Redacted.make(network.url))), FleetDatabase.FleetDatabase)
        const frozen = yield* startWith(own)
        yield* settled(frozen)
        const sessions = Effect.map(
          database.sql<{ pid: number }>`SELECT pid FROM pg_stat_activity WHERE application_name = 'plaza-stock-sync fleet ownership'`,
          (rows) => rows.map(({ pid }) => pid)
        )
        const before = yield* sessions
        expect(before.length).toBeGreaterThan(0)
        yield* network.set("stalled")
        const next = yield* start
        yield* settled(next)
        const left = Effect.map(sessions, (now) => now.filter((pid) => before.includes(pid)))
        yield* eventually(left, (pids) => pids.length === 0)
      })).pipe(Logger.withMinimumLogLevel(LogLevel.None)), 60_000)

  it.live("whose connections are lost without a word renew their leases again, and stop", () =>
    Effect.scoped(Effect.gen(function*() {
      const network = yield* DatabaseProxy.start(Redacted.value(database.url))
      const own = Context.get(yield* Layer.build(FleetDatabase.layer(Redacted.make(network.url))), FleetDatabase.FleetDatabase)
      const one = yield* startWith(own)
      yield* settled(one)
      yield* network.set("forgotten")
      const lostAt = yield* MonotonicClock.now
      yield* eventually(one.ownership.renewedAt, (renewedAt) => (renewedAt ?? 0) > lostAt)
      yield* settled(one)
      yield* network.set("forgotten")
      yield* one.stop
      expect(yield* one.ownership.owned).toEqual(new Map())
    })).pipe(Logger.withMinimumLogLevel(LogLevel.None)), 60_000)
})
