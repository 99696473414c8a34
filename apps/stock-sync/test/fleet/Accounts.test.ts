/** The table of accounts, in a real Postgres. */
import { describe, expect, it } from "@effect/vitest"
import * as Postgres from "@plaza/testing/Postgres"
import { Deferred, Effect, Fiber, Layer, Redacted, Schema, Stream } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { createServer, type Server } from "node:net"
import { type AccountSettings, FleetAccounts, layer } from "../../src/fleet/FleetAccounts.ts"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import * as FleetMigrations from "../../src/fleet/FleetMigrations.ts"
import * as FleetRoster from "../../src/fleet/FleetRoster.ts"
import { postgresMessage } from "../../src/ledger/database/Faults.ts"
import { tableNames } from "../../src/ledger/Schema.ts"
import { eventually } from "../support/eventually.ts"
import { shared } from "../support/shared.ts"

let server = ""
shared(Postgres.scoped, ({ url }) => {
  server = url
})

let databases = 0
const freshWith = Effect.fnUntraced(function*(options: string) {
  const name = `fleet_${databases++}`
  yield* Effect.flatMap(FleetDatabase.FleetDatabase, ({ run, sql }) => run(sql.unsafe(`CREATE DATABASE ${name} ${options}`))).pipe(
    Effect.provide(FleetDatabase.layer(Redacted.make(server)))
  )
  return Redacted.make(server.replace(/\/postgres$/, `/${name}`))
})
const fresh = Effect.suspend(() => freshWith(""))

const inFleet = <A, E>(use: Effect.Effect<A, E, FleetAccounts | FleetDatabase.FleetDatabase>) =>
  Effect.flatMap(fresh, (url) =>
    Effect.provide(Effect.andThen(FleetMigrations.migrate, use), Layer.provideMerge(layer, FleetDatabase.layer(url))))

const account = (id: string, more: Partial<AccountSettings> = {}): AccountSettings => ({
  id,
  baseUrl: "https://api.example/open/v1",
  key: { _tag: "Env", name: "KEY" },
  source: { _tag: "Plain", text: "stock.csv" },
  options: { "stock-column": "qty" },
  ...more
})

const other = { _tag: "Plain", text: "other.csv" } as const

/** Runs an effect while another connection has run a first statement of a transaction, and ends that transaction after a last one. */
const whileTransaction = <A, E, R>(
  first: Effect.Effect<unknown, SqlError>,
  use: Effect.Effect<A, E, R>,
  last = Effect.void as typeof first
) =>
  Effect.flatMap(FleetDatabase.FleetDatabase, ({ sql }) =>
    Effect.gen(function*() {
      const began = yield* Deferred.make<void>()
      const done = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(sql.withTransaction(
        Effect.andThen(first, Effect.andThen(Deferred.succeed(began, undefined), Effect.andThen(Deferred.await(done), last)))
      ))
      yield* Deferred.await(began)
      const result = yield* Effect.ensuring(use, Deferred.succeed(done, undefined))
      yield* Fiber.join(holder)
      return result
    }))

/** Waits until a statement of this database waits for a lock. */
const waiting = Effect.flatMap(FleetDatabase.FleetDatabase, ({ sql }) =>
  eventually(
    sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    (rows) => rows.length > 0
  ))

const ids = (accounts: FleetAccounts["Service"]) => Effect.map(Stream.runCollect(accounts.all), (all) => all.map(({ id }) => id))

describe("the fleet's database", () => {
  it.effect("is prepared once, also by several programs at the same time, and refused before that", () =>
    Effect.gen(function*() {
      const url = yield* fresh
      const database = FleetDatabase.layer(url)
      const error = yield* Effect.flip(Effect.provide(FleetMigrations.check, database))
      expect(error.message).toContain("run plaza-stock-sync fleet migrate")
      const runs = yield* Effect.all(
        Array.from({ length: 5 }, () => Effect.provide(FleetMigrations.migrate, Layer.fresh(database))),
        { concurrency: "unbounded" }
      )
      expect(runs.flat()).toHaveLength(FleetMigrations.version)
      yield* Effect.provide(FleetMigrations.check, database)
      expect(yield* Effect.provide(FleetMigrations.migrate, database)).toEqual([])
    }))

  it.effect("that can't be used is named without its password, with what to do", () =>
    Effect.scoped(Effect.gen(function*() {
      const closing = yield* Effect.acquireRelease(
        Effect.callback<Server>((resume) => {
          const server = createServer((socket) => socket.destroy())
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
      )
      const port = Schema.decodeUnknownSync(Schema.Struct({ port: Schema.Int }))(closing.address()).port
      for (
        const [at, message] of [
          ["127.0.0.1:1", "can't be reached: look at the address and the server"],
          [`127.0.0.1:${port}`, "was cut off: look whether the server runs, and at the network to it"]
        ] as const
      ) {
        const url = Redacted.make(`postgres://someone:hunter2@${at}/fleet`)
        const error = yield* Effect.flip(Effect.provide(FleetMigrations.check, FleetDatabase.layer(url)))
        expect(error.message).toBe(`the fleet's database postgres://${at}/fleet ${message}`)
      }
      const silent = new SqlError({ reason: new ConnectionError({ cause: new Error("Connection terminated due to connection timeout") }) })
      expect(postgresMessage(FleetDatabase.naming("the fleet's database"), silent)).toBe(
        "the fleet's database did not respond in time: look at the address, the server and its load"
      )
    })))
})

describe("accounts", () => {
  it.effect("are added and replaced together, and keep their pause", () =>
    inFleet(Effect.gen(function*() {
      const accounts = yield* FleetAccounts
      expect(yield* accounts.putAll(Stream.make(account("b"), account("a")))).toEqual({ added: 2, updated: 0, unchanged: 0 })
      yield* accounts.setPaused(["a"], true)
      const before = yield* accounts.get("a")
      expect(yield* accounts.putAll(Stream.make(account("a", { source: other }), account("c")))).toEqual({
        added: 1,
        updated: 1,
        unchanged: 0
      })
      const after = yield* accounts.get("a")
      expect(after).toMatchObject({ ...account("a", { source: other }), paused: true, shard: null, epoch: 0 })
      expect(after.revision).toBeGreaterThan(before.revision)
      expect(yield* ids(accounts)).toEqual(["a", "b", "c"])
    })))

  it.effect("that are paused have no problem, also if their runner records one that it found before", () =>
    inFleet(
      Effect.gen(function*() {
        const accounts = yield* FleetAccounts
        const { recordProblems } = yield* FleetRoster.FleetRoster
        const problems = Effect.map(Stream.runCollect(accounts.all), (all) => all.map(({ problem }) => problem))
        const found = ["a", "b"].map((id) => ({ id, epoch: 0, problem: "INVALID_API_KEY: revoked" }))
        yield* accounts.putAll(Stream.make(account("a"), account("b")))
        yield* recordProblems(found)
        expect(yield* problems).toEqual(found.map(({ problem }) => problem))
        yield* accounts.setPaused(["a"], true)
        yield* recordProblems(found)
        expect(yield* problems).toEqual([null, "INVALID_API_KEY: revoked"])
        yield* accounts.setPaused(["a"], false)
        yield* recordProblems(found.map((row) => ({ ...row, problem: null })))
        expect(yield* problems).toEqual([null, null])
      }).pipe(Effect.provide(FleetRoster.layer))
    ))

  it.live("that are locked keep no other account from having its problem recorded, and have theirs recorded later", () =>
    inFleet(
      Effect.gen(function*() {
        const accounts = yield* FleetAccounts
        const { sql } = yield* FleetDatabase.FleetDatabase
        const { recordProblems } = yield* FleetRoster.FleetRoster
        yield* accounts.putAll(Stream.make(account("a"), account("b"), account("c")))
        const found = ["c", "b", "a"].map((id) => ({ id, epoch: 0, problem: "INVALID_API_KEY: revoked" }))
        const recorded = yield* whileTransaction(
          sql`UPDATE fleet_account SET problem = NULL WHERE id = 'b'`,
          Effect.timeout(recordProblems(found), "2 seconds")
        )
        expect(recorded.toSorted()).toEqual(["a", "c"])
        expect((yield* accounts.get("a")).problem).not.toBeNull()
        expect((yield* accounts.get("b")).problem).toBeNull()
        expect(yield* recordProblems(found.filter(({ id }) => id === "b"))).toEqual(["b"])
        expect((yield* accounts.get("b")).problem).not.toBeNull()
      }).pipe(Effect.provide(FleetRoster.layer))
    ))

  it.live("are locked by their ids when their secrets are sealed anew, so that an import does not fail", () =>
    inFleet(Effect.gen(function*() {
      const accounts = yield* FleetAccounts
      const { sql } = yield* FleetDatabase.FleetDatabase
      for (const id of ["z", "m", "a"]) yield* accounts.add(account(id))
      const swap = accounts.swap(["z", "m", "a"].map((id) => ({ before: account(id), after: account(id, { source: other }) })))
      const swapping = yield* whileTransaction(
        sql`UPDATE fleet_account SET problem = NULL WHERE id = 'a'`,
        Effect.gen(function*() {
          const swapping = yield* Effect.forkDetach(swap)
          yield* waiting
          return swapping
        }),
        sql`UPDATE fleet_account SET problem = NULL WHERE id = 'z'`
      )
      expect(yield* Fiber.join(swapping)).toBe(3)
    })))

  it.live("are locked by an import byte by byte, whatever the language of the database", () =>
    Effect.flatMap(freshWith("TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'"), (url) =>
      Effect.gen(function*() {
        yield* FleetMigrations.migrate
        const accounts = yield* FleetAccounts
        const { sql } = yield* FleetDatabase.FleetDatabase
        yield* accounts.putAll(Stream.make(account("a"), account("B")))
        // A transaction that locks in the order of the database: `B` comes before `a`.
        const importing = yield* whileTransaction(
          sql`UPDATE fleet_account SET problem = NULL WHERE id = 'B'`,
          Effect.gen(function*() {
            const importing = yield* Effect.forkDetach(
              accounts.putAll(Stream.make(account("a", { source: other }), account("B", { source: other })))
            )
            yield* waiting
            return importing
          }),
          sql`UPDATE fleet_account SET problem = NULL WHERE id = 'a'`
        )
        expect(yield* Fiber.join(importing)).toEqual({ added: 0, updated: 2, unchanged: 0 })
      }).pipe(Effect.provide(Layer.provideMerge(layer, FleetDatabase.layer(url))))))

  it.effect("are read page by page, in the order of their ids byte by byte", () =>
    inFleet(Effect.gen(function*() {
      const accounts = yield* FleetAccounts
      const all = [...Array.from({ length: 2_500 }, (_, index) => `shop-${index}`), "Ä", "a", "Z"]
      yield* accounts.putAll(Stream.fromIterable(all.map((id) => account(id))))
      expect(yield* ids(accounts)).toEqual([...all].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))))
    })))

  it.effect("that do not exist are reported by their id", () =>
    inFleet(Effect.gen(function*() {
      const accounts = yield* FleetAccounts
      for (const use of [accounts.get("x"), accounts.setPaused(["x"], true), accounts.remove("x")]) {
        expect(yield* Effect.flip(Effect.asVoid(use))).toMatchObject({ _tag: "AccountNotFound", id: "x" })
      }
    })))

  it.effect("that are removed leave nothing, and are new when they are added again", () =>
    inFleet(Effect.gen(function*() {
      const accounts = yield* FleetAccounts
      const { run, sql } = yield* FleetDatabase.FleetDatabase
      const owners = (table: string) =>
        Effect.map(run(sql<{ account: number }>`SELECT account FROM ${sql(table)} ORDER BY account`),
          (rows) => rows.map(({ account }) => account))
      const all = Effect.forEach(tableNames, (table) => Effect.map(owners(table), (found) => [table, found]))
      yield* accounts.putAll(Stream.make(account("x"), account("y")))
      for (
        const rows of [
          "product (account, id, wanted, state, listing, queued_at, line, updated_at, attempts) SELECT account, 'P', 1, 'settled', 'named', 0, 2, 0, 0",
          "held_change (account, id, kind, was, wanted) SELECT account, 'P', 'soldOut', 5, 0",
          "row_issue (account, place, line, kind, reason) SELECT account, 1, 2, 'rejected', 'no stock'",
          "history (account, n, product_id, value, priority, waiting_since, sent_at, ended_at, outcome) SELECT account, 1, 'P', 1, 0, 0, 0, 0, 'confirmed'",
          "event (account, n, at, kind, amount) SELECT account, 1, 0, 'snapshotAccepted', 1",
          "past_snapshot (account, number, taken_at, row_count, changed, kept) SELECT account, 1, 0, 1, 1, 1",
          "past_stock (account, number, id, stock) SELECT account, 1, 'P', 5",
          "reverted_stock (account, id, stock) SELECT account, 'P', 5",
          "notice (account, state) SELECT account, '{}'",
          "request (account, ended_at) SELECT account, 0"
        ]
      ) yield* run(sql.unsafe(`INSERT INTO ${rows} FROM fleet_account`))
      expect(yield* all).toEqual(tableNames.map((table) => [table, [1, 2]]))
      yield* accounts.remove("x")
      expect(yield* all).toEqual(tableNames.map((table) => [table, [2]]))
      yield* accounts.add(account("x"))
      expect([yield* owners("account"), yield* owners("snapshot"), yield* owners("product")]).toEqual([[2, 3], [2, 3], [2]])
      expect(yield* ids(accounts)).toEqual(["x", "y"])
      expect(yield* Effect.flip(accounts.add(account("y")))).toMatchObject({ _tag: "AccountExists", id: "y" })
    })))

  it.live("are removed also while their worker writes", () =>
    inFleet(Effect.gen(function*() {
      const accounts = yield* FleetAccounts
      const { run, sql } = yield* FleetDatabase.FleetDatabase
      yield* accounts.putAll(Stream.make(account("x")))
      yield* run(sql`INSERT INTO request (account, ended_at) SELECT account, 0 FROM fleet_account`)
      const isWriting = yield* Deferred.make<void>()
      const worker = yield* Effect.forkChild(run(sql.withTransaction(Effect.gen(function*() {
        yield* sql`UPDATE request SET ended_at = 1`
        yield* Deferred.succeed(isWriting, undefined)
        // The removal waits for this transaction by now, and this one for the removal: the database ends the removal, which waited first.
        yield* Effect.sleep("300 millis")
        return yield* sql`SELECT account FROM account FOR SHARE`
      }))))
      yield* Deferred.await(isWriting)
      yield* accounts.remove("x")
      expect(yield* Fiber.join(worker)).toHaveLength(1)
      expect(yield* ids(accounts)).toEqual([])
    })))
})
