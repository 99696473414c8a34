/**
 * Opens a ledger in Postgres: exclusively (held by a session lock), beside a running worker, read-only, or on a copy
 * for trials. All statements use one session: if it is lost, so is the lock, and nothing more is written. Loading
 * this module loads the driver.
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
import * as DispatchQueries from "./DispatchQueries.js"
import { Ledger, LedgerFault, type LedgerInUse, type LedgerOptions } from "./Ledger.js"
import * as LedgerConnection from "./LedgerConnection.js"
import * as LedgerSql from "./LedgerSql.js"
import * as LockOwner from "./LockOwner.js"
import * as PostgresAddress from "./PostgresAddress.js"
import { faultOf } from "./PostgresErrors.js"
import * as Tables from "./Tables.js"

const postgres: Tables.Dialect = {
  integer: "BIGINT",
  text: "TEXT COLLATE \"C\"",
  generated: "STORED",
  serial: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
  keyed: "",
  plain: ""
}

/**
 * Opens the ledger for the worker, and creates it if it is not there. Holds its lock until the layer's scope ends: a second process gets
 * `LedgerInUse`. What an earlier process was sending when it ended becomes doubtful.
 */
export const layer = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault | LedgerInUse> =>
  opened(address, ({ path, schema }, access) =>
    Effect.gen(function*() {
      const { run, sql } = access
      yield* lock(path, schema, sql)
      // A schema that an administrator created needs no right to create one.
      const [there] = yield* run(sql<{ there: boolean }>`SELECT to_regnamespace(${schema}) IS NOT NULL AS there`)
      if (there?.there !== true) yield* run(sql.unsafe(`CREATE SCHEMA ${schema}`))
      const found = yield* versionOf(path, schema, sql)
      if (found === 0) yield* run(sql.withTransaction(inOrder(sql, create)))
      else if (found < Tables.version) yield* run(sql.withTransaction(inOrder(sql, upgrade)))
      const isOwner = yield* run(LockOwner.enter(sql))
      yield* run(DispatchQueries.cutOff(sql, options))
      return LedgerSql.make(access, options, Effect.flatMap(run(isOwner), (owns) =>
        owns
          ? Effect.void
          : new LedgerFault({ path, message: `the ledger ${path} was taken over by another plaza-stock-sync: let only one of them run` })))
    }))

/** Opens the ledger beside a running worker, for `retry` and `confirm`. Fails if there is none. */
export const layerBeside = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault> =>
  opened(address, ({ path, schema }, access) => Effect.as(existing(path, schema, access.sql), LedgerSql.make(access, options)))

/** Opens the ledger for reading, beside a running worker. Fails if there is none. */
export const layerReader = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault> =>
  opened(address, ({ path, schema }, access) =>
    existing(path, schema, access.sql).pipe(
      Effect.zipRight(access.run(access.sql`SET default_transaction_read_only TO on`)),
      Effect.as(LedgerSql.make(access, options))
    ))

/** A copy of the ledger for a preview, which leaves no trace. It begins empty if there is no ledger. */
export const layerCopy = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault> =>
  opened(address, ({ path, schema }, access) =>
    Effect.gen(function*() {
      const found = yield* versionOf(path, schema, access.sql)
      if (found !== 0 && found < Tables.version) yield* outdated(path)
      yield* access.run(inOrder(access.sql, [...Tables.shadow(postgres, found === 0 ? undefined : schema), "ANALYZE product"]))
      return LedgerSql.make(access, options)
    }))

const opened = <E>(
  address: string,
  make: (address: PostgresAddress.Place, access: LedgerConnection.LedgerConnection) => Effect.Effect<Ledger["Type"], E>
): Layer.Layer<Ledger, E | LedgerFault> =>
  Layer.scoped(Ledger, Effect.gen(function*() {
    const place = yield* PostgresAddress.of(address)
    const sql = yield* Effect.mapError(session(place), faultOf(place.path))
    return yield* make(place, LedgerConnection.make(sql, place.path, faultOf(place.path)))
  })).pipe(Layer.provide(Reactivity.layer))

// The tables hold only text and integers that JavaScript represents exactly. By default the driver returns integers as text.
const whole: ReadonlySet<number> = new Set([20, 21, 23])
const types = { getTypeParser: (type: number) => (text: string) => whole.has(type) ? Number(text) : type === 16 ? text === "t" : text }

/** One session, kept to the end of the scope. A second connection is allowed for, by which the driver cancels a statement. */
const session = ({ schema, url }: PostgresAddress.Place) =>
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

// The first version that was kept in a Postgres is 2.
const upgrade = [...Tables.upgrade(postgres, 2), `UPDATE version SET version = ${Tables.version}`]

/** The server releases it with the session, however that ends. */
const lock = (path: string, schema: string, sql: SqlClient.SqlClient) =>
  Effect.gen(function*() {
    const [row] = yield* Effect.mapError(
      sql<{ got: boolean }>`SELECT pg_try_advisory_lock(hashtextextended(${`plaza-stock-sync ${schema}`}, 0)) AS got`,
      faultOf(path)
    )
    if (row?.got !== true) return yield* yield* LockOwner.inUse(path, Effect.succeed(sql))
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
      (found) => found === 0 || found === 2 || found === Tables.version,
      (found) =>
        new LedgerFault({
          path,
          message: `the ledger ${path} was written by ${
            found > Tables.version ? "a later" : "an unknown"
          } version of plaza-stock-sync: install that version`
        })
    )
  )

const outdated = (path: string) =>
  new LedgerFault({ path, message: `the ledger ${path} was written by an earlier version: \`plaza-stock-sync once\` brings it up to date` })

const existing = (path: string, schema: string, sql: SqlClient.SqlClient) =>
  Effect.flatMap(versionOf(path, schema, sql), (found) => {
    if (found === Tables.version) return Effect.void
    return found !== 0 ? outdated(path) : new LedgerFault({
      path,
      message:
        `the ledger ${path} does not exist yet: \`plaza-stock-sync once\` creates it, or name another one with --ledger or STOCK_SYNC_LEDGER`
    })
  })
