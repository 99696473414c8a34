/**
 * The first commands on an empty database. The library of shard ownership creates its tables without a lock, so programs that start at
 * the same time would fail each other.
 */
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Output, Streams } from "@plaza-legacy/cli-kit"
import * as Postgres from "@plaza-legacy/testing/Postgres"
import { ConfigProvider, Duration, Effect, Exit, Layer, Logger, LogLevel, Redacted } from "effect"
import * as Migrate from "../../src/commands/fleet/Migrate.ts"
import * as Run from "../../src/commands/fleet/Run.ts"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import * as FleetMigrations from "../../src/fleet/FleetMigrations.ts"
import { query } from "../support/fleetStatus.ts"
import { shared } from "../support/shared.ts"

let server = ""
shared(Postgres.scoped, ({ url }) => {
  server = url
})

let databases = 0
/** An empty database in which the creation of a table takes so long that others begin with it as well. */
const emptyDatabase = Effect.gen(function*() {
  const name = `first_${databases++}`
  yield* query(server, `CREATE DATABASE ${name}`)
  const url = server.replace(/\/postgres$/, `/${name}`)
  yield* query(
    url,
    "CREATE FUNCTION public.linger() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.2); END $$"
  )
  yield* query(url, "CREATE EVENT TRIGGER linger ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.linger()")
  return url
})

const withDatabase = (url: string) =>
  Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["STOCK_SYNC_FLEET_DATABASE", url]]), { pathDelim: "\0" }))

const migrate = (url: string) =>
  Effect.suspend(() =>
    Effect.provide(
      Migrate.run,
      Layer.fresh(Layer.provideMerge(
        Layer.mergeAll(Migrate.layer, Output.layer({ json: true, quiet: false })),
        Layer.merge(NodeContext.layer, Streams.layerTest({ stdout: [], stderr: [] }))
      ))
    ).pipe(withDatabase(url))
  )

const runner = (url: string) =>
  Effect.suspend(() =>
    Effect.scoped(Effect.asVoid(Layer.build(Layer.fresh(Run.layer({ concurrentReads: 1, stopWithin: Duration.zero }))))).pipe(
      Effect.provide(NodeContext.layer),
      withDatabase(url)
    )
  )

const libraryTables = (url: string) => query(url, "SELECT tablename FROM pg_tables WHERE tablename LIKE 'cluster%'")

describe("on an empty database", () => {
  it.live("migrations at the same time all succeed", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase
      yield* Effect.all(Array.from({ length: 4 }, () => migrate(url)), { concurrency: "unbounded" })
      expect(yield* libraryTables(url)).toHaveLength(2)
    }), 60_000)

  it.live("runners do not start, and create no table", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase
      yield* query(url, "CREATE SCHEMA plaza_fleet")
      for (const exit of yield* Effect.all(Array.from({ length: 4 }, () => Effect.exit(runner(url))), { concurrency: "unbounded" })) {
        expect(String(exit)).toContain("is not prepared for this version: run plaza-stock-sync fleet migrate")
      }
      expect(yield* libraryTables(url)).toEqual([])
    }), 60_000)

  it.live("runners do not start after a migration that was interrupted", () =>
    Effect.gen(function*() {
      const url = yield* emptyDatabase
      yield* Effect.provide(FleetMigrations.migrate, FleetDatabase.layer(Redacted.make(url)))
      expect(String(yield* Effect.exit(runner(url)))).toContain("is not prepared for this version: run plaza-stock-sync fleet migrate")
      expect(yield* libraryTables(url)).toEqual([])
      yield* migrate(url)
      expect(yield* Effect.exit(runner(url))).toEqual(Exit.void)
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None)), 60_000)
})
