/** `fleet run` with a real Postgres, a service on a socket and sources in files. Timers are real: the database's clock is. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as Streams from "@plaza/cli-kit/Streams"
import { Sandbox } from "@plaza/sandbox"
import * as Postgres from "@plaza/testing/Postgres"
import {
  ConfigProvider,
  Context,
  Deferred,
  Duration,
  Effect,
  Exit,
  Fiber,
  FileSystem,
  Layer,
  Redacted,
  References,
  Scope,
  Stream
} from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Run from "../../src/commands/fleet/Run.ts"
import * as FleetAccounts from "../../src/fleet/FleetAccounts.ts"
import { FleetRunner } from "../../src/fleet/FleetRunner.ts"
import * as DatabaseProxy from "../support/databaseProxy.ts"
import { eventually } from "../support/eventually.ts"
import { beside, prepared } from "../support/ledger/fleet.ts"
import * as Program from "../support/program.ts"
import { shared } from "../support/shared.ts"

const built = Effect.gen(function*() {
  const { url } = yield* Postgres.scoped
  const { accounts, database } = yield* prepared(Redacted.make(url))
  const context = yield* Layer.build(Layer.merge(Sandbox.layerServer(), NodeServices.layer))
  return {
    url,
    folder: yield* Context.get(context, FileSystem.FileSystem).makeTempDirectoryScoped(),
    sandbox: Context.get(context, Sandbox.Sandbox),
    accounts,
    database
  }
})

const keys: Record<string, string> = {}
const keyIds: Record<string, string> = {}
let world: Effect.Success<typeof built>
shared(built, (resource) => {
  world = resource
})

const write = (id: string, stock: number) =>
  Effect.flatMap(FileSystem.FileSystem, (files) =>
    files.writeFileString(`${world.folder}/${id}.csv`, `productId,stock\n${id}-one,${stock}\n${id}-two,${stock}\n`)).pipe(
      Effect.provide(NodeServices.layer),
      Effect.orDie
    )

/** Stores with two products each, and accounts that read them from a file every second. */
const add = (prefix: string, count: number, stock: number) =>
  Effect.gen(function*() {
    const ids = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
    yield* Effect.forEach(ids, (id) =>
      Effect.gen(function*() {
        const store = yield* world.sandbox.createAccount({ id: `store-${id}` })
        const key = yield* world.sandbox.createKey(store.id)
        keys[`KEY_${id}`] = Redacted.value(key.apiKey)
        keyIds[id] = key.id
        yield* world.sandbox.addFixtures({ products: ["one", "two"].map((name) => ({ id: `${id}-${name}`, accountId: store.id })) })
        yield* write(id, stock)
      }))
    yield* world.accounts.putAll(Stream.map(Stream.fromIterable(ids), (id) => ({
      id,
      baseUrl: world.sandbox.baseUrl,
      key: { _tag: "Env", name: `KEY_${id}` },
      source: { _tag: "Plain", text: `${world.folder}/${id}.csv` },
      options: { poll: "1s", settle: "0s" }
    })))
    return ids
  })

interface Runner {
  readonly state: FleetRunner["Service"]["state"]
  readonly stop: Effect.Effect<void>
}

const start: Effect.Effect<Runner, unknown, Scope.Scope> = Effect.gen(function*() {
  const own = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
  const layer = Run.layer({ concurrentReads: 8, stopWithin: Duration.seconds(10) })
  const context = yield* Layer.buildWithScope(Layer.fresh(layer), own).pipe(
    Effect.provide(Layer.merge(NodeServices.layer, Streams.layerTest({ stdout: [], stderr: [] }))),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { STOCK_SYNC_FLEET_DATABASE: world.url, ...keys } })
    )
  )
  return { state: Context.get(context, FleetRunner).state, stop: Scope.close(own, Exit.void) }
})

/** Waits until both products of each account have this stock. */
const sent = (ids: ReadonlyArray<string>, stock: number) =>
  eventually(
    Effect.map(world.sandbox.state, ({ products }) => products.filter(({ id }) => ids.some((each) => id.startsWith(`${each}-`)))),
    (products) => products.length === 2 * ids.length && products.every((product) => product.stock === stock)
  )

/** Runs an effect while another program has run a statement in a transaction that it has not committed yet. */
const whileLocked = <A, E, R>(statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError>, use: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const sql = yield* beside({ url: Redacted.make(world.url) })
    const locked = yield* Deferred.make<void>()
    const done = yield* Deferred.make<void>()
    const holder = yield* Effect.forkChild(sql.withTransaction(
      Effect.andThen(statement(sql), Effect.andThen(Deferred.succeed(locked, undefined), Deferred.await(done)))
    ))
    yield* Deferred.await(locked)
    const result = yield* Effect.ensuring(use, Deferred.succeed(done, undefined))
    yield* Fiber.join(holder)
    return result
  })

const quiet = <A, E, R>(test: Effect.Effect<A, E, R>) => Effect.provideService(Effect.scoped(test), References.MinimumLogLevel, "None")

describe("runners of one database", () => {
  it.live("share the accounts, and take over those of one that stops", () =>
    quiet(Effect.gen(function*() {
      const ids = yield* add("moved", 12, 5)
      const one = yield* start
      yield* sent(ids, 5)
      const two = yield* start
      yield* eventually(Effect.all([one.state, two.state]), (states) =>
        states.every(({ accounts }) => accounts.owned > 0) && states.reduce((all, { accounts }) => all + accounts.owned, 0) === 12)
      yield* Effect.forEach(ids, (id) => write(id, 6))
      yield* sent(ids, 6)
      yield* one.stop
      yield* Effect.forEach(ids, (id) => write(id, 7))
      yield* sent(ids, 7)
      expect((yield* two.state).accounts).toMatchObject({ owned: 12, failing: 0 })
      const requests = yield* world.sandbox.requests
      expect(requests.filter(({ status }) => status === 429)).toEqual([])
      yield* Effect.forEach(ids, world.accounts.remove)
    })), 120_000)

  it.live("continue after the database has ended all their connections", () =>
    quiet(Effect.gen(function*() {
      const ids = yield* add("cut", 6, 5)
      const one = yield* start
      yield* sent(ids, 5)
      yield* Effect.ignore(world.database.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'plaza%' AND pid <> pg_backend_pid()`)
      yield* Effect.forEach(ids, (id) => write(id, 6))
      yield* sent(ids, 6)
      yield* eventually(one.state, ({ accounts }) => accounts.failing === 0)
      yield* Effect.forEach(ids, world.accounts.remove)
      yield* eventually(one.state, ({ accounts }) => accounts.owned === 0)
    })), 120_000)

  // Two runners that start together take the same accounts over one after the other, before either has read them.
  it.live("prepare the ledger of an account that was taken over before without being started", () =>
    quiet(Effect.gen(function*() {
      const ids = yield* add("twice", 2, 5)
      const { sql } = world.database
      yield* sql`UPDATE account SET epoch = 1 FROM fleet_account WHERE fleet_account.account = account.account AND id LIKE 'twice-%'`
      yield* start
      yield* sent(ids, 5)
      expect(
        yield* sql`SELECT row_count AS rows, epoch FROM snapshot JOIN fleet_account USING (account) JOIN account USING (account)
          WHERE id LIKE 'twice-%'`
      ).toEqual([{ rows: 2, epoch: 2 }, { rows: 2, epoch: 2 }])
      yield* Effect.forEach(ids, world.accounts.remove)
    })), 120_000)

  it.live("report what keeps an account from working, until it is changed", () =>
    quiet(Effect.gen(function*() {
      const [id = ""] = yield* add("bad", 1, 5)
      const account = yield* world.accounts.get(id)
      yield* world.accounts.putAll(
        Stream.make({ ...FleetAccounts.settingsOf(account), key: { _tag: "Env" as const, name: "NO_SUCH_KEY" } })
      )
      yield* start
      const problem = Effect.map(world.accounts.get(id), ({ problem }) => problem)
      yield* eventually(problem, (seen) => seen?.includes("NO_SUCH_KEY") === true)
      yield* world.accounts.putAll(Stream.make(FleetAccounts.settingsOf(account)))
      yield* sent([id], 5)
      yield* eventually(problem, (seen) => seen === null)
      yield* world.accounts.remove(id)
    })), 120_000)
})

describe("a runner whose accounts are locked by another program", () => {
  it.live("serves the others, and those as well once they are not locked any more", () =>
    quiet(Effect.gen(function*() {
      const ids = yield* add("locked", 3, 5)
      const [held = "", ...others] = ids
      const { stop } = yield* start
      yield* sent(ids, 5)
      yield* stop
      yield* Effect.forEach(ids, (id) => write(id, 6))
      // As the removal of an account with millions of products does.
      yield* whileLocked(
        (sql) => sql`SELECT 1 FROM account JOIN fleet_account USING (account) WHERE id = ${held} FOR UPDATE`,
        Effect.gen(function*() {
          const { state } = yield* start
          yield* sent(others, 6)
          yield* Effect.forEach(others, (id) => write(id, 7))
          yield* sent(others, 7)
          expect((yield* state).accounts.owned).toBe(3)
          expect((yield* world.accounts.get(held)).epoch).toBe(1)
        })
      )
      yield* sent([held], 6)
      yield* Effect.forEach(ids, world.accounts.remove)
    })), 120_000)

  it.live("records the problems of the others, and theirs once they are not locked any more", () =>
    quiet(Effect.gen(function*() {
      const ids = yield* add("failing", 3, 5)
      const [held = "", other = "", good = ""] = ids
      yield* start
      yield* sent(ids, 5)
      const problemOf = (id: string) => Effect.map(world.accounts.get(id), ({ problem }) => problem)
      const isInvalid = (problem: string | null) => problem?.includes("INVALID_API_KEY") === true
      yield* whileLocked(
        (sql) => sql`SELECT 1 FROM fleet_account WHERE id = ${held} FOR UPDATE`,
        Effect.gen(function*() {
          yield* Effect.forEach([held, other], (id) => world.sandbox.revokeKey(keyIds[id] ?? ""))
          yield* Effect.forEach(ids, (id) => write(id, 6))
          yield* eventually(problemOf(other), isInvalid)
          yield* sent([good], 6)
          yield* write(good, 7)
          yield* sent([good], 7)
          expect(yield* problemOf(held)).toBeNull()
        })
      )
      yield* eventually(problemOf(held), isInvalid)
      yield* Effect.forEach(ids, world.accounts.remove)
    })), 120_000)
})

describe("a change that is committed long after it began", () => {
  it.live("is noticed, although later changes were committed before it", () =>
    quiet(Effect.gen(function*() {
      const ids = yield* add("late", 2, 5)
      const [late = "", other = ""] = ids
      yield* start
      yield* sent(ids, 5)
      // As an import of many accounts does.
      yield* whileLocked(
        (sql) => sql`UPDATE fleet_account SET key = 'env:NO_SUCH_KEY', revision = nextval('fleet_revision') WHERE id = ${late}`,
        Effect.andThen(world.accounts.wake(other), Effect.sleep("14 seconds"))
      )
      yield* eventually(world.accounts.get(late), ({ problem }) => problem?.includes("NO_SUCH_KEY") === true)
      yield* Effect.forEach(ids, world.accounts.remove)
    })), 120_000)
})

describe("a runner whose database falls silent", () => {
  // Five seconds, and some for a busy machine.
  const longest = "6 seconds"
  it.live("stops within its time, with exit code 0, although requests are in flight", () =>
    quiet(Effect.gen(function*() {
      const proxy = yield* DatabaseProxy.start(world.url)
      const ids = yield* add("silent", 20, 5)
      const program = yield* Program.start(["fleet", "run", "--stop-within", "30s"], {
        cwd: world.folder,
        env: { STOCK_SYNC_FLEET_DATABASE: proxy.url, ...keys }
      })
      yield* sent(ids, 5)
      // Every account has something to send. Its worker waits for the database.
      yield* proxy.set("stalled")
      yield* Effect.forEach(ids, (id) => write(id, 6))
      yield* Effect.sleep("2 seconds")
      yield* program.kill("SIGTERM")
      expect((yield* Effect.timeout(program.ended, longest)).status).toBe(0)
      yield* Effect.forEach(ids, world.accounts.remove)
    })), 60_000)

  it.live("stops within its time also if it has nothing to do, and has noticed the silence before", () =>
    quiet(Effect.gen(function*() {
      const proxy = yield* DatabaseProxy.start(world.url)
      const ids = yield* add("idle", 2, 5)
      const program = yield* Program.start(["fleet", "run", "--port", "0"], {
        cwd: world.folder,
        env: { STOCK_SYNC_FLEET_DATABASE: proxy.url, ...keys }
      })
      yield* sent(ids, 5)
      yield* proxy.set("stalled")
      yield* eventually(Effect.sync(program.stderr), (log) => log.includes("fleet.lost"))
      yield* Effect.sleep("3.5 seconds")
      yield* program.kill("SIGTERM")
      expect((yield* Effect.timeout(program.ended, longest)).status).toBe(0)
      yield* Effect.forEach(ids, world.accounts.remove)
    })), 60_000)
})
