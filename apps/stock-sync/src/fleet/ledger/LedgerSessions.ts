/**
 * Transactions of ledgers on the connections of the fleet. A connection belongs to an operation only while its transaction runs, or to
 * a snapshot until its temporary tables are dropped. One whose state is unknown is closed instead of reused.
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ParseError } from "effect/ParseResult"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type Pg from "pg"
import { accountSetting } from "../../ledger/Dialect.js"
import * as LedgerSchema from "./LedgerSchema.js"

/** Snapshots at the same time. Each keeps a connection while its rows are staged. */
const maxSnapshots = 3

/** Other operations at the same time. The pool's remaining connection is for queries about all accounts. */
const maxOperations = 5

/** Longer than any operation on the largest ledger takes. */
const operationTimeout = "60 seconds"
const cleanupTimeout = "5 seconds"

/** The account whose rows a transaction reads and writes. */
export interface Target {
  readonly number: number
  /** Null for an operation beside the account's runner. */
  readonly epoch: number | null
}

type Failure = SqlError | ParseError
type Statements<A, R> = Effect.Effect<A, Failure, R>

export interface LedgerSessions {
  /** Runs only inside a transaction of this module. */
  readonly sql: SqlClient.SqlClient
  /** Runs statements in a transaction of their own. It can be interrupted while it waits for a connection, and not after that. */
  readonly operation: <A, R>(target: Target, statements: Statements<A, R>) => Statements<A, R>
  /** Uses a connection for one snapshot, whose statements can be interrupted. Its temporary tables are dropped afterwards. */
  readonly snapshot: <A, E, E2, R>(
    use: (session: SnapshotSession) => Effect.Effect<A, E, R>,
    onFailure: (error: SqlError) => E2
  ) => Effect.Effect<A, E | E2, R>
}

export interface SnapshotSession {
  /** Runs statements in a transaction. Temporary tables outlive it. */
  readonly transaction: <A, R>(target: Target, statements: Statements<A, R>) => Statements<A, R>
  /** Runs a statement outside of a transaction. */
  readonly execute: (statement: string) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
}

class Session {
  /** Whether a statement was abandoned, so that the connection can't be reused. */
  broken = false
  readonly client: Pg.PoolClient
  readonly connection: Connection
  readonly onError = () => {
    this.broken = true
  }

  constructor(client: Pg.PoolClient) {
    this.client = client
    // Without a listener the loss of the connection would end the process.
    client.on("error", this.onError)
    const rows = (text: string, values: ReadonlyArray<unknown>) =>
      Effect.map(this.query<Pg.QueryResult<object>>({ text, values: [...values] }), (result) => result.rows)
    const execute: Connection["execute"] = (text, values, transform) =>
      Effect.map(rows(text, values), (found) => transform === undefined ? found : transform(found))
    this.connection = {
      execute,
      executeUnprepared: execute,
      executeRaw: (text, values) => this.query({ text, values: [...values] }),
      executeValues: (text, values) =>
        Effect.map(
          this.query<Pg.QueryArrayResult>({ text, values: [...values], rowMode: "array" }),
          (result): ReadonlyArray<ReadonlyArray<unknown>> => result.rows
        ),
      executeStream: (text, values, transform) => Stream.fromIterableEffect(execute(text, values, transform))
    }
  }

  /** Sends a text. Without values it may contain several statements, and the driver then returns a list of results. */
  query<Result>(config: { readonly text: string; readonly values?: Array<unknown>; readonly rowMode?: "array" }) {
    return Effect.async<Result, SqlError>((resume) => {
      if (this.broken) {
        return resume(Effect.fail(new SqlError({ cause: new Error("the connection was terminated"), message: "no connection" })))
      }
      let ended = false
      // The type of the result follows from `rowMode`, which the driver's types express by overloads.
      this.client.query(config as Pg.QueryConfig, (cause: Error | null, result: unknown) => {
        ended = true
        resume(cause === null ? Effect.succeed(result as Result) : Effect.fail(new SqlError({ cause, message: "a statement failed" })))
      })
      return Effect.sync(() => {
        if (!ended) this.broken = true
      })
    })
  }

  /** Runs statements that begin or end a transaction. They can't be interrupted, and fail if the server does not respond. */
  control(text: string, timeout: Duration.DurationInput) {
    return this.query({ text }).pipe(Effect.interruptible, Effect.timeoutFail({ duration: timeout, onTimeout: timedOut }))
  }

  /** Runs a statement that restores the connection. If that fails, the connection is closed. */
  restore(text: string) {
    return Effect.ignore(Effect.tapError(this.control(text, cleanupTimeout), () => Effect.sync(this.onError)))
  }

  release() {
    this.client.off("error", this.onError)
    this.client.release(this.broken)
  }
}

const timedOut = () => new SqlError({ cause: new Error("the statement timed out"), message: "a statement timed out" })

const acquire = (pool: Pg.Pool): Effect.Effect<Session, SqlError, Scope.Scope> =>
  Effect.acquireRelease(
    // Not interruptible: a connection that arrived after an interruption would belong to nobody. The pool ends the wait.
    Effect.async<Session, SqlError>((resume) => {
      pool.connect((cause, client) =>
        resume(
          client === undefined
            ? Effect.fail(new SqlError({ cause: cause ?? new Error("no client"), message: "no connection" }))
            : Effect.sync(() => new Session(client))
        )
      )
    }),
    (session) => Effect.sync(() => session.release())
  )

/** Cancels what the server still does for a connection that is closed. It would go on until it writes to the connection. */
const cancel = (pool: Pg.Pool, pid: number) =>
  Effect.promise(() => pool.query("SELECT pg_cancel_backend($1)", [pid]).then(() => undefined, () => undefined)).pipe(
    Effect.interruptible,
    Effect.timeoutOption(cleanupTimeout)
  )

// A transaction of a suspended process is ended before its shards move, so that its locks don't delay the next runner.
const begin = ({ number }: Target, settings: string) =>
  `BEGIN; SET LOCAL ${accountSetting} = '${number}'; SET LOCAL idle_in_transaction_session_timeout = '4s'; ${settings}`

const inTransaction = <A, R>(
  session: Session,
  target: Target,
  settings: string,
  statements: Statements<A, R>
): Statements<A, R> =>
  Effect.uninterruptibleMask((restore) =>
    session.control(begin(target, settings), operationTimeout).pipe(
      Effect.zipRight(restore(
        Effect.mapInputContext(statements,
          (context: Context.Context<R>) => Context.add(context, SqlClient.TransactionConnection, [session.connection, 0] as const))
      )),
      Effect.tap(session.control(`SELECT ${LedgerSchema.fence}(${target.number}, ${target.epoch ?? "NULL"}); COMMIT`, operationTimeout)),
      Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : session.restore("ROLLBACK"))
    )
  )

export const make = (pool: Pg.Pool): Effect.Effect<LedgerSessions> =>
  Effect.gen(function*() {
    const operations = yield* Effect.makeSemaphore(maxOperations)
    const snapshots = yield* Effect.makeSemaphore(maxSnapshots)
    const client = yield* SqlClient.make({
      acquirer: Effect.dieMessage("a statement of a ledger needs a transaction"),
      compiler: PgClient.makeCompiler(),
      spanAttributes: []
    })
    return {
      // Every operation is a transaction already.
      sql: Object.assign(client, { withTransaction: <A, E, R>(statements: Effect.Effect<A, E, R>) => statements }),
      operation: (target, statements) =>
        Effect.flatMap(acquire(pool), (session) =>
          inTransaction(
            session,
            target,
            "SET LOCAL statement_timeout = '60s'",
            // Interruptible by the timeout alone.
            statements.pipe(Effect.interruptible, Effect.timeoutFail({ duration: operationTimeout, onTimeout: timedOut }))
          )).pipe(Effect.scoped, Effect.uninterruptible, operations.withPermits(1)),
      snapshot: (use, onFailure) =>
        Effect.gen(function*() {
          const session = yield* Effect.mapError(acquire(pool), onFailure)
          const [row] = (yield* Effect.mapError(
            session.query<Pg.QueryResult<{ pid: number }>>({ text: "SELECT pg_backend_pid() AS pid" }),
            onFailure
          )).rows
          yield* Effect.addFinalizer(() => session.broken && row !== undefined ? cancel(pool, row.pid) : session.restore("DISCARD TEMP"))
          return yield* use({
            transaction: (target, statements) =>
              // Memory to compare a snapshot of a million products.
              inTransaction(session, target, "SET LOCAL statement_timeout = '10min'; SET LOCAL work_mem = '64MB'", statements),
            execute: (statement) => session.connection.execute(statement, [], undefined)
          })
        }).pipe(Effect.scoped, snapshots.withPermits(1))
    } satisfies LedgerSessions
  }).pipe(Effect.provide(Reactivity.layer))
