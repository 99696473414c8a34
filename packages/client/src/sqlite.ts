/**
 * A `SqlClient` on Node's own SQLite, for `RateLimitSql` and for programs.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import { classifySqliteError, SqlError } from "effect/sql/SqlError"
import * as Statement from "effect/sql/Statement"
import * as Stream from "effect/Stream"
import type * as NodeSqlite from "node:sqlite"

/**
 * The database of a client.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The path of the file, or `:memory:`. SQLite creates a file that does not exist. */
  readonly filename: string
  /** Opens the file for reading only, in the journal mode that it has (default: false). */
  readonly readonly?: boolean
  /** Leaves the journal mode of the file as it is (default: false, which sets it to the write-ahead log). */
  readonly disableWAL?: boolean
}

/** Node 22 prints a warning when it loads the module, which would be the first output of every program that uses it. */
const load = (): typeof NodeSqlite => {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule("node:sqlite")
  } finally {
    process.emitWarning = emitWarning
  }
}

type Row = Record<string, unknown>

interface Prepared {
  readonly statement: NodeSqlite.StatementSync
  readonly returnsRows: boolean
}

// A program has a few dozen statements. The limit is for one that puts values into their text.
const longestCache = 200

const rowsInChunk = 512

// A program that opens the same file changes its journal mode, and one that closes it deletes the log. Both lock it for a moment.
const whileLocked = Schedule.max([Schedule.jittered(Schedule.spaced("10 millis")), Schedule.recurs(100)])

// In Node 22, a statement keeps the columns that it had when it was prepared.
const changesColumns = /^\s*(alter|drop|rollback)\b/i

// Node takes a first value that is an object, such as a Date, as the values of named parameters. With this in its place, it is an error.
const unnamed = {}

// Node 22 rejects a boolean. The cast is true or an error: SQLite rejects a value of another type.
const toValue = (value: unknown): NodeSqlite.SQLInputValue => typeof value === "boolean" ? Number(value) : value as NodeSqlite.SQLInputValue

const toNumbers = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  for (const row of rows) for (const name in row) if (typeof row[name] === "bigint") row[name] = Number(row[name])
  return rows
}

const attempt = <A>(operation: "open" | "execute" | "stream", f: () => A, context = ""): Effect.Effect<A, SqlError> =>
  Effect.try({
    try: f,
    catch: (cause) => {
      const message = `${context}${cause instanceof Error ? cause.message : String(cause)}`
      // SQLite's result code is `errcode` in Node, and `errno` for the classification.
      const coded = cause instanceof Error && "errcode" in cause ? Object.assign(cause, { errno: cause.errcode }) : cause
      return new SqlError({ reason: classifySqliteError(coded, { message, operation }) })
    }
  })

const makeConnection = (database: NodeSqlite.DatabaseSync): Connection => {
  const cache = new Map<string, Prepared>()

  const prepare = (sql: string): Prepared => {
    const statement = database.prepare(sql)
    // As numbers, those beyond 2 to the 53rd would be an error after the statement has run.
    statement.setReadBigInts(true)
    return { statement, returnsRows: statement.columns().length > 0 }
  }

  const prepareOnce = (sql: string): Prepared => {
    const cached = cache.get(sql)
    if (cached !== undefined) return cached
    const prepared = prepare(sql)
    if (cache.size >= longestCache) cache.clear()
    cache.set(sql, prepared)
    return prepared
  }

  /** Runs a statement and picks from its rows, or from the changes that a statement without rows made. */
  const run = <A>(
    find: (sql: string) => Prepared,
    sql: string,
    params: ReadonlyArray<unknown>,
    pick: (rows: ReadonlyArray<Row>, changes?: Row) => A,
    asArrays = false
  ): Effect.Effect<A, SqlError> =>
    Effect.withFiber((fiber) =>
      attempt("execute", () => {
        const { returnsRows, statement } = find(sql)
        const values = params.map(toValue)
        const convert = fiber.getRef(SqlClient.SafeIntegers) ? identity<ReadonlyArray<Row>> : toNumbers
        if (returnsRows) {
          statement.setReturnArrays(asArrays)
          return pick(convert(statement.all(unnamed, ...values)))
        }
        const changes = { ...statement.run(unnamed, ...values) }
        if (changesColumns.test(sql)) cache.clear()
        return pick([], convert([changes])[0])
      })
    )

  const execute = (find: (sql: string) => Prepared): Connection["execute"] => (sql, params, transformRows = identity) =>
    run(find, sql, params, transformRows)

  const executeValues = (find: (sql: string) => Prepared): Connection["executeValues"] => (sql, params) =>
    // True of a statement whose rows are arrays.
    run(find, sql, params, (rows) => rows as unknown as ReadonlyArray<ReadonlyArray<unknown>>, true)

  const executeStream: Connection["executeStream"] = (sql, params, transformRows = identity) =>
    Stream.unwrap(Effect.withFiber((fiber) => {
      const convert = fiber.getRef(SqlClient.SafeIntegers) ? identity<ReadonlyArray<Row>> : toNumbers
      return Effect.map(
        // A statement of its own, because the next use of a cached statement would reset it.
        Effect.acquireRelease(
          attempt("stream", () => prepare(sql).statement.iterate(unnamed, ...params.map(toValue))),
          (rows) => Effect.sync(() => rows.return?.())
        ),
        (rows) => {
          // In Node 22, an iterator that has ended starts again.
          let hasEnded = false
          const pull = attempt("stream", () => {
            const chunk: Array<Row> = []
            while (!hasEnded && chunk.length < rowsInChunk) {
              const next = rows.next()
              if (next.done === true) hasEnded = true
              else chunk.push(next.value)
            }
            return transformRows(convert(chunk))
          })
          return Stream.fromPull(Effect.succeed(
            Effect.flatMap(pull, (chunk) => Arr.isReadonlyArrayNonEmpty(chunk) ? Effect.succeed(chunk) : Cause.done())
          ))
        }
      )
    }))

  return {
    execute: execute(prepareOnce),
    executeUnprepared: execute(prepare),
    executeValues: executeValues(prepareOnce),
    executeValuesUnprepared: executeValues(prepare),
    executeRaw: (sql, params) => run(prepareOnce, sql, params, (rows, changes) => changes ?? rows),
    executeStream
  }
}

const open = ({ disableWAL = false, filename, readonly = false }: Options): Effect.Effect<NodeSqlite.DatabaseSync, SqlError> =>
  attempt("open", () => {
    const database = new (load().DatabaseSync)(filename, { readOnly: readonly })
    try {
      database.exec("PRAGMA temp_store = MEMORY")
      if (!disableWAL && !readonly) database.exec("PRAGMA journal_mode = WAL")
    } catch (cause) {
      database.close()
      throw cause
    }
    return database
  }, `Failed to open ${filename}: `).pipe(
    Effect.retry({ schedule: whileLocked, while: ({ reason }) => reason._tag === "LockTimeoutError" })
  )

/**
 * Opens a database until the scope ends. Statements run one at a time, and block the thread. A transaction begins with `BEGIN IMMEDIATE`,
 * so that only its beginning can fail for the lock of another process. While a stream of rows is read, other statements wait, except
 * those of the same transaction.
 *
 * Fails with `SqlError` if the file can't be opened, or is locked for more than a second. The `cause` of each error's `reason` has SQLite's result code as `errcode`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<SqlClient.SqlClient, SqlError, Scope.Scope | Reactivity.Reactivity> {
  const database = yield* Effect.acquireRelease(open(options), (database) => Effect.sync(() => database.close()))
  return yield* SqlClient.make({
    ...SqlClient.makeSqliteAcquirers({
      connection: Effect.succeed(makeConnection(database)),
      semaphore: yield* Semaphore.make(1),
      isTransaction: () => database.isTransaction
    }),
    driver: "node-sqlite",
    compiler: Statement.makeCompilerSqlite(),
    prepareTransactionControls: true,
    beginTransaction: options.readonly === true ? "BEGIN" : "BEGIN IMMEDIATE",
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    spanAttributes: [["db.system.name", "sqlite"]]
  })
})

/**
 * Provides a `SqlClient` for a database: see {@link make}.
 *
 * @example
 * import * as RateLimitSql from "@plaza/client/RateLimitSql"
 * import * as Sqlite from "@plaza/client/sqlite"
 * import { Layer, Redacted } from "effect"
 *
 * const shared = RateLimitSql.layer({ apiKey: Redacted.make("a key") }).pipe(
 *   Layer.provide(Sqlite.layer({ filename: "rate-limit.db" }))
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.provide(Layer.effect(SqlClient.SqlClient, make(options)), Reactivity.layer)

/**
 * As {@link layer}, with options from the configuration. Also fails with `ConfigError` if one of them is missing or invalid.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (options: Config.Wrap<Options>): Layer.Layer<SqlClient.SqlClient, SqlError | Config.ConfigError> =>
  Layer.unwrap(Effect.map(Config.unwrap(options), layer))
