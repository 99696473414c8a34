/**
 * Opens a ledger in Postgres: with its lock (a session lock), beside a running worker, read-only, or as a temporary copy. All
 * statements use one session: a lost session also loses the lock, and nothing more is written. Loading this module loads the driver.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import Pg from "pg"
import * as Dialect from "./Dialect.ts"
import { Ledger, type LedgerOptions } from "./Ledger.ts"
import * as LedgerConnection from "./LedgerConnection.ts"
import { LedgerFault, type LedgerInUse } from "./LedgerError.ts"
import * as LedgerRows from "./LedgerRows.ts"
import * as LedgerSql from "./LedgerSql.ts"
import * as LockOwner from "./LockOwner.ts"
import * as Migrations from "./Migrations.ts"
import * as OutcomeQueries from "./OutcomeQueries.ts"
import * as PostgresAddress from "./PostgresAddress.ts"
import { faultOf } from "./PostgresErrors.ts"
import * as Tables from "./Tables.ts"

/**
 * Opens the ledger for the worker, and creates it. Holds its lock until the scope of the layer closes: a second process
 * gets `LedgerInUse`. Requests that an earlier process did not finish become doubtful.
 */
export const layer = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault | LedgerInUse> =>
  open(address, ({ path, schema }, connection, lost) =>
    Effect.gen(function*() {
      const { run, sql } = connection
      yield* acquireLock(connection, schema)
      // A schema of an administrator needs no permission to create one.
      if (!(yield* run(exists(sql`SELECT to_regnamespace(${schema}) IS NOT NULL AS "exists"`))))
        yield* run(sql.unsafe(`CREATE SCHEMA ${schema}`))
      const found = yield* versionOf(connection, schema)
      yield* run(Migrations.migrate(sql, Dialect.postgres, found))
      const isOwner = yield* run(LockOwner.record(sql))
      yield* run(OutcomeQueries.markInterrupted(sql, options))
      const check = Effect.flatMap(run(isOwner), (owns) =>
        owns
          ? Effect.void
          : new LedgerFault({ path, message: `the ledger ${path} was taken over by another plaza-stock-sync: let only one of them run` }))
      return LedgerSql.make(connection, options, check, lost)
    }))

/** Opens the ledger beside a running worker, for `retry` and `confirm`. Fails if it does not exist. */
export const layerWithoutLock = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault> =>
  open(address, ({ schema }, connection) => Effect.as(requireCurrent(connection, schema), LedgerSql.make(connection, options)))

/** Opens the ledger for reading, beside a running worker. Fails if it does not exist. */
export const layerReadOnly = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault> =>
  open(address, ({ schema }, connection) =>
    requireCurrent(connection, schema).pipe(
      Effect.zipRight(connection.run(connection.sql`SET default_transaction_read_only TO on`)),
      Effect.as(LedgerSql.make(connection, options))
    ))

/** A temporary copy of the ledger, empty if the ledger does not exist. */
export const layerTemporaryCopy = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault> =>
  open(address, ({ schema }, connection) =>
    Effect.gen(function*() {
      const { run, sql } = connection
      const found = yield* versionOf(connection, schema)
      yield* run(
        Migrations.inOrder(sql, [
          ...Tables.createTemporaryCopy(Dialect.postgres, Option.isNone(found) ? undefined : schema),
          "ANALYZE product"
        ])
      )
      return LedgerSql.make(connection, options)
    }))

const open = <E>(
  address: string,
  make: (
    address: PostgresAddress.PostgresAddress,
    connection: LedgerConnection.LedgerConnection,
    lost: Ledger["Type"]["lost"]
  ) => Effect.Effect<Ledger["Type"], E>
): Layer.Layer<Ledger, E | LedgerFault> =>
  Layer.scoped(Ledger, Effect.gen(function*() {
    const parsed = yield* PostgresAddress.parse(address)
    const { lost, sql } = yield* Effect.mapError(openSession(parsed), faultOf(parsed.path))
    return yield* make(parsed, LedgerConnection.make(sql, parsed.path, faultOf(parsed.path)), Effect.mapError(lost, faultOf(parsed.path)))
  }).pipe(Effect.withSpan("StockSync.openLedger", { attributes: { "db.system.name": "postgresql" } }))).pipe(
    Layer.provide(Reactivity.layer)
  )

// By default the driver returns integers as text. The ledger's integers are exact in JavaScript.
const integerTypes: ReadonlySet<number> = new Set([20, 21, 23])
const booleanType = 16
const types = {
  getTypeParser: (type: number) => (text: string) => integerTypes.has(type) ? Number(text) : type === booleanType ? text === "t" : text
}

const connectTimeout = Duration.seconds(5)
// Together at most eight seconds, so that a worker is not ready within ten.
const probeInterval = Duration.seconds(2)
const probeTimeout = Duration.seconds(6)

const silent = new SqlError({ cause: new Error("the server timed out"), message: "no response" })

/** The driver has it, and its types lack it. */
const socketOf = (client: Pg.PoolClient) => client.connection.stream

/** Connections whose sockets are destroyed at the end: a server that is silent would be waited for. */
const openPool = (url: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const pool = new Pg.Pool({
        connectionString: url,
        max: 2,
        application_name: "plaza-stock-sync",
        connectionTimeoutMillis: Duration.toMillis(connectTimeout),
        types
      })
      const sockets = new Set<ReturnType<typeof socketOf>>()
      pool.on("connect", (client) => {
        const socket = socketOf(client)
        sockets.add(socket)
        socket.once("close", () => sockets.delete(socket))
      })
      // Without a listener the loss of an idle connection would end the process.
      pool.on("error", () => undefined)
      return { pool, disconnect: Effect.sync(() => sockets.forEach((socket) => void socket.destroy())) }
    }),
    ({ disconnect, pool }) =>
      Effect.promise(() => pool.end()).pipe(Effect.interruptible, Effect.timeoutOption("1 second"), Effect.ensuring(disconnect))
  ).pipe(
    Effect.tap(({ pool }) =>
      Effect.tryPromise({ try: () => pool.query("SELECT 1"), catch: (cause) => new SqlError({ cause, message: "no connection" }) }).pipe(
        Effect.timeoutFail({ duration: connectTimeout, onTimeout: () => silent })
      )
    )
  )

/**
 * One session until the scope closes, and a second connection that looks whether the server responds, also during a long statement. When
 * it does not, all connections are closed: the statements of the session fail, and `lost` does. The driver cancels statements over the
 * second connection.
 */
const openSession = ({ schema, url }: PostgresAddress.PostgresAddress) =>
  Effect.gen(function*() {
    const { disconnect, pool } = yield* openPool(url)
    const client = yield* PgClient.fromPool({ acquire: Effect.succeed(pool), spanAttributes: {} })
    const connection = yield* client.reserve
    const sql = yield* SqlClient.make({ acquirer: Effect.succeed(connection), compiler: PgClient.makeCompiler(), spanAttributes: [] })
    yield* Migrations.inOrder(sql, [
      `SET search_path TO ${schema}`,
      // Memory to compare a snapshot of a million products. The default of 4 MB writes them to disk several times.
      "SET work_mem TO '64MB'",
      "SET temp_buffers TO '64MB'",
      // The lock of a host that vanished is released after 90 seconds, not after two hours.
      "SET tcp_keepalives_idle TO 30",
      "SET tcp_keepalives_interval TO 15",
      "SET tcp_keepalives_count TO 4"
    ])
    const probe = Effect.tryPromise({
      try: () => pool.query("SELECT 1"),
      catch: (cause) => new SqlError({ cause, message: "no response" })
    }).pipe(
      // A refusal is a response too, such as one for too many connections. The session shows what is wrong then.
      Effect.catchIf(({ cause }) => cause instanceof Pg.DatabaseError, () => Effect.void)
    )
    const lost = Effect.sleep(probeInterval).pipe(
      Effect.zipRight(Effect.timeoutFail(probe, { duration: probeTimeout, onTimeout: () => silent })),
      Effect.forever,
      Effect.tapError(() => disconnect)
    )
    return { sql, lost }
  })

const existsRow = LedgerRows.first(Schema.Struct({ exists: Schema.Boolean }))
const exists = <E>(statement: Effect.Effect<ReadonlyArray<unknown>, E>) =>
  Effect.map(existsRow(statement), Option.exists((row) => row.exists))

const lockRow = LedgerRows.first(Schema.Struct({ acquired: Schema.Boolean }))

/** Acquires the session lock. The server releases it when the session ends, for whatever reason. */
const acquireLock = ({ path, run, sql }: LedgerConnection.LedgerConnection, schema: string) =>
  Effect.gen(function*() {
    const row = yield* run(lockRow(
      sql`SELECT pg_try_advisory_lock(hashtextextended(${`plaza-stock-sync ${schema}`}, 0)) AS acquired`
    ))
    if (!Option.exists(row, ({ acquired }) => acquired)) return yield* yield* LockOwner.inUse(path, Effect.succeed(sql))
  })

/** The version of the ledger; none if there is none. Fails for another version. */
const versionOf = ({ path, run, sql }: LedgerConnection.LedgerConnection, schema: string) =>
  Effect.gen(function*() {
    const hasTable = (table: string) => exists(sql`SELECT to_regclass(${`${schema}.${table}`}) IS NOT NULL AS "exists"`)
    const recorded = (yield* hasTable(Migrations.table)) ? yield* Migrations.recordedVersion(sql) : Option.none()
    return { recorded, exists: Option.isSome(recorded) || (yield* hasTable("product")) }
  }).pipe(
    run,
    Effect.flatMap(({ exists, recorded }) =>
      exists === Option.contains(recorded, Migrations.current)
        ? Effect.succeed(recorded)
        : new LedgerFault({ path, message: `the ledger ${path} ${Migrations.ofOtherVersion}` })
    )
  )

const requireCurrent = (connection: LedgerConnection.LedgerConnection, schema: string) =>
  Effect.flatMap(versionOf(connection, schema), (found) => {
    const { path } = connection
    return Option.isSome(found) ? Effect.void : new LedgerFault({
      path,
      message:
        `the ledger ${path} does not exist yet: \`plaza-stock-sync once\` creates it, or name another one with --ledger or STOCK_SYNC_LEDGER`
    })
  })
