/**
 * Opens a ledger kept in a Postgres: to work with (alone, held by a lock of the session), beside that, to look at, or to try something
 * out on a copy. Every statement goes through one session: if it is lost, so is the lock, and nothing more is written. Loading this
 * module loads the driver. Knows nothing of what the ledger is for.
 *
 * @since 0.1.0
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Ledger, LedgerFault, type LedgerInUse } from "../Ledger.js"
import * as Access from "./Access.js"
import * as Holder from "./Holder.js"
import * as Place from "./PostgresPlace.js"
import { faultOf } from "./PostgresTrouble.js"
import * as Sends from "./Sends.js"
import * as Statements from "./Statements.js"
import * as Tables from "./Tables.js"

const postgres: Tables.Dialect = { integer: "BIGINT", text: "TEXT COLLATE \"C\"", generated: "STORED", keyed: "", plain: "" }

/**
 * Opens the ledger to work with, and makes it if it isn't there. Holds it until the layer's scope ends: a second process gets
 * `LedgerInUse`. What an earlier process was sending when it ended becomes doubtful.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (address: string): Layer.Layer<Ledger, LedgerFault | LedgerInUse> =>
  opened(address, ({ path, schema }, sql) =>
    Effect.gen(function*() {
      const fault = faultOf(path)
      yield* lock(path, schema, sql)
      yield* Effect.mapError(sql.unsafe(`CREATE SCHEMA IF NOT EXISTS ${schema}`), fault)
      const found = yield* versionOf(path, schema, sql)
      if (found === 0) yield* Effect.mapError(sql.withTransaction(inOrder(sql, create)), fault)
      yield* Effect.mapError(Effect.all([Holder.enter(sql), Sends.cutOff(sql)], { discard: true }), fault)
    }))

/**
 * Opens the ledger for a word to a process that works with it, or to the next one. Fails if there is none.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerBeside = (address: string): Layer.Layer<Ledger, LedgerFault> =>
  opened(address, ({ path, schema }, sql) => existing(path, schema, sql))

/**
 * Opens the ledger to look at, beside a process that works with it. Fails if there is none.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerReader = (address: string): Layer.Layer<Ledger, LedgerFault> =>
  opened(address, ({ path, schema }, sql) =>
    Effect.zipRight(
      existing(path, schema, sql),
      Effect.mapError(sql`SET default_transaction_read_only TO on`, faultOf(path))
    ))

/**
 * A copy of the ledger to try something out on, which leaves no trace. It begins empty if there is no ledger.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerCopy = (address: string): Layer.Layer<Ledger, LedgerFault> =>
  opened(address, ({ path, schema }, sql) =>
    Effect.flatMap(versionOf(path, schema, sql), (found) =>
      Effect.mapError(inOrder(sql, Tables.shadow(postgres, found === 0 ? undefined : schema)), faultOf(path))))

const opened = <E>(
  address: string,
  prepare: (place: Place.Place, sql: SqlClient.SqlClient) => Effect.Effect<unknown, E>
): Layer.Layer<Ledger, E | LedgerFault> =>
  Layer.scoped(Ledger, Effect.gen(function*() {
    const place = yield* Place.of(address)
    const sql = yield* Effect.mapError(session(place), faultOf(place.path))
    yield* prepare(place, sql)
    return Statements.make(Access.make(sql, place.path, faultOf(place.path)))
  })).pipe(Layer.provide(Reactivity.layer))

// The tables hold nothing but text and whole numbers that JavaScript tells exactly; the driver gives the latter as text unless told.
const whole: ReadonlySet<number> = new Set([20, 21, 23])
const types = { getTypeParser: (type: number) => (text: string) => whole.has(type) ? Number(text) : type === 16 ? text === "t" : text }

/** One session, kept to the end of the scope. A second connection is allowed for, by which the driver cancels a statement. */
const session = ({ schema, url }: Place.Place) =>
  Effect.gen(function*() {
    const pool = yield* PgClient.make({ url: Redacted.make(url), maxConnections: 2, applicationName: "plaza-stock-sync", types })
    const connection = yield* pool.reserve
    const sql = yield* SqlClient.make({ acquirer: Effect.succeed(connection), compiler: PgClient.makeCompiler(), spanAttributes: [] })
    yield* inOrder(sql, [
      `SET search_path TO ${schema}`,
      // Room to compare a million products with a snapshot of them: with the usual 4 MB they go through the disk several times.
      "SET work_mem TO '64MB'",
      "SET temp_buffers TO '64MB'",
      // A machine that vanished holds its lock for a minute and a half, not for two hours.
      "SET tcp_keepalives_idle TO 30",
      "SET tcp_keepalives_interval TO 15",
      "SET tcp_keepalives_count TO 4"
    ])
    return sql
  })

const inOrder = (sql: SqlClient.SqlClient, statements: ReadonlyArray<string>): Effect.Effect<void, SqlError> =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })

const create = [
  "CREATE TABLE version (one BIGINT PRIMARY KEY CHECK (one = 1), version BIGINT NOT NULL)",
  `INSERT INTO version VALUES (1, ${Tables.version})`,
  ...Tables.create(postgres)
]

/** The server releases it with the session, however that ends. */
const lock = (path: string, schema: string, sql: SqlClient.SqlClient) =>
  Effect.gen(function*() {
    const [row] = yield* Effect.mapError(
      sql<{ got: boolean }>`SELECT pg_try_advisory_lock(hashtextextended(${`plaza-stock-sync ${schema}`}, 0)) AS got`,
      faultOf(path)
    )
    if (row?.got !== true) return yield* yield* Holder.inUse(path, Effect.succeed(sql))
  })

/** The version of the ledger, 0 where there is none. Fails for one of a later program. */
const versionOf = (path: string, schema: string, sql: SqlClient.SqlClient) =>
  Effect.gen(function*() {
    const [there] = yield* sql<{ there: boolean }>`SELECT to_regclass(${`${schema}.version`}) IS NOT NULL AS there`
    const [row] = there?.there === true ? yield* sql<{ version: number }>`SELECT version FROM version` : []
    return row?.version ?? 0
  }).pipe(
    Effect.mapError(faultOf(path)),
    Effect.filterOrFail(
      (found) => found === 0 || found === Tables.version,
      (found) =>
        new LedgerFault({
          path,
          message: `the ledger ${path} was written by ${found > Tables.version ? "a later" : "an unknown"} version of plaza-stock-sync: install that version`
        })
    )
  )

const existing = (path: string, schema: string, sql: SqlClient.SqlClient) =>
  Effect.filterOrFail(
    versionOf(path, schema, sql),
    (found) => found !== 0,
    () =>
      new LedgerFault({
        path,
        message: `the ledger ${path} does not exist yet: \`plaza-stock-sync once\` makes it, or name it with --ledger or STOCK_SYNC_LEDGER`
      })
  )
