/**
 * Runs statements on a shared allowance: outside the caller's transaction, with a timeout, and with the current time as a parameter.
 * Each statement is a transaction of its own, so no lock is held between statements.
 *
 * Times are milliseconds since the epoch: by the database's clock on Postgres, which many machines may use, and by the process's clock
 * on SQLite, which one machine uses.
 *
 * @since 0.1.0
 */
import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { InvalidSettings } from "../../../ClientError.ts"
import { wholeMillis } from "../../Compat.ts"

// A slower statement counts as failed, so that waiting requests can fail too.
const statementTimeout = Duration.seconds(5)

// Retries often, to find a gap between two transactions.
const whileLocked = Schedule.spaced("4 millis").pipe(
  Schedule.jittered,
  wholeMillis,
  Schedule.intersect(Schedule.recurs(100))
)

/** A statement with the current time as an SQL fragment. */
type StatementAt<A> = (now: Fragment) => Effect.Effect<A, SqlError>

/** @since 0.1.0 @category models */
export interface Statements {
  readonly sql: SqlClient.SqlClient
  readonly dialect: Dialect
  readonly read: <A>(statement: StatementAt<A>) => Effect.Effect<A, SqlError>
  readonly write: <A>(statement: StatementAt<A>) => Effect.Effect<A, SqlError>
  /** Runs several statements in one transaction. */
  readonly transaction: <A>(statements: Effect.Effect<A, SqlError>) => Effect.Effect<A, SqlError>
}

type Dialect = "pg" | "sqlite"

const dialectOf = (sql: SqlClient.SqlClient): Effect.Effect<Dialect, InvalidSettings> => {
  const other = (name: string) => () =>
    Effect.fail(
      new InvalidSettings({
        setting: "SqlClient",
        message: `a shared allowance doesn't support ${name}; provide a SqlClient of Postgres or SQLite`
      })
    )
  return sql.onDialect({
    pg: () => Effect.succeed<Dialect>("pg"),
    sqlite: () => Effect.succeed<Dialect>("sqlite"),
    mysql: other("MySQL"),
    mssql: other("SQL Server"),
    clickhouse: other("ClickHouse")
  })
}

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Statements, InvalidSettings, SqlClient.SqlClient> = Effect.gen(function*() {
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const dialect = yield* dialectOf(sql)
  const context = Context.omit(SqlClient.TransactionConnection)(
    yield* Effect.context<never>()
  )

  // Never in the caller's transaction, because its rollback doesn't undo a request. Without tracing, because the statements would fill
  // the traces of the application.
  const withoutCallerContext = <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    effect.pipe(
      // A driver that throws counts as an unavailable database. Otherwise requests would wait forever.
      Effect.catchAllDefect((cause) => Effect.fail(new SqlError({ cause, message: "the database driver failed" }))),
      Effect.timeoutFail({
        duration: statementTimeout,
        onTimeout: () => new SqlError({ message: `no response within ${Duration.format(statementTimeout)}` })
      }),
      Effect.mapInputContext((_: Context.Context<never>) => context),
      Effect.withTracerEnabled(false)
    )

  /**
   * Runs a statement on SQLite so that only `BEGIN IMMEDIATE` can fail for the lock of the file. The connection is
   * reserved for the transaction.
   */
  const inImmediateTransaction = <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    Effect.scoped(Effect.flatMap(sql.reserve, (connection) =>
      Effect.uninterruptible(
        Effect.retry(connection.executeRaw("BEGIN IMMEDIATE", []), whileLocked).pipe(
          Effect.andThen(Effect.zipLeft(
            Effect.provideService(statement, SqlClient.TransactionConnection, [connection, 0]),
            connection.executeRaw("COMMIT", [])
          ).pipe(
            Effect.tapError(() => Effect.ignore(connection.executeRaw("ROLLBACK", [])))
          ))
        )
      )))

  const atCurrentTime = <A>(statement: StatementAt<A>): Effect.Effect<A, SqlError> =>
    dialect === "pg"
      ? statement(sql`(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::double precision`)
      : Effect.flatMap(Clock.currentTimeMillis, (at) => statement(sql`${at}`))

  return {
    sql,
    dialect,
    read: (statement) => withoutCallerContext(atCurrentTime(statement)),
    write: (statement) =>
      withoutCallerContext(dialect === "pg" ? atCurrentTime(statement) : inImmediateTransaction(atCurrentTime(statement))),
    transaction: (statements) =>
      withoutCallerContext(dialect === "pg" ? sql.withTransaction(statements) : inImmediateTransaction(statements))
  }
})
