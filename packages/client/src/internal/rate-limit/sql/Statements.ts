/**
 * How a statement on a shared allowance is run: on its own, apart from whatever transaction the caller is in, with an end
 * to waiting for it, and by the right clock. Each one is a transaction, so that no lock is ever held between two of them.
 * Knows nothing of what is kept.
 *
 * Moments are milliseconds since the epoch: by the database's own clock on Postgres, whose users may sit on many
 * machines, and by the clock of the process on SQLite, whose users sit on one.
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
import * as FiberRef from "effect/FiberRef"
import * as Schedule from "effect/Schedule"
import { InvalidSettings } from "../../../ClientError.js"

// A statement that takes longer than this hangs; whoever waits for a slot has to be told.
const statementTimeout = Duration.seconds(5)

// A transaction takes a few milliseconds, more where the disk is busy; who asks often enough gets between two of them.
const whileLocked = Schedule.spaced("4 millis").pipe(
  Schedule.jittered,
  Schedule.modifyDelay((_, delay) => Duration.millis(Math.ceil(Duration.toMillis(delay)))),
  Schedule.intersect(Schedule.recurs(100))
)

/** A statement, given the present moment as the database is to see it. @since 0.1.0 @category models */
export type Timed<A> = (now: Fragment) => Effect.Effect<A, SqlError>

/** @since 0.1.0 @category models */
export interface Statements {
  readonly sql: SqlClient.SqlClient
  readonly dialect: Dialect
  readonly read: <A>(statement: Timed<A>) => Effect.Effect<A, SqlError>
  readonly write: <A>(statement: Timed<A>) => Effect.Effect<A, SqlError>
  /** Several that belong together. */
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

  // Never part of a transaction of the caller's: what was sent stays sent when that one is rolled back. And not
  // traced: a statement a second is no event of the caller's program.
  const apart = <A>(effect: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    effect.pipe(
      // A driver that throws is one more that does not answer; whoever waits must not wait for ever because of it.
      Effect.catchAllDefect((cause) => new SqlError({ cause, message: "the driver of the database failed" })),
      Effect.timeoutFail({
        duration: statementTimeout,
        onTimeout: () => new SqlError({ message: `no answer within ${Duration.format(statementTimeout)}` })
      }),
      Effect.locally(FiberRef.currentContext, context),
      Effect.withTracerEnabled(false)
    )

  /**
   * On SQLite, whoever finds the file locked is turned away when it asks for the lock, and by that statement alone:
   * libsql leaves a statement that was turned away unfinished until it is run again, and what other statements of the
   * connection write before then is not committed. The connection is nobody else's meanwhile.
   */
  const alone = <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    Effect.scoped(Effect.flatMap(sql.reserve, (connection) =>
      Effect.uninterruptible(
        Effect.retry(connection.executeRaw("BEGIN IMMEDIATE", []), whileLocked).pipe(
          Effect.zipRight(Effect.zipLeft(
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
