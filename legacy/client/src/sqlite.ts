/**
 * A `SqlClient` on the SQLite of Node, for `RateLimitSql`. No native module and no file but the database itself.
 *
 * @since 0.1.0
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Statement from "@effect/sql/Statement"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
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

// In Node 22, a statement keeps the columns that it had when it was prepared.
const changesColumns = /^\s*(alter|drop|rollback)\b/i

// Node takes a first value that is an object, such as a Date, as the values of named parameters. With this in its place, it is an error.
const unnamed = {}

// Node 22 rejects a boolean. The cast is true or an error: SQLite rejects a value of another type.
const toValue = (value: unknown): NodeSqlite.SQLInputValue => typeof value === "boolean" ? Number(value) : value as NodeSqlite.SQLInputValue

const makeConnection = (database: NodeSqlite.DatabaseSync): Connection => {
  const cache = new Map<string, Prepared>()

  const prepare = (sql: string): Prepared => {
    const cached = cache.get(sql)
    if (cached !== undefined) return cached
    const statement = database.prepare(sql)
    // As numbers, those beyond 2 to the 53rd would be an error after the statement has run.
    statement.setReadBigInts(true)
    const prepared = { statement, returnsRows: statement.columns().length > 0 }
    if (cache.size >= longestCache) cache.clear()
    cache.set(sql, prepared)
    return prepared
  }

  const run = (sql: string, params: ReadonlyArray<unknown>, asArrays = false): Effect.Effect<ReadonlyArray<Row>, SqlError> =>
    Effect.withFiberRuntime((fiber) => {
      try {
        const { returnsRows, statement } = prepare(sql)
        const values = params.map(toValue)
        if (!returnsRows) {
          statement.run(unnamed, ...values)
          if (changesColumns.test(sql)) cache.clear()
          return Effect.succeed([])
        }
        statement.setReturnArrays(asArrays)
        // True: each row is an object or an array of the values of its columns.
        const rows = statement.all(unnamed, ...values) as Array<Row>
        if (!Context.get(fiber.currentContext, SqlClient.SafeIntegers)) {
          for (const row of rows) for (const name in row) if (typeof row[name] === "bigint") row[name] = Number(row[name])
        }
        return Effect.succeed(rows)
      } catch (cause) {
        return Effect.fail(new SqlError({ cause, message: "Failed to execute statement" }))
      }
    })

  const execute: Connection["execute"] = (sql, params, transformRows) =>
    transformRows === undefined ? run(sql, params) : Effect.map(run(sql, params), transformRows)

  return {
    execute,
    executeUnprepared: execute,
    executeRaw: run,
    // True of a statement whose rows are arrays.
    executeValues: (sql, params) => Effect.map(run(sql, params, true), (rows) => rows as unknown as ReadonlyArray<ReadonlyArray<unknown>>),
    executeStream: (sql, params, transformRows) => Stream.fromIterableEffect(execute(sql, params, transformRows))
  }
}

const open = ({ disableWAL = false, filename, readonly = false }: Options): Effect.Effect<NodeSqlite.DatabaseSync, SqlError> =>
  Effect.try({
    try: () => {
      const database = new (load().DatabaseSync)(filename, { readOnly: readonly })
      try {
        database.exec("PRAGMA temp_store = MEMORY")
        if (!disableWAL && !readonly) database.exec("PRAGMA journal_mode = WAL")
      } catch (cause) {
        database.close()
        throw cause
      }
      return database
    },
    catch: (cause) => new SqlError({ cause, message: `Failed to open ${filename}` })
  })

/**
 * Opens a database until the scope ends. Statements run one at a time, and block the thread. Fails with `SqlError` if the file can't be
 * opened; its `cause` has SQLite's result code as `errcode`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<SqlClient.SqlClient, SqlError, Scope.Scope | Reactivity.Reactivity> =>
  Effect.gen(function*() {
    const database = yield* Effect.acquireRelease(open(options), (database) => Effect.sync(() => database.close()))
    const connection = makeConnection(database)
    const semaphore = yield* Effect.makeSemaphore(1)
    return yield* SqlClient.make({
      acquirer: semaphore.withPermits(1)(Effect.succeed(connection)),
      transactionAcquirer: Effect.uninterruptibleMask((restore) =>
        Effect.zipRight(
          restore(semaphore.take(1)),
          Effect.as(Effect.flatMap(Effect.scope, (scope) => Scope.addFinalizer(scope, semaphore.release(1))), connection)
        )
      ),
      compiler: Statement.makeCompilerSqlite(),
      spanAttributes: [["db.system.name", "sqlite"]]
    })
  })

/**
 * Provides a `SqlClient` for a database: see {@link make}.
 *
 * @example
 * import * as RateLimitSql from "@plaza-legacy/client/RateLimitSql"
 * import * as Sqlite from "@plaza-legacy/client/sqlite"
 * import { Layer, Redacted } from "effect"
 *
 * const shared = RateLimitSql.layer({ apiKey: Redacted.make("key_...") }).pipe(
 *   Layer.provide(Sqlite.layer({ filename: "rate-limit.db" }))
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<SqlClient.SqlClient, SqlError> =>
  Layer.provide(Layer.scoped(SqlClient.SqlClient, make(options)), Reactivity.layer)

/**
 * As {@link layer}, with options from the configuration. Also fails with `ConfigError` if one of them is missing or invalid.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: Config.Config.Wrap<Options>
): Layer.Layer<SqlClient.SqlClient, SqlError | ConfigError.ConfigError> => Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))
