/**
 * The Postgres of a fleet: `STOCK_SYNC_FLEET_DATABASE`. Everything lies in the schema `plaza_fleet`. A runner uses at most 12 connections:
 * 9 for accounts and ledgers, 3 for the ownership of shards.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { UsageError } from "@plaza-legacy/cli-kit/CliError"
import * as SecretFile from "@plaza-legacy/cli-kit/SecretFile"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Socket } from "node:net"
import Pg from "pg"
import { messageOf, type Naming } from "../ledger/PostgresErrors.ts"
import { FleetDatabaseError } from "./FleetError.ts"

export const variable = "STOCK_SYNC_FLEET_DATABASE"
export const schema = "plaza_fleet"
export const ledgerConnections = 9
export const ownershipConnections = 3

export class FleetDatabase extends Context.Tag("@plaza/stock-sync/fleet/FleetDatabase")<FleetDatabase, {
  readonly sql: SqlClient.SqlClient
  /** The connections of `sql`, for a session that has to be closed instead of reused. */
  readonly pool: Pg.Pool
  /** How long the server may be silent on a connection of the pool. Statements of ledgers have limits of their own. */
  readonly silence: Duration.Duration
  /** The address without user and password, for messages. */
  readonly name: string
  /** The address for further pools of the same database. */
  readonly url: Redacted.Redacted
  /** Runs statements; a failure names the database and what to do. A row of another form is a defect: only this program writes rows. */
  readonly run: <A, R>(statements: Effect.Effect<A, ParseError | SqlError, R>) => Effect.Effect<A, FleetDatabaseError, R>
}>() {}

/** Names a part of this database in messages. */
export const naming = (subject: string): Naming => ({
  subject,
  setting: variable,
  grant: "run the GRANT statements of docs/fleet.md, also after each migration"
})

const addressOf = (text: string): Effect.Effect<URL, UsageError> =>
  URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol)
    ? Effect.succeed(new URL(text))
    : new UsageError({ message: `${variable} is not the address of a Postgres: set it to postgres://user:password@host:port/database` })

/** The address of the configuration, with session settings that hold for every connection of a pool. */
export const withOptions = (url: Redacted.Redacted, options: Readonly<Record<string, string | number>>): Redacted.Redacted => {
  const address = new URL(Redacted.value(url))
  const given = address.searchParams.get("options")
  const added = Object.entries(options).map(([name, value]) => `-c ${name}=${value}`)
  address.searchParams.set("options", [...(given === null ? [] : [given]), ...added].join(" "))
  return Redacted.make(address.href)
}

/** Postgres returns 64-bit integers as text by default; those of these tables are exact as numbers. */
export const types = {
  getTypeParser: (type: number) => (text: string): unknown =>
    type === 20 || type === 21 || type === 23
      ? Number(text)
      : type === 16
      ? text === "t"
      : type === 114 || type === 3802
      ? JSON.parse(text)
      : text
}

/** Reads the address from the variable, or from the file that `STOCK_SYNC_FLEET_DATABASE_FILE` names; fails if neither is set. */
export const address: Effect.Effect<Redacted.Redacted, UsageError | ConfigError, FileSystem.FileSystem> = Effect.gen(function*() {
  const given = yield* SecretFile.secret(variable)
  if (Option.isNone(given)) {
    return yield* new UsageError({ message: `the fleet has no database: set ${variable} to postgres://user:password@host:port/database` })
  }
  const text = Redacted.value(given.value).trim()
  yield* addressOf(text)
  return Redacted.make(text)
})

// Other programs of the database may use advisory locks too, of other numbers.
const lockClass = 0x706c617a

/** Runs an effect while no other process runs one under the same number. */
export const exclusively = (number: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    const { run, sql } = yield* FleetDatabase
    const session = yield* run(sql.reserve)
    yield* Effect.acquireRelease(
      run(session.executeRaw("SELECT pg_advisory_lock($1, $2)", [lockClass, number])),
      () => Effect.ignore(session.executeRaw("SELECT pg_advisory_unlock($1, $2)", [lockClass, number]))
    )
    return yield* effect
  }))

/** How long a runner waits for a response to a statement that is not one of a ledger. It gives up sooner than that. */
const runnerSilence = Duration.seconds(10)

// The driver has it, and its types lack it.
const socketOf = (client: Pg.PoolClient): Socket =>
  (client as Pg.PoolClient & { readonly connection: { readonly stream: Socket } }).connection.stream

/**
 * Ends a connection when the server is silent for so long, whether a statement waits or not. Infinity: never. A firewall that was restarted
 * drops all that is sent, which the system would report after a quarter of an hour.
 */
export const limitSilence = (client: Pg.PoolClient, silence: Duration.Duration): void => {
  socketOf(client).setTimeout(Duration.isFinite(silence) ? Duration.toMillis(silence) : 0)
}

interface PoolOptions {
  readonly max: number
  readonly name: string
  readonly connectTimeout: Duration.Duration
  readonly silence: Duration.Duration
  readonly idleTimeout: Duration.Duration
  readonly types?: Pg.CustomTypesConfig
}

/** Connections that notice a lost server, which would otherwise be waited for without end. */
export const openPool = (
  url: Redacted.Redacted,
  { connectTimeout, idleTimeout, max, name, silence, types }: PoolOptions
): Effect.Effect<Pg.Pool, SqlError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new Pg.Pool({
        connectionString: Redacted.value(url),
        max,
        application_name: name,
        connectionTimeoutMillis: Duration.toMillis(connectTimeout),
        idleTimeoutMillis: Duration.toMillis(idleTimeout),
        keepAlive: true,
        keepAliveInitialDelayMillis: 10_000,
        ...(types === undefined ? {} : { types })
      })
      pool.on("connect", (client) => {
        const socket = socketOf(client)
        socket.on("timeout", () => socket.destroy(new Error("the server does not respond")))
        limitSilence(client, silence)
      })
      // An idle connection that is lost is replaced. Without a listener its event would end the process.
      return pool.on("error", () => {})
    }),
    (pool) => Effect.promise(() => pool.end()).pipe(Effect.interruptible, Effect.timeoutOption("1 second"))
  ).pipe(
    Effect.tap((pool) =>
      Effect.tryPromise({
        try: () => pool.query("SELECT 1"),
        catch: (cause) => new SqlError({ cause, message: "no connection" })
      })
    )
  )

const make = (url: Redacted.Redacted, silence: Duration.Duration) =>
  Effect.gen(function*() {
    const { host, pathname, protocol } = yield* addressOf(Redacted.value(url))
    const name = `${protocol}//${host}${pathname}`
    const fault = (error: SqlError) =>
      new FleetDatabaseError({ database: name, message: messageOf(naming(`the fleet's database ${name}`), error) })
    const pool = yield* openPool(withOptions(url, { search_path: schema }), {
      max: ledgerConnections,
      name: "plaza-stock-sync fleet",
      connectTimeout: Duration.seconds(10),
      silence,
      idleTimeout: Duration.seconds(10),
      types
    }).pipe(Effect.mapError(fault))
    const sql = yield* Effect.mapError(PgClient.fromPool({ acquire: Effect.succeed(pool), spanAttributes: {} }), fault)
    return {
      sql,
      pool,
      silence,
      name,
      url,
      run: (statements) => Effect.mapError(Effect.catchTag(statements, "ParseError", Effect.die), fault)
    } satisfies FleetDatabase["Type"]
  })

export const layer = (
  url: Redacted.Redacted,
  silence: Duration.Duration = Duration.infinity
): Layer.Layer<FleetDatabase, UsageError | FleetDatabaseError> =>
  Layer.provide(Layer.scoped(FleetDatabase, make(url, silence)), Reactivity.layer)

/** For commands: a migration may take minutes. */
export const layerConfig: Layer.Layer<FleetDatabase, UsageError | ConfigError | FleetDatabaseError, FileSystem.FileSystem> = Layer
  .unwrapEffect(Effect.map(address, (url) => layer(url)))

export const layerRunner: typeof layerConfig = Layer.unwrapEffect(Effect.map(address, (url) => layer(url, runnerSilence)))
