/** Accounts of one runner do not disturb each other, whatever their services respond and whatever their files are. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as Streams from "@plaza/cli-kit/Streams"
import * as SqliteClient from "@plaza/client/sqlite"
import * as Postgres from "@plaza/testing/Postgres"
import { ConfigProvider, Context, Duration, Effect, FileSystem, Layer, Redacted, References, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import * as Run from "../../src/commands/fleet/Run.ts"
import { type AccountSettings, FleetAccounts, layer as accountsLayer } from "../../src/fleet/FleetAccounts.ts"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import * as FleetMigrations from "../../src/fleet/FleetMigrations.ts"
import { FleetRunner } from "../../src/fleet/FleetRunner.ts"
import { eventually } from "../support/eventually.ts"
import * as HostileService from "../support/hostileService.ts"
import * as NamedPipe from "../support/namedPipe.ts"
import { shared } from "../support/shared.ts"

const prepared = Effect.gen(function*() {
  const { url } = yield* Postgres.scoped
  const context = yield* Layer.build(
    Layer.merge(Layer.provideMerge(accountsLayer, FleetDatabase.layer(Redacted.make(url))), NodeServices.layer)
  )
  yield* Effect.provide(FleetMigrations.migrate, context)
  const files = Context.get(context, FileSystem.FileSystem)
  return {
    url,
    files,
    folder: yield* files.makeTempDirectoryScoped(),
    accounts: Context.get(context, FleetAccounts),
    service: yield* HostileService.start
  }
})

let world: Effect.Success<typeof prepared>
shared(prepared, (built) => {
  world = built
})

const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'A' AS productId, max(i) AS stock FROM n"
const variables = { KEY: `key_${"0".repeat(40)}`, PLAZA_TIMEOUT: "1 second" }

/** A runner of the accounts, until the scope closes. */
const start = Effect.gen(function*() {
  const settings = { ...variables, STOCK_SYNC_FLEET_DATABASE: world.url }
  const context = yield* Layer.build(Layer.fresh(Run.layer({ concurrentReads: 64, stopWithin: Duration.seconds(1) }))).pipe(
    Effect.provide(Layer.merge(NodeServices.layer, Streams.layerTest({ stdout: [], stderr: [] }))),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: settings }))
  )
  return Context.get(context, FleetRunner)
})

const file = (name: string) => `${world.folder}/${name}`
// Enough for a circuit breaker to open.
const products = ["A", "B", "C", "D", "E", "F"]
const write = (stock: number) =>
  world.files.writeFileString(file("good.csv"), `productId,stock\n${products.map((product) => `${product},${stock}\n`).join("")}`)

const account = (id: string, more: Partial<AccountSettings> = {}): AccountSettings => ({
  id,
  baseUrl: world.service.baseUrl(id),
  key: { _tag: "Env", name: "KEY" },
  source: { _tag: "Plain", text: file("good.csv") },
  options: { poll: "1s", settle: "0s" },
  ...more
})

/** Waits until each of these accounts has a problem, and returns them. */
const problemsOf = (ids: ReadonlyArray<string>) =>
  eventually(
    Effect.map(world.accounts.some(ids), (all) => ids.map((id) => all.get(id)?.problem ?? "")),
    (found) => found.every((problem) => problem !== "")
  )

/** A change of the account without a burden arrives. */
const isServed = (stock: number) =>
  Effect.andThen(
    write(stock),
    eventually(Effect.sync(() => products.map(world.service.stock)), (found) => found.every((each) => each === stock))
  )

const beside = (others: ReadonlyArray<AccountSettings>) =>
  Effect.gen(function*() {
    yield* write(1)
    const all = [account("good"), ...others]
    yield* world.accounts.putAll(Stream.fromIterable(all))
    yield* Effect.addFinalizer(() => Effect.orDie(Effect.forEach(all, ({ id }) => world.accounts.remove(id), { discard: true })))
    const { state } = yield* start
    const found = yield* problemsOf(others.map(({ id }) => id))
    yield* isServed(2)
    // The loop of the runner goes on: it takes over accounts that are added now.
    yield* world.accounts.add(account("late", { baseUrl: world.service.baseUrl("good") }))
    yield* Effect.addFinalizer(() => Effect.orDie(world.accounts.remove("late")))
    yield* eventually(state, ({ accounts }) => accounts.owned === all.length + 1)
    return found
  }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "None"))

describe("an account of a fleet is served beside accounts", () => {
  it.live("whose services refuse in texts that can't be stored or are endless, never respond, or are no service",
    () =>
      Effect.gen(function*() {
        const problems = yield* beside(HostileService.burdens.map((id) => account(id)))
        for (const problem of problems) {
          expect(problem).not.toMatch(/\0|\p{Surrogate}/u)
          expect(problem.length).toBeLessThan(4_000)
        }
      }), 60_000)

  it.live("whose sources, rules and keys are named pipes that nobody writes", () =>
    Effect.gen(function*() {
      const pipe = (name: string) => NamedPipe.make(file(name))
      const good = { baseUrl: world.service.baseUrl("good") }
      const sources = yield* Effect.forEach(["one", "two", "three", "four"], pipe)
      const problems = yield* beside([
        ...sources.map((text, index) => account(`source-${index}`, { ...good, source: { _tag: "Plain", text } })),
        account("rules", { ...good, options: { ...account("").options, rules: yield* pipe("rules") } }),
        account("database", {
          ...good,
          source: { _tag: "Plain", text: `sqlite:${yield* pipe("database")}` },
          options: { query: "SELECT 1" }
        }),
        account("key", { ...good, key: { _tag: "File", path: yield* pipe("key") } })
      ])
      expect(problems.slice(0, 5).filter((problem) => problem.includes("it is a named pipe or a device, not a file"))).toHaveLength(5)
      expect(problems.slice(5)).toEqual([expect.stringContaining("can't be opened"), expect.stringContaining("can't be read")])
    }), 60_000)

  it.live("whose queries of SQLite never end, more of them than are read at once", () =>
    Effect.gen(function*() {
      const database = file("endless.db")
      yield* SqliteClient.make({ filename: database }).pipe(
        Effect.flatMap((sql) => sql`CREATE TABLE empty (number INTEGER)`),
        Effect.provide(Reactivity.layer)
      )
      const problems = yield* beside(Array.from({ length: 6 }, (_, index) =>
        account(`endless-${index}`, {
          baseUrl: world.service.baseUrl("good"),
          source: { _tag: "Plain", text: `sqlite:${database}` },
          options: { ...account("").options, query: endless, "source-timeout": "1s" }
        })))
      for (const problem of problems) expect(problem).toContain("no response for 1s")
    }), 60_000)
})
