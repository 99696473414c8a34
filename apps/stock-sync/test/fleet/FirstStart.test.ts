/** The first commands on an empty database, also at the same time, and migrations that are interrupted. */
import { describe, expect, it } from "@effect/vitest"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, Fiber } from "effect"
import * as Command from "../support/command.ts"
import { eventually } from "../support/eventually.ts"
import { query } from "../support/fleetStatus.ts"
import { shared } from "../support/shared.ts"

let server = ""
shared(Postgres.scoped, ({ url }) => {
  server = url
})

let databases = 0
/** An empty database in which each creation of a table takes so long that others begin with it as well. */
const emptyDatabase = (onTable = "PERFORM pg_sleep(0.02)") =>
  Effect.gen(function*() {
    const name = `first_${databases++}`
    yield* query(server, `CREATE DATABASE ${name}`)
    const url = server.replace(/\/postgres$/, `/${name}`)
    yield* query(
      url,
      `CREATE FUNCTION public.on_table() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN ${onTable}; END $$`
    )
    yield* query(url, "CREATE EVENT TRIGGER on_table ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.on_table()")
    return url
  })

const run = (url: string, ...args: ReadonlyArray<string>) => Command.run(["fleet", ...args], { STOCK_SYNC_FLEET_DATABASE: url })
const migrate = (url: string) => run(url, "migrate", "--json")
const atTheSameTime = <A>(command: Effect.Effect<A>) => Effect.all(Array.from({ length: 4 }, () => command), { concurrency: "unbounded" })

const tables = (url: string) =>
  Effect.map(
    query<{ name: string }>(url,
      "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"),
    (rows) => rows.map(({ name }) => name)
  )

const notPrepared = "is not prepared for this version: run plaza-stock-sync fleet migrate"

describe("on an empty database", () => {
  it.live("migrations at the same time all succeed, and one of them creates the tables", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase()
      const ended = yield* atTheSameTime(migrate(url))
      expect(ended.map(({ status, stderr }) => [status, stderr])).toEqual(ended.map(() => [0, ""]))
      expect(ended.filter(({ stdout }) => stdout.includes("1 fleet"))).toHaveLength(1)
      expect((yield* run(url, "migrate")).stdout).toBe("The database of the fleet is up to date.\n")
      expect(yield* tables(url)).toEqual(expect.arrayContaining(["plaza_fleet.fleet_account", "plaza_fleet.cluster_locks"]))
    }), 60_000)

  it.live("runners and other commands do not start, and create nothing", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase()
      for (const args of [["run"], ["status"], ["accounts", "list"]]) {
        for (const { status, stderr } of yield* atTheSameTime(run(url, ...args))) {
          expect([args, status]).toEqual([args, 2])
          expect(stderr).toContain(notPrepared)
        }
      }
      expect(yield* tables(url)).toEqual([])
    }), 60_000)

  it.live("a migration that fails creates nothing, whatever it has done before", () =>
    Effect.gen(function*() {
      // The last table of all is one of the library.
      const url = yield* emptyDatabase("IF to_regclass('plaza_fleet.cluster_locks') IS NOT NULL THEN RAISE 'no more tables'; END IF")
      const { status, stderr } = yield* migrate(url)
      expect([status, stderr]).toEqual([2, expect.stringContaining("no more tables")])
      expect(yield* tables(url)).toEqual([])
      expect((yield* run(url, "run")).stderr).toContain(notPrepared)
      yield* query(url, "DROP EVENT TRIGGER on_table")
      expect((yield* migrate(url)).status).toBe(0)
    }), 60_000)

  it.live("a migration whose connection is lost creates nothing, and the next one does all of it", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase("PERFORM pg_sleep(1)")
      const migrating = yield* Effect.forkChild(migrate(url))
      yield* eventually(
        query(server, `SELECT 1 FROM pg_stat_activity WHERE datname = '${new URL(url).pathname.slice(1)}' AND wait_event = 'PgSleep'`),
        ({ length }) => length === 1
      )
      yield* query(server, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${new URL(url).pathname.slice(1)}'`)
      const { status, stderr } = yield* Fiber.join(migrating)
      expect([status, stderr]).toEqual([2, expect.stringContaining("was cut off")])
      expect(yield* tables(url)).toEqual([])
      yield* query(url, "DROP EVENT TRIGGER on_table")
      expect((yield* migrate(url)).status).toBe(0)
    }), 60_000)
})
