/**
 * A ledger in Postgres. Each has a schema of its own. All statements use one session: a lost session also loses the lock, and nothing more
 * is written.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import type * as SqlClient from "effect/sql/SqlClient"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import * as AccountLedger from "../AccountLedger.ts"
import { Ledger, type LedgerOptions } from "../Ledger.ts"
import { LedgerFault, type LedgerInUse } from "../LedgerError.ts"
import * as Operation from "../Operation.ts"
import type { Database, Failure } from "../Operation.ts"
import * as Rows from "../Rows.ts"
import * as Tables from "../Schema.ts"
import { closedWithin, makeSockets, types, within } from "./Connections.ts"
import * as Faults from "./Faults.ts"
import { inUse } from "./InUse.ts"
import * as Migrations from "./Migrations.ts"
import * as PostgresAddress from "./PostgresAddress.ts"

const connectTimeout = Duration.seconds(5)
// Together at most eight seconds, so that a worker is not ready within ten.
const probeInterval = Duration.seconds(2)
const probeTimeout = Duration.seconds(6)
/** How long connections may take to close before they are cut. */
const closeTimeout = Duration.seconds(1)

interface Server extends PostgresAddress.PostgresAddress {
  /** One session, which has the lock and the temporary tables. */
  readonly sql: PgClient.PgClient
  /** Prepares the session. */
  readonly prepare: Effect.Effect<unknown, Failure>
  /** Looks over another session whether the server responds and has this one, also during a long statement. */
  readonly probe: Effect.Effect<void, SqlError>
  readonly cut: Effect.Effect<void>
}

const sessionRow = Rows.only(Schema.Struct({ id: Schema.Int }))

// Statements, because a pooler refuses such settings at the start of a session.
const prepareSession = (sql: SqlClient.SqlClient, schema: string, isReadOnly: boolean) => {
  const settings = {
    search_path: schema,
    // Memory to compare a snapshot of a million products. The defaults write them to disk several times.
    work_mem: "64MB",
    temp_buffers: "64MB",
    // A plan for any value scans the table for the few products that few values find.
    plan_cache_mode: "force_custom_plan",
    statement_timeout: "10min",
    // The lock of a host that vanished is released after 90 seconds, not after two hours.
    tcp_keepalives_idle: "30",
    tcp_keepalives_interval: "15",
    tcp_keepalives_count: "4",
    default_transaction_read_only: isReadOnly ? "on" : "off"
  }
  const set = sql.csv(Object.entries(settings).map(([name, value]) => sql`set_config(${name}, ${value}, false)`))
  return Effect.map(sessionRow(sql`SELECT pg_backend_pid() AS id, ${set}`), ({ id }) => id)
}

const connectionError = (reason: string) =>
  new SqlError({ reason: new ConnectionError({ cause: new Error(reason), message: reason, operation: "query" }) })

const connect = (
  address: PostgresAddress.PostgresAddress,
  isReadOnly: boolean
): Effect.Effect<Server, SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    const { cut, stream } = makeSockets(address.url)
    const scope = yield* closedWithin(closeTimeout, cut)
    const open = PgClient.makeClient({
      url: Redacted.make(address.url),
      applicationName: "plaza-stock-sync",
      connectTimeout,
      types,
      stream
    }).pipe(Scope.provide(scope), Effect.provide(Reactivity.layer))
    const sql = yield* open
    let id: number | undefined
    const prepare = Effect.map(prepareSession(sql, address.schema, isReadOnly), (session) => id = session)
    let second: PgClient.PgClient | undefined
    const session = Effect.suspend(() =>
      second === undefined ? Effect.tap(open, (client) => Effect.sync(() => second = client)) : Effect.succeed(second)
    )
    const ask = Effect.flatMap(session, (client) => client`SELECT pid FROM pg_stat_activity WHERE pid = ${id ?? 0}`).pipe(
      Effect.tapError(() => Effect.sync(() => second = undefined)),
      Effect.flatMap((rows) => id === undefined || rows.length > 0 ? Effect.void : Effect.fail(connectionError("the session was ended")))
    )
    // A session that was ended says nothing of the server, so it is asked again over another one.
    const probe = Effect.suspend(() => second === undefined ? ask : ask.pipe(Effect.catch(() => ask)))
    return { ...address, sql, prepare, probe, cut }
  })

const databaseOf = ({ path, sql }: Server): Database => ({
  sql,
  path,
  faultOf: Faults.ofServer(path)
})

const existsRow = Rows.only(Schema.Struct({ exists: Schema.Boolean }))
const exists = (statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>) => Effect.map(existsRow(statement), (row) => row.exists)

/** Whether there is a ledger. Fails if it is one of another version. */
const findLedger = ({ path, schema, sql }: Server): Effect.Effect<boolean, Failure | LedgerFault> =>
  Effect.gen(function*() {
    const hasTable = (table: string) => exists(sql`SELECT to_regclass(${`${schema}.${table}`}) IS NOT NULL AS "exists"`)
    const recorded = (yield* hasTable(Migrations.table)) ? yield* Migrations.recordedVersion(sql) : Option.none()
    const isThere = Option.isSome(recorded) || (yield* hasTable("product"))
    if (isThere && !Option.contains(recorded, Migrations.current))
      return yield* new LedgerFault({ path, message: `the ledger ${path} ${Migrations.ofOtherVersion}` })
    return isThere
  })

const lockRow = Rows.only(Schema.Struct({ acquired: Schema.Boolean }))

/** Acquires the lock of the session, which the server releases when the session ends, for whatever reason. */
const acquireLock = ({ path, schema, sql }: Server) =>
  Effect.gen(function*() {
    const key = sql`hashtextextended(${`plaza-stock-sync ${schema}`}, 0)`
    const { acquired } = yield* lockRow(sql`SELECT pg_try_advisory_lock(${key}) AS acquired`)
    if (!acquired) return yield* Effect.flatMap(inUse(path, Effect.succeed(sql)), Effect.fail)
    // The server notices the end of the session a moment later than a program that starts at once.
    yield* Effect.addFinalizer(() => Effect.ignore(within(sql`SELECT pg_advisory_unlock(${key})`, closeTimeout)))
  })

/** Fails when the server is lost or silent: then the connections are cut, so that nothing waits for it. */
const lostOf = ({ cut, probe }: Server): Effect.Effect<never, SqlError> => {
  const responds = probe.pipe(
    // A refusal is a response too, such as one for too many connections.
    Effect.catchIf((error) => error.reason._tag !== "ConnectionError", () => Effect.void)
  )
  return Effect.sleep(probeInterval).pipe(
    Effect.andThen(within(responds, probeTimeout)),
    Effect.flatMap(Option.match({ onNone: () => Effect.fail(connectionError("the server timed out")), onSome: () => Effect.void })),
    Effect.forever,
    Effect.tapError(() => cut)
  )
}

type Lost = Effect.Effect<never, LedgerFault>

/** Opens the ledger, unless the server falls silent meanwhile. */
const layerOf = <E>(
  address: string,
  make: (server: Server, lost: Lost) => Effect.Effect<Ledger["Service"], E, Scope.Scope>,
  isReadOnly = false
): Layer.Layer<Ledger, Exclude<E | SqlError, Failure> | LedgerFault> =>
  Layer.effect(
    Ledger,
    Effect.gen(function*() {
      const parsed = yield* PostgresAddress.parse(address)
      const orFault = Operation.orFault(Faults.ofServer(parsed.path))
      const server = yield* orFault(connect(parsed, isReadOnly))
      const lost = orFault(lostOf(server))
      const opening = Effect.andThen(server.prepare, make(server, lost))
      return yield* Effect.raceFirst(orFault(opening), lost)
    }).pipe(Effect.withSpan("StockSync.openLedger", { attributes: { "db.system.name": "postgresql" } }))
  ).pipe(Layer.provide(Reactivity.layer))

/**
 * Opens the ledger for the worker, and creates it. Holds its lock until the scope of the layer closes: a second process gets
 * `LedgerInUse`. Requests that an earlier process did not finish become doubtful.
 */
export const layer = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault | LedgerInUse> =>
  layerOf(address, (server, lost) =>
    Effect.gen(function*() {
      const { schema, sql } = server
      yield* acquireLock(server)
      // A schema of an administrator needs no permission to create one.
      if (!(yield* exists(sql`SELECT to_regnamespace(${schema}) IS NOT NULL AS "exists"`))) yield* sql.unsafe(`CREATE SCHEMA ${schema}`)
      if (!(yield* findLedger(server))) yield* Migrations.migrate(sql, Tables.postgres, Tables.addAccount(AccountLedger.single))
      const epoch = yield* AccountLedger.takeOver(sql, AccountLedger.single)
      yield* AccountLedger.recover({ sql, account: AccountLedger.single, epoch }, options)
      return AccountLedger.make(databaseOf(server), { account: AccountLedger.single, epoch }, options, { lost })
    }))

const beside = (database: Database, options: LedgerOptions, lost: Lost) =>
  AccountLedger.make(database, { account: AccountLedger.single, epoch: undefined }, options, { lost })

const requireLedger = (server: Server) =>
  Effect.flatMap(findLedger(server), (isThere) =>
    isThere ? Effect.void : Effect.fail(new LedgerFault({
      path: server.path,
      message: `the ledger ${server.path} does not exist yet: \`plaza-stock-sync once\` creates it, or name another one with --ledger or ` +
        "STOCK_SYNC_LEDGER"
    })))

/** Opens the ledger beside a running worker, for commands that write. Fails if it does not exist. */
export const layerBeside = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault> =>
  layerOf(address, (server, lost) => Effect.as(requireLedger(server), beside(databaseOf(server), options, lost)))

/** Opens the ledger for reading, beside a running worker. Fails if it does not exist. */
export const layerReadOnly = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault> =>
  layerOf(address, (server, lost) => Effect.as(requireLedger(server), beside(databaseOf(server), options, lost)), true)

/** A temporary copy of the ledger, empty if the ledger does not exist. */
export const layerCopy = (address: string, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault> =>
  layerOf(address, (server, lost) =>
    Effect.gen(function*() {
      const isThere = yield* findLedger(server)
      yield* Migrations.inOrder(server.sql, [
        ...Tables.createCopy(Tables.postgres, AccountLedger.single, isThere ? server.schema : undefined),
        "ANALYZE product"
      ])
      return beside(databaseOf(server), options, lost)
    }))
