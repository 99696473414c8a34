/**
 * Several processes that share an allowance through a real Postgres, in virtual time: the database reads the program's clock. Each
 * statement takes 0.3 to 3 ms of virtual time.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { type ClientError, RateLimit } from "@plaza/client"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import * as Postgres from "@plaza/testing/Postgres"
import { Clock, Context, Duration, Effect, Layer, Random, Redacted, References, Semaphore, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { RateServer } from "./RateServers.ts"
import * as SentCalls from "./SentCalls.ts"
import * as VirtualTime from "./VirtualTime.ts"

/** Starts a Postgres whose `clock_timestamp()` returns the time that a connection has set. */
export const database = Effect.gen(function*() {
  const { url } = yield* Postgres.scoped
  const connect = (maxConnections: number) =>
    Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections })), Context.get(SqlClient.SqlClient))
  yield* Effect.scoped(Effect.gen(function*() {
    const sql = yield* connect(1)
    yield* sql`CREATE SCHEMA simulated`
    yield* sql`CREATE FUNCTION simulated.clock_timestamp() RETURNS timestamptz LANGUAGE sql
      AS $$ SELECT to_timestamp(current_setting('simulated.now')::float8 / 1000) $$`
    // Applies to later connections. Without this order, the name means the function of Postgres.
    yield* sql`ALTER DATABASE postgres SET search_path = public, simulated, pg_catalog`
  }))
  return yield* connect(40)
})

type Database = Effect.Success<typeof database>

/** The connection of a process. The clock stands still while Postgres runs a statement, and passes by its latency. */
const inVirtualTime = (connection: SqlConnection.Connection): SqlConnection.Connection => {
  const delayed = <A, E>(statement: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.gen(function*() {
      const latency = yield* Random.nextBetween(0.3, 3)
      yield* Effect.sleep(latency / 2)
      const now = yield* Clock.currentTimeMillis
      const setNow = Effect.orDie(connection.execute("SELECT set_config('simulated.now', $1, false)", [String(now)], undefined))
      const result = yield* VirtualTime.hold(Effect.andThen(setNow, statement))
      yield* Effect.sleep(latency / 2)
      return result
    })
  return {
    execute: (...statement) => delayed(connection.execute(...statement)),
    executeRaw: (...statement) => delayed(connection.executeRaw(...statement)),
    executeValues: (...statement) => delayed(connection.executeValues(...statement)),
    executeValuesUnprepared: (...statement) => delayed(connection.executeValuesUnprepared(...statement)),
    executeUnprepared: (...statement) => delayed(connection.executeUnprepared(...statement)),
    executeStream: () => Stream.die("the rate limit reads no streams")
  }
}

interface Sharing {
  readonly processes: number
  /** The calls of all processes together. */
  readonly calls: number
  readonly seed: number
}

/** Each process starts within half a second and queues its part of the calls. Returns when the server has accepted all. */
export const measure = (
  database: Database,
  serverAt: (offset: number) => RateServer,
  { calls, processes, seed }: Sharing
): Effect.Effect<SentCalls.Outcome> =>
  Effect.gen(function*() {
    const { outcome, send } = SentCalls.make(serverAt(yield* Random.nextBetween(0, 60_000)))
    const name = randomUUID()
    // Postgres would block a second process that prepares its tables, and the clock would stand still for both.
    const preparing = yield* Semaphore.make(1)
    const sql = yield* SqlClient.make({
      acquirer: Effect.map(VirtualTime.hold(database.reserve), inVirtualTime),
      compiler: PgClient.makeCompiler(),
      driver: "postgres in virtual time",
      spanAttributes: []
    })
    const process = Effect.gen(function*() {
      yield* Effect.sleep(yield* Random.nextBetween(0, 500))
      const { withSlot } = Context.get(
        yield* preparing.withPermits(1)(Layer.build(Layer.fresh(RateLimitSql.layer({ name })))),
        RateLimit.RateLimit
      )
      const call: Effect.Effect<void, ClientError.RateLimitWaitExceeded | ClientError.ClientClosed> = Effect.flatMap(
        withSlot(Duration.days(1), send),
        (wait) => wait === 0 ? Effect.void : Effect.andThen(Effect.sleep(Duration.seconds(wait)), call)
      )
      yield* Effect.replicateEffect(call, calls / processes, { concurrency: "unbounded", discard: true })
    }).pipe(Effect.scoped, Effect.provideService(SqlClient.SqlClient, sql))
    yield* Effect.replicateEffect(process, processes, { concurrency: "unbounded", discard: true })
    return outcome(calls)
  }).pipe(
    Effect.provide(Reactivity.layer),
    Random.withSeed(seed),
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.orDie,
    VirtualTime.run
  )
