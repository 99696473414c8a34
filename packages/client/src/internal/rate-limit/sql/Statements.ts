/**
 * Runs statements on a shared allowance: apart from the caller's transaction, within a time limit, and by the right clock. Each
 * statement is a transaction, so that no lock is held between two of them.
 *
 * Moments are milliseconds since the epoch: by the clock of the database on Postgres, which many machines may use, and by the
 * clock of the process on SQLite, which one machine uses.
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
import { InvalidSettings } from "../../../ClientError.js"
import { wholeMillis } from "../../Compat.js"

// A statement that takes longer hangs, and the requests that wait for a slot have to fail.
const statementTimeout = Duration.seconds(5)

// A transaction takes a few milliseconds, or more where the disk is busy. Frequent tries get in between two of them.
const whileLocked = Schedule.spaced("4 millis").pipe(
  Schedule.jittered,
  wholeMillis,
  Schedule.intersect(Schedule.recurs(100))
)

/** A statement that takes the current moment of the database. @since 0.1.0 @category models */
export type Timed<A> = (now: Fragment) => Effect.Effect<A, SqlError>

/** @since 0.1.0 @category models */
export interface Statements {
  readonly sql: SqlClient.SqlClient
  readonly dialect: Dialect
  readonly read: <A>(statement: Timed<A>) => Effect.Effect<A, SqlError>
  readonly write: <A>(statement: Timed<A>) => Effect.Effect<A, SqlError>
  /** Runs several statements in one transaction. */
  readonly transaction: <A>(statements: Effect.Effect<A, SqlError>) => Effect.Effect<A, SqlError>
}

type Dialect = "pg" | "sqlite"

const dialectOf = (sql: SqlClient.SqlClient): Effect.Effect<Dialect, InvalidSettings> => {
  const other = (name: string) => () =>
    Effect.fail(
      new InvalidSettings({
        setting: "SqlClient",
        message: `a shared allowance can't be kept in ${name}; give RateLimitSql.layer a client of Postgres or SQLite`
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

  // Never part of a transaction of the caller: a request stays sent when the transaction is rolled back. Not traced, because a
  // statement a second is no event of the caller's program.
  const apart = <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    effect.pipe(
      // A driver that throws counts as one that does not answer, so that no request waits for ever because of it.
      Effect.catchAllDefect((cause) => new SqlError({ cause, message: "the driver of the database failed" })),
      Effect.timeoutFail({
        duration: statementTimeout,
        onTimeout: () => new SqlError({ message: `no answer within ${Duration.format(statementTimeout)}` })
      }),
      Effect.mapInputContext((_: Context.Context<never>) => context),
      Effect.withTracerEnabled(false)
    )

  /**
   * On SQLite, only `BEGIN IMMEDIATE` fails when the file is locked: libsql leaves a statement that failed for the lock
   * unfinished until it is run again, and does not commit what other statements of the connection write before then. The
   * connection is reserved meanwhile.
   */
  const alone = <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
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

  const timed = <A>(statement: Timed<A>): Effect.Effect<A, SqlError> =>
    dialect === "pg"
      ? statement(sql`(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::double precision`)
      : Effect.flatMap(Clock.currentTimeMillis, (at) => statement(sql`${at}`))

  return {
    sql,
    dialect,
    read: (statement) => apart(timed(statement)),
    write: (statement) => apart(dialect === "pg" ? timed(statement) : alone(timed(statement))),
    transaction: (statements) => apart(dialect === "pg" ? sql.withTransaction(statements) : alone(statements))
  }
})
