/** `fleet run` with a real Postgres, a service on a socket and sources in files. Timers are real: the database's clock is. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import * as Streams from "@plaza/cli-kit/Streams"
import { Sandbox } from "@plaza/sandbox"
import * as Postgres from "@plaza/testing/Postgres"
import { ConfigProvider, Context, Data, Duration, Effect, Exit, Layer, Logger, LogLevel, Option, Redacted, Schedule, Scope } from "effect"
import * as Run from "../../src/commands/fleet/Run.js"
import type { FleetSettings } from "../../src/config/FleetSettings.js"
import * as FleetAccounts from "../../src/fleet/FleetAccounts.js"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.js"
import * as FleetMigrations from "../../src/fleet/FleetMigrations.js"
import { FleetRunner } from "../../src/fleet/FleetRunner.js"
import * as OwnershipCluster from "../../src/fleet/OwnershipCluster.js"

interface World {
  readonly url: string
  readonly folder: string
  readonly sandbox: Sandbox.Sandbox["Type"]
  readonly accounts: FleetAccounts.FleetAccounts["Type"]
  readonly database: FleetDatabase.FleetDatabase["Type"]
}

const scope = Effect.runSync(Scope.make())
const keys = new Map<string, string>()
let world: World

beforeAll(() =>
  Effect.runPromise(
    Effect.gen(function*() {
      const { url } = yield* Postgres.scoped
      const context = yield* Layer.build(
        Layer.mergeAll(
          Layer.provideMerge(FleetAccounts.layer, FleetDatabase.layer(Redacted.make(url))),
          Sandbox.layerServer({ port: 0 }),
          NodeContext.layer
        )
      )
      yield* Effect.provide(Effect.zipRight(FleetMigrations.migrate, OwnershipCluster.migrate), context)
      const files = Context.get(context, FileSystem.FileSystem)
      world = {
        url,
        folder: yield* files.makeTempDirectoryScoped(),
        sandbox: Context.get(context, Sandbox.Sandbox),
        accounts: Context.get(context, FleetAccounts.FleetAccounts),
        database: Context.get(context, FleetDatabase.FleetDatabase)
      }
    }).pipe(Scope.extend(scope))
  ), 60_000)
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const write = (id: string, stock: number) =>
  Effect.flatMap(FileSystem.FileSystem, (files) =>
    files.writeFileString(`${world.folder}/${id}.csv`, `productId,stock\n${id}-one,${stock}\n${id}-two,${stock}\n`)).pipe(
      Effect.provide(NodeContext.layer),
      Effect.orDie
    )

/** Stores with two products each, and accounts that read them from a file every second. */
const add = (prefix: string, count: number, stock: number) =>
  Effect.gen(function*() {
    const ids = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
    yield* Effect.forEach(ids, (id) =>
      Effect.gen(function*() {
        const store = yield* world.sandbox.createAccount({ id: `store-${id}` })
        const { apiKey } = yield* world.sandbox.createKey(store.id)
        keys.set(`KEY_${id}`, Redacted.value(apiKey))
        yield* world.sandbox.addFixtures({ products: ["one", "two"].map((name) => ({ id: `${id}-${name}`, accountId: store.id })) })
        yield* write(id, stock)
      }))
    yield* world.accounts.put(ids.map((id) => ({
      id,
      baseUrl: world.sandbox.baseUrl,
      key: { _tag: "Env", name: `KEY_${id}` },
      source: { _tag: "Plain", text: `${world.folder}/${id}.csv` },
      options: { poll: "1s", settle: "0s" }
    })))
    return ids
  })

const settings: FleetSettings = {
  concurrentReads: 8,
  stopWithin: Duration.seconds(10),
  logs: { format: "text", level: LogLevel.None },
  server: Option.none(),
  otlp: Option.none()
}

interface Runner {
  readonly state: FleetRunner["Type"]["state"]
  readonly stop: Effect.Effect<void>
}

const start: Effect.Effect<Runner, unknown, Scope.Scope> = Effect.gen(function*() {
  const own = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  const context = yield* Layer.buildWithScope(Layer.fresh(Run.layer(settings)), own).pipe(
    Effect.provide(Layer.merge(NodeContext.layer, Streams.layerTest({ stdout: [], stderr: [] }))),
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["STOCK_SYNC_FLEET_DATABASE", world.url], ...keys]), { pathDelim: "\0" }))
  )
  return { state: Context.get(context, FleetRunner).state, stop: Scope.close(own, Exit.void) }
})

/** A running worker and the statement may each hold what the other waits for. Postgres then ends one of them. */
const remove = (id: string) =>
  Effect.retry(world.accounts.remove(id), {
    while: (error) => error._tag === "FleetDatabaseError",
    schedule: Schedule.intersect(Schedule.spaced("200 millis"), Schedule.recurs(20))
  })

class NotInTime extends Data.TaggedError("NotInTime")<{ readonly seen: unknown }> {}

/** Waits until a condition holds. */
const until = <E, R>(condition: Effect.Effect<{ readonly holds: boolean; readonly seen: unknown }, E, R>) =>
  condition.pipe(
    Effect.flatMap(({ holds, seen }) => holds ? Effect.void : new NotInTime({ seen })),
    Effect.retry(Schedule.intersect(Schedule.spaced("200 millis"), Schedule.recurs(400)))
  )

const areSent = (ids: ReadonlyArray<string>, stock: number) =>
  Effect.map(world.sandbox.state, ({ products }) => {
    const found = products.filter(({ id }) => ids.some((each) => id.startsWith(`${each}-`)))
    const left = found.filter((product) => product.stock !== stock)
    return { holds: found.length === 2 * ids.length && left.length === 0, seen: left.map(({ id }) => id) }
  })

const quiet = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.scoped(Logger.withMinimumLogLevel(test, LogLevel.None))

describe("runners of one database", () => {
  it.live("share the accounts, and take over those of one that stops", () =>
    quiet(Effect.gen(function*() {
      const ids = yield* add("moved", 12, 5)
      const one = yield* start
      yield* until(areSent(ids, 5))
      const two = yield* start
      yield* until(Effect.map(Effect.all([one.state, two.state]), (states) => ({
        holds: states.every(({ accounts }) => accounts.owned > 0) && states.reduce((all, { accounts }) => all + accounts.owned, 0) === 12,
        seen: states
      })))
      yield* Effect.forEach(ids, (id) => write(id, 6))
      yield* until(areSent(ids, 6))
      yield* one.stop
      yield* Effect.forEach(ids, (id) => write(id, 7))
      yield* until(areSent(ids, 7))
      expect((yield* two.state).accounts).toMatchObject({ owned: 12, failing: 0 })
      const requests = yield* world.sandbox.requests
      expect(requests.filter(({ status }) => status === 429)).toEqual([])
      yield* Effect.forEach(ids, remove)
    })), 120_000)

  it.live("continue after the database has ended all their connections", () =>
    quiet(Effect.gen(function*() {
      const ids = yield* add("cut", 6, 5)
      const one = yield* start
      yield* until(areSent(ids, 5))
      yield* Effect.ignore(world.database.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'plaza%' AND pid <> pg_backend_pid()`)
      yield* Effect.forEach(ids, (id) => write(id, 6))
      yield* until(areSent(ids, 6))
      yield* until(Effect.map(one.state, (state) => ({ holds: state.accounts.failing === 0, seen: state })))
      yield* Effect.forEach(ids, remove)
      yield* until(Effect.map(one.state, (state) => ({ holds: state.accounts.owned === 0, seen: state })))
    })), 120_000)

  it.live("report what keeps an account from working, until it is changed", () =>
    quiet(Effect.gen(function*() {
      const [id = ""] = yield* add("bad", 1, 5)
      const account = yield* world.accounts.get(id)
      yield* world.accounts.put([{ ...FleetAccounts.settingsOf(account), key: { _tag: "Env", name: "NO_SUCH_KEY" } }])
      yield* start
      const problem = Effect.map(world.accounts.get(id), ({ problem }) => problem)
      yield* until(Effect.map(problem, (seen) => ({ holds: seen?.includes("NO_SUCH_KEY") === true, seen })))
      yield* world.accounts.put([FleetAccounts.settingsOf(account)])
      yield* until(areSent([id], 5))
      yield* until(Effect.map(problem, (seen) => ({ holds: seen === null, seen })))
      yield* remove(id)
    })), 120_000)
})
