/** The ownership of shards among runners that meet in a real Postgres. Timers are real: the database's clock is. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, FileSystem, Layer, Redacted, References, Schedule, Scope } from "effect"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import { Ownership } from "../../src/fleet/Ownership.ts"
import * as OwnershipCluster from "../../src/fleet/OwnershipCluster.ts"
import * as MonotonicClock from "../../src/sync/MonotonicClock.ts"
import * as DatabaseProxy from "../support/databaseProxy.ts"
import { eventually } from "../support/eventually.ts"
import { type Fleet, server } from "../support/ledger/fleet.ts"
import * as Program from "../support/program.ts"
import { shared } from "../support/shared.ts"

let fleet: Fleet
shared(server, (built) => {
  fleet = built
})

type Database = FleetDatabase.FleetDatabase["Service"]

interface Runner {
  readonly ownership: Ownership["Service"]
  readonly stop: Effect.Effect<void>
}

const startWith = (database: Database): Effect.Effect<Runner, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const own = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const layer = Layer.provide(Layer.fresh(OwnershipCluster.layer), Layer.succeed(FleetDatabase.FleetDatabase, database))
    const context = yield* Layer.buildWithScope(layer, own)
    return { ownership: Context.get(context, Ownership), stop: Scope.close(own, Exit.void) }
  })
const start = Effect.suspend(() => startWith(fleet.database))

/** A network to the database, and connections over it. */
const behind = (options?: Parameters<typeof DatabaseProxy.start>[1]) =>
  Effect.gen(function*() {
    const network = yield* DatabaseProxy.start(Redacted.value(fleet.url), options)
    const context = yield* Layer.build(Layer.fresh(FleetDatabase.layer(Redacted.make(network.url))))
    return { network, database: Context.get(context, FleetDatabase.FleetDatabase) }
  })

const shares = (runners: ReadonlyArray<Runner>) =>
  Effect.forEach(runners, ({ ownership }) => Effect.map(ownership.owned, (shards) => [...shards.keys()]))

/** Waits until every shard has exactly one owner, and each runner at least some. */
const settled = (...runners: ReadonlyArray<Runner>) =>
  eventually(shares(runners), (all) => {
    const owned = all.flat()
    return owned.length === OwnershipCluster.shards && new Set(owned).size === owned.length && all.every((share) => share.length > 0)
  })

const sessions = Effect.suspend(() =>
  Effect.map(
    fleet.database.sql<{ pid: number }>`SELECT pid FROM pg_stat_activity WHERE application_name = 'plaza-stock-sync fleet ownership'`,
    (rows) => rows.map(({ pid }) => pid)
  )
)

const quiet = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.provideService(Effect.scoped(test), References.MinimumLogLevel, "None")

describe("runners", () => {
  it.live("share the shards, take over those of one that stops, and give a new one its share", () =>
    quiet(Effect.gen(function*() {
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

  it.live("with a distant database, keep the leases of their other shards while they give many to a new runner",
    () =>
      quiet(Effect.gen(function*() {
        // 80 ms there and back.
        const { database, network } = yield* behind({ latency: "40 millis" })
        yield* network.set("slow")
        const one = yield* startWith(database)
        yield* settled(one)
        const before = yield* one.ownership.owned
        const lost = new Set<number>()
        const watching = yield* Effect.forkChild(Effect.repeat(
          Effect.forEach(before,
            ([shard, term]) => Effect.map(one.ownership.holds(shard, term), (holds) => holds ? undefined : lost.add(shard)), {
            discard: true
          }),
          Schedule.spaced("50 millis")
        ))
        const two = yield* startWith(database)
        yield* settled(one, two)
        yield* Fiber.interrupt(watching)
        const kept = yield* one.ownership.owned
        expect(kept.size).toBeGreaterThan(OwnershipCluster.shards / 3)
        expect(kept).toEqual(new Map(Array.from(before).filter(([shard]) => kept.has(shard))))
        expect(Array.from(kept.keys()).filter((shard) => lost.has(shard))).toEqual([])
      })), 60_000)

  it.live("renew their leases, which stay fresh", () =>
    quiet(Effect.gen(function*() {
      const { ownership } = yield* start
      const one = { ownership, stop: Effect.void }
      yield* settled(one)
      const acquiredAt = yield* ownership.renewedAt
      yield* eventually(ownership.renewedAt, (renewedAt) => (renewedAt ?? 0) > (acquiredAt ?? Number.POSITIVE_INFINITY))
      for (const [shard, term] of yield* ownership.owned) {
        expect([shard, yield* ownership.holds(shard, term)]).toEqual([shard, true])
        expect([shard, yield* ownership.holds(shard, term + 1)]).toEqual([shard, false])
      }
      expect(yield* ownership.holds(OwnershipCluster.shards + 1, 1)).toBe(false)
    })), 60_000)

  it.live("agree on the shard of an account", () =>
    quiet(Effect.gen(function*() {
      const [one, two] = [yield* start, yield* start]
      const accounts = ["a", "shop-1", "Ä", "x".repeat(200)]
      const shardsOf = ({ ownership }: Runner) => accounts.map(ownership.shardOf)
      expect(shardsOf(one)).toEqual(shardsOf(two))
      expect(new Set(shardsOf(one)).size).toBeGreaterThan(1)
      for (const shard of shardsOf(one)) {
        expect(shard).toBeGreaterThan(0)
        expect(shard).toBeLessThanOrEqual(OwnershipCluster.shards)
      }
      expect(one.ownership.runner).not.toBe(two.ownership.runner)
    })), 60_000)

  it.live("take no advisory locks, which other programs of the database may use", () =>
    quiet(Effect.gen(function*() {
      yield* settled(yield* start)
      expect(yield* fleet.database.sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`).toEqual([])
    })), 60_000)

  it.live("store no messages, which a slow start would turn into failures", () =>
    quiet(Effect.gen(function*() {
      yield* settled(yield* start)
      const tables = yield* fleet.database.sql<{ name: string }>`
        SELECT tablename AS name FROM pg_tables WHERE tablename LIKE 'cluster%' ORDER BY tablename`
      expect(tables.map(({ name }) => name).filter((name) => !name.includes("migrations"))).toEqual(["cluster_locks", "cluster_runners"])
    })), 60_000)

  it.live("use at most three connections each", () =>
    quiet(Effect.gen(function*() {
      const before = (yield* sessions).length
      const most = { connections: 0 }
      const watching = yield* Effect.forkChild(Effect.repeat(
        Effect.map(sessions, ({ length }) => {
          most.connections = Math.max(most.connections, length - before)
        }),
        Schedule.spaced("5 millis")
      ))
      const [one, two] = [yield* start, yield* start]
      yield* settled(one, two)
      yield* two.stop
      yield* settled(one)
      yield* Fiber.interrupt(watching)
      expect(most.connections).toBeGreaterThan(0)
      expect(most.connections).toBeLessThanOrEqual(2 * FleetDatabase.ownershipConnections)
    })), 60_000)

  it.live("whose network stalls lose their shards, and their sessions, although their connections stay open",
    () =>
      quiet(Effect.gen(function*() {
        const { database, network } = yield* behind()
        const others = yield* sessions
        const stalled = yield* startWith(database)
        yield* settled(stalled)
        const own = Effect.map(sessions, (now) => now.filter((pid) => !others.includes(pid)))
        const before = yield* own
        expect(before.length).toBeGreaterThan(0)
        yield* network.set("stalled")
        const held = yield* stalled.ownership.owned
        const next = yield* start
        // Its own shards are no longer fresh before another runner has them.
        yield* eventually(Effect.map(next.ownership.owned, ({ size }) => size), (size) => size > 0)
        for (const [shard, term] of held) expect([shard, yield* stalled.ownership.holds(shard, term)]).toEqual([shard, false])
        yield* settled(next)
        const left = Effect.map(sessions, (now) => now.filter((pid) => before.includes(pid)))
        yield* eventually(left, (pids) => pids.length === 0)
      })), 60_000)

  it.live("whose connections are lost without a word renew their leases again, and stop", () =>
    quiet(Effect.gen(function*() {
      const { database, network } = yield* behind()
      const one = yield* startWith(database)
      yield* settled(one)
      yield* network.set("forgotten")
      const lostAt = yield* MonotonicClock.now
      yield* eventually(one.ownership.renewedAt, (renewedAt) => (renewedAt ?? 0) > lostAt)
      yield* settled(one)
      yield* network.set("forgotten")
      yield* one.stop
      expect(yield* one.ownership.owned).toEqual(new Map())
    })), 60_000)
})

describe("a runner that is suspended", () => {
  it.live("loses its shards, and gets its share back soon after it continues", () =>
    quiet(Effect.gen(function*() {
      const cwd = yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped())
      const env = { STOCK_SYNC_FLEET_DATABASE: Redacted.value(fleet.url) }
      const [one] = yield* Effect.all([Program.start(["fleet", "run"], { cwd, env }), Program.start(["fleet", "run"], { cwd, env })])
      const { sql } = fleet.database
      /** The locks that hold, of the suspended runner and of the other one. */
      const held = Effect.map(
        sql<{ own: number; other: number }>`SELECT count(*) FILTER (WHERE address LIKE ${`%-${one.pid}-%`}) AS own,
          count(*) FILTER (WHERE address NOT LIKE ${`%-${one.pid}-%`}) AS other
        FROM cluster_locks WHERE acquired_at > now() AT TIME ZONE 'UTC' - interval '6 seconds'`,
        ([row]) => row ?? { own: 0, other: 0 }
      )
      const areShared = ({ other, own }: { readonly own: number; readonly other: number }) =>
        own > 0 && other > 0 && own + other === OwnershipCluster.shards
      yield* eventually(held, areShared)
      yield* one.kill("SIGSTOP")
      yield* eventually(held, ({ other }) => other === OwnershipCluster.shards)
      // So long that its timers have ended when it continues.
      yield* Effect.sleep("5 seconds")
      yield* one.kill("SIGCONT")
      // It looks every second. By default it would look every ten.
      expect(yield* Effect.timeoutOption(eventually(held, areShared), "6 seconds")).toMatchObject({ _tag: "Some" })
      yield* one.kill("SIGTERM")
      expect((yield* one.ended).status).toBe(0)
    })).pipe(Effect.provide(NodeServices.layer)), 90_000)
})
