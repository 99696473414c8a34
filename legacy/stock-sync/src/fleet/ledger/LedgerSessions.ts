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
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { ParseError } from "effect/ParseResult"
import * as Stream from "effect/Stream"
import type Pg from "pg"
import { accountSetting } from "../../ledger/Dialect.ts"
import { codeOf } from "../../ledger/PostgresErrors.ts"
import * as Permits from "../../sync/Permits.ts"
import { type FleetDatabase, limitSilence } from "../FleetDatabase.ts"
import * as LedgerSchema from "./LedgerSchema.ts"

/** Snapshots at the same time. Each keeps a connection while its rows are staged. */
const maxSnapshots = 3

/** Other operations at the same time. The pool's remaining connection is for queries about all accounts. */
const maxOperations = 5

/** Longer than any statement of an operation on the largest ledger takes, in milliseconds. */
const operationTimeout = 60_000
const cleanupTimeout = 5_000

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

  /** `timeout`: how long a statement waits for the server, in milliseconds; undefined: until it is interrupted. */
  constructor(client: Pg.PoolClient, timeout: number | undefined) {
    this.client = client
    // A statement of a snapshot may take minutes. Each has a limit of its own.
    limitSilence(client, Duration.infinity)
    // Without a listener the loss of the connection would end the process.
    client.on("error", this.onError)
    const rows = (text: string, values: ReadonlyArray<unknown>) =>
      Effect.map(this.query<Pg.QueryResult<object>>({ text, values: [...values] }, timeout), (result) => result.rows)
    const execute: Connection["execute"] = (text, values, transform) =>
      Effect.map(rows(text, values), (found) => transform === undefined ? found : transform(found))
    this.connection = {
      execute,
      executeUnprepared: execute,
      executeRaw: (text, values) => this.query({ text, values: [...values] }, timeout),
      executeValues: (text, values) =>
        Effect.map(
          this.query<Pg.QueryArrayResult>({ text, values: [...values], rowMode: "array" }, timeout),
          (result): ReadonlyArray<ReadonlyArray<unknown>> => result.rows
        ),
      executeStream: (text, values, transform) => Stream.fromIterableEffect(execute(text, values, transform))
    }
  }

  /** Sends a text. Without values it may contain several statements, and the driver then returns a list of results. */
  query<Result>(
    config: { readonly text: string; readonly values?: Array<unknown>; readonly rowMode?: "array" },
    timeout: number | undefined
  ) {
    return Effect.async<Result, SqlError>((resume) => {
      if (this.broken) {
        return resume(Effect.fail(new SqlError({ cause: new Error("the connection was terminated"), message: "no connection" })))
      }
      let ended = false
      // The driver's timer costs less than that of a fiber, and most of a ledger's time is spent here. The type of the result follows
      // from `rowMode`, which the driver's types express by overloads.
      this.client.query({ ...config, query_timeout: timeout } as Pg.QueryConfig, (cause: Error | null, result: unknown) => {
        ended = true
        if (cause === null) return resume(Effect.succeed(result as Result))
        // A failure without a code is one of the driver, such as the end of the timeout: the statement may still run.
        if (codeOf(cause) === undefined) this.broken = true
        resume(Effect.fail(new SqlError({ cause, message: "a statement failed" })))
      })
      return Effect.sync(() => {
        if (!ended) this.broken = true
      })
    })
  }

  /** Runs a statement that restores the connection. If that fails, the connection is closed. */
  restore(text: string) {
    return Effect.ignore(Effect.tapError(this.query({ text }, cleanupTimeout), () => Effect.sync(this.onError)))
  }

  release(silence: Duration.Duration) {
    this.client.off("error", this.onError)
    if (!this.broken) limitSilence(this.client, silence)
    this.client.release(this.broken)
  }
}

// Not interruptible: a connection that arrived after an interruption would belong to nobody. The pool ends the wait.
const acquire = (pool: Pg.Pool, timeout?: number) =>
  Effect.async<Session, SqlError>((resume) => {
    pool.connect((cause, client) =>
      resume(
        client === undefined
          ? Effect.fail(new SqlError({ cause: cause ?? new Error("no client"), message: "no connection" }))
          : Effect.sync(() => new Session(client, timeout))
      )
    )
  })

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
    session.query({ text: begin(target, settings) }, operationTimeout).pipe(
      Effect.zipRight(restore(
        Effect.mapInputContext(statements,
          (context: Context.Context<R>) => Context.add(context, SqlClient.TransactionConnection, [session.connection, 0] as const))
      )),
      Effect.tap(
        session.query({ text: `SELECT ${LedgerSchema.fence}(${target.number}, ${target.epoch ?? "NULL"}); COMMIT` }, operationTimeout)
      ),
      Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : session.restore("ROLLBACK"))
    )
  )

export const make = ({ pool, silence }: FleetDatabase["Type"]): Effect.Effect<LedgerSessions> =>
  Effect.gen(function*() {
    const release = (session: Session) => Effect.sync(() => session.release(silence))
    const operations = Permits.unsafeMake(maxOperations)
    const snapshots = Permits.unsafeMake(maxSnapshots)
    const client = yield* SqlClient.make({
      acquirer: Effect.dieMessage("a statement of a ledger needs a transaction"),
      compiler: PgClient.makeCompiler(),
      spanAttributes: []
    })
    return {
      // Every operation is a transaction already.
      sql: Object.assign(client, { withTransaction: <A, E, R>(statements: Effect.Effect<A, E, R>) => statements }),
      operation: (target, statements) =>
        Effect.acquireUseRelease(
          acquire(pool, operationTimeout),
          (session) => Effect.uninterruptible(inTransaction(session, target, "SET LOCAL statement_timeout = '60s'", statements)),
          release
        ).pipe(operations.withPermit),
      snapshot: (use, onFailure) =>
        Effect.gen(function*() {
          const session = yield* Effect.mapError(Effect.acquireRelease(acquire(pool), release), onFailure)
          const [row] = (yield* Effect.mapError(
            session.query<Pg.QueryResult<{ pid: number }>>({ text: "SELECT pg_backend_pid() AS pid" }, operationTimeout),
            onFailure
          )).rows
          yield* Effect.addFinalizer(() => session.broken && row !== undefined ? cancel(pool, row.pid) : session.restore("DISCARD TEMP"))
          return yield* use({
            transaction: (target, statements) =>
              // Memory to compare a snapshot of a million products.
              inTransaction(session, target, "SET LOCAL statement_timeout = '10min'; SET LOCAL work_mem = '64MB'", statements),
            execute: (statement) => session.connection.execute(statement, [], undefined)
          })
        }).pipe(Effect.scoped, snapshots.withPermit)
    } satisfies LedgerSessions
  }).pipe(Effect.provide(Reactivity.layer))
