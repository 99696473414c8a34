/**
 * The Postgres of a fleet: `STOCK_SYNC_FLEET_DATABASE`. Everything lies in the schema `plaza_fleet`. A runner uses at most 12 connections:
 * 6 for the fleet and the ledgers, 3 for snapshots, 3 for the ownership of shards.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as SecretFile from "@plaza/cli-kit/SecretFile"
import type { ConfigError } from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import { closedWithin, makeSockets, type Sockets, types, within } from "../ledger/database/Connections.ts"
import { type Naming, postgresMessage } from "../ledger/database/Faults.ts"
import * as Operation from "../ledger/Operation.ts"
import * as Rows from "../ledger/Rows.ts"
import * as CountedSemaphore from "./CountedSemaphore.ts"
import { FleetDatabaseError } from "./FleetError.ts"

export const variable = "STOCK_SYNC_FLEET_DATABASE"
export const schema = "plaza_fleet"

/** Statements about several accounts, and operations of ledgers, at the same time. */
const queries = 2
const operations = 4
/** Each keeps a connection while its rows are staged and compared. */
const snapshots = 3
/** Of these, the ones whose source is still read. The other serves sources of usual size, which never wait for an endless one. */
const readingSnapshots = 2
/** How often a source that is read looks whether it may go on with its next batch of rows. */
const giveWayEvery = Duration.millis(20)
/** How many times at most, for each batch. */
const giveWayTimes = 5
/** What is left of the 12 connections of a runner. */
export const ownershipConnections = 3

/** How many connections a process uses, and how many statements wait for one. */
interface ConnectionCounts {
  readonly used: number
  readonly idle: number
  readonly waiting: number
}

type RunStatements = <A, E, R>(
  statements: Effect.Effect<A, E, R>
) => Effect.Effect<A, Exclude<E, Operation.Failure> | FleetDatabaseError, R>

export class FleetDatabase extends Context.Service<FleetDatabase, {
  readonly sql: SqlClient.SqlClient
  /** The address without user and password, for messages. */
  readonly name: string
  /** The address for further connections to the same database. */
  readonly url: Redacted.Redacted
  /** Runs statements; a failure names the database and what to do. Inside of it, statements run by `sql` alone. */
  readonly run: RunStatements
  /** As `run`, one after the other: reports about all accounts may be slow, and leave a connection to what keeps the accounts going. */
  readonly report: RunStatements
  /** For the ledgers: the turn of an operation among those of all accounts, and sessions for snapshots. */
  readonly ledgers: Required<Pick<Operation.Database, "giveWay" | "inTurn" | "session">>
  readonly connections: Effect.Effect<ConnectionCounts>
  /** Adds sockets of another client to those that are ended. */
  readonly follow: (sockets: Sockets) => Effect.Effect<void>
  /** Ends all connections, and further ones at once, so that a stop does not wait for a silent server. */
  readonly abandon: Effect.Effect<void>
  /** Cuts the connections if the server does not respond, and ends then; never ends otherwise. */
  readonly silent: Effect.Effect<void>
}>()("@plaza/stock-sync/fleet/FleetDatabase") {}

/** Names a part of this database in messages. */
export const naming = (subject: string): Naming => ({
  subject,
  setting: variable,
  grant: "run the GRANT statements of docs/fleet.md, also after each migration"
})

const sessionRow = Rows.only(Schema.Struct({ id: Schema.Int }))

const addressOf = (text: string): Effect.Effect<URL, UsageError> =>
  URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol)
    ? Effect.succeed(new URL(text))
    : Effect.fail(
      new UsageError({ message: `${variable} is not the address of a Postgres: set it to postgres://user:password@host:port/database` })
    )

/** Reads the address from the variable, or from the file that `STOCK_SYNC_FLEET_DATABASE_FILE` names; fails if neither is set. */
export const address: Effect.Effect<Redacted.Redacted, UsageError | ConfigError, FileSystem.FileSystem> = Effect.gen(function*() {
  const given = yield* SecretFile.secret(variable)
  if (Option.isNone(given)) {
    return yield* new UsageError({ message: `the fleet has no database: set ${variable} to postgres://user:password@host:port/database` })
  }
  const text = Redacted.value(given.value).trim()
  yield* addressOf(text)
  return Redacted.make(text)
})

const connectTimeout = Duration.seconds(5)
const idleTimeout = Duration.seconds(10)
const closeTimeout = Duration.seconds(1)
/** How long a server that is asked may be silent: a stop takes five seconds at most, of which the release of the shards may take two. */
const stopTimeout = Duration.millis(2_500)
/** After its time a statement fails by itself, unless the server is silent. */
const statementTolerance = Duration.seconds(5)
/** How long the question whether the server works on a statement may take. */
const askTimeout = Duration.seconds(2)
/** A response that the server has sent arrives within this time. */
const arrivesWithin = Duration.seconds(1)
/** How long nothing may come or go while a session waits for its source. Longer than a source may take. */
const sessionSilence = Duration.minutes(20)

interface Limits {
  /** How long a statement may take, and how long the server may be silent on its connection. */
  readonly statement: Duration.Duration
  /** How long a statement of a snapshot may take. Between two of them its session waits for the source. */
  readonly snapshot: Duration.Duration
  /** How long a statement of a snapshot may take before the server is asked, again and again, whether it still works on it. */
  readonly askAfter: Duration.Duration
  /** How long a source waits for others that are read. Meanwhile it keeps one of the reads of all accounts. */
  readonly reading: Duration.Duration
}

/** No statement of a runner takes so long, except those that write a snapshot of a million products. */
const ofRunner: Limits = {
  statement: Duration.seconds(20),
  snapshot: Duration.minutes(3),
  askAfter: Duration.seconds(5),
  reading: Duration.minutes(1)
}
/** The removal of an account with millions of products takes minutes. */
const ofCommand: Limits = { ...ofRunner, statement: Duration.minutes(10), snapshot: Duration.minutes(10) }

// A transaction of a suspended process is ended before its shards move, so that its locks don't delay the next runner.
const parametersOf = (limit: Duration.Duration): Readonly<Record<string, string>> => ({
  search_path: schema,
  statement_timeout: String(Duration.toMillis(limit)),
  idle_in_transaction_session_timeout: "4s",
  // Memory to compare a snapshot of a million products. Other statements use none of it.
  work_mem: "64MB",
  // A plan for any value scans the tables for the few products that few values find.
  plan_cache_mode: "force_custom_plan"
})

const make = Effect.fnUntraced(function*(url: Redacted.Redacted, limits: Limits) {
  const text = Redacted.value(url)
  const { host, pathname, protocol } = yield* addressOf(text)
  const name = `${protocol}//${host}${pathname}`
  const of = naming(`the fleet's database ${name}`)
  const orError = Operation.orFault((failure) =>
    new FleetDatabaseError({
      database: name,
      message: failure._tag === "SqlError"
        ? postgresMessage(of, failure)
        : `${of.subject} has a row that can't be read: restore it, or install the version of plaza-stock-sync that wrote it`
    })
  )

  const all = new Set<Sockets>()
  let isAbandoned = false
  const cut = Effect.suspend(() => Effect.forEach(all, (sockets) => sockets.cut, { discard: true }))
  const scope = yield* closedWithin(closeTimeout, cut)
  const connect = (max: number, limit: Duration.Duration, silence = limit) => {
    const sockets = makeSockets(text, silence)
    const followed = Effect.acquireRelease(
      Effect.suspend(() => {
        all.add(sockets)
        return isAbandoned ? sockets.abandon : Effect.void
      }),
      () => Effect.sync(() => all.delete(sockets))
    )
    const client = PgClient.make({
      url,
      applicationName: "plaza-stock-sync fleet",
      maxConnections: max,
      connectTimeout,
      idleTimeout,
      startupParameters: parametersOf(limit),
      types,
      stream: sockets.stream
    }).pipe(Effect.provide(Reactivity.layer))
    return Effect.map(Effect.andThen(followed, client), (sql) => ({ sql, sockets }))
  }
  const short = yield* orError(Scope.provide(connect(queries + operations, limits.statement), scope))
  const { sql } = short
  yield* orError(sql`SELECT 1`)

  const turns = {
    queries: CountedSemaphore.make(queries),
    operations: CountedSemaphore.make(operations),
    snapshots: CountedSemaphore.make(snapshots)
  }
  const reading = CountedSemaphore.make(readingSnapshots)
  const awaitReading = Effect.timeoutOrElse(reading.acquire, {
    duration: limits.reading,
    orElse: () => Effect.fail(new Operation.SessionsInUse({ most: readingSnapshots, waited: limits.reading }))
  })
  const isCrowded = () => turns.operations.counts().waiting + turns.snapshots.counts().waiting > 0
  // A large source uses this process and the server for seconds, in which each statement of the others would take several times as long.
  const giveWay = Effect.suspend(() =>
    isCrowded()
      ? Effect.as(Effect.repeat(Effect.sleep(giveWayEvery), { while: isCrowded, times: giveWayTimes - 1 }), true)
      : Effect.succeed(false)
  )

  const asking = Semaphore.makeUnsafe(1)
  /** Whether the server works on a statement of this session; undefined if that can't be found out now. */
  const isWorking = (id: number): Effect.Effect<boolean | undefined> => {
    // `disabled`: the server does not show what sessions do.
    const ask = sql`SELECT 1 FROM pg_stat_activity WHERE pid = ${id} AND state IN ('active', 'disabled')`
    const inTurn = asking.withPermitsIfAvailable(1)(turns.queries.withPermit(ask))
    return Effect.map(
      turns.queries.counts().held < queries ? within(Effect.orElseSucceed(inTurn, () => Option.none()), askTimeout) : Effect.succeedNone,
      (rows) => Option.getOrUndefined(Option.map(Option.flatten(rows), (rows) => rows.length > 0))
    )
  }
  /** Runs a statement, and meanwhile the effect that may cut its connection. */
  const withCut = <A, E>(cut: Effect.Effect<void>, statement: Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(Effect.forkDetach(cut), () => statement, Fiber.interrupt)

  /** A connection for one snapshot at a time. */
  const ofSession = Effect.suspend(() => Scope.provide(connect(1, limits.snapshot, sessionSilence), scope))
  const makeSession = Effect.map(ofSession, ({ sql, sockets }) => {
    let id: number | undefined
    // The server ends a statement that takes too long, unless it is silent: then an interrupted statement waits for it too.
    const cutAfter = Effect.delay(sockets.cut, Duration.sum(limits.snapshot, statementTolerance))
    // Twice, because a response may be on its way.
    const cutIfIdle = (id: number) =>
      Effect.delay(isWorking(id), limits.askAfter).pipe(
        Effect.flatMap((working) => working === false ? Effect.delay(isWorking(id), arrivesWithin) : Effect.succeed(working)),
        Effect.repeat({ while: (working) => working !== false }),
        Effect.andThen(sockets.cut)
      )
    const reserve = Effect.gen(function*(): Effect.fn.Return<Connection, SqlError, Scope.Scope> {
      const opened = sockets.opened()
      const connection = yield* sql.reserve
      // A further connection is another session of the server.
      if (id === undefined || sockets.opened() !== opened) {
        const row = sessionRow(withCut(cutAfter, connection.execute("SELECT pg_backend_pid() AS id", [], undefined)))
        id = (yield* Effect.catchTag(row, "SchemaError", Effect.die)).id
      }
      const session = id
      const watched = <A, E>(statement: Effect.Effect<A, E>) => withCut(Effect.race(cutAfter, cutIfIdle(session)), statement)
      return {
        execute: (...statement) => watched(connection.execute(...statement)),
        executeRaw: (...statement) => watched(connection.executeRaw(...statement)),
        executeStream: (...statement) => connection.executeStream(...statement),
        executeUnprepared: (...statement) => watched(connection.executeUnprepared(...statement)),
        executeValues: (...statement) => watched(connection.executeValues(...statement)),
        executeValuesUnprepared: (...statement) => watched(connection.executeValuesUnprepared(...statement))
      }
    })
    return { reserve, sockets, driver: sql.driver }
  })
  const sessions = yield* orError(Effect.replicateEffect(makeSession, snapshots))
  // The last one that was used is the next one, so that the others can be closed.
  const free = [...sessions]
  const takeSession = Effect.acquireRelease(
    Effect.sync(() => Option.getOrThrow(Option.fromUndefinedOr(free.pop()))),
    (session) => Effect.sync(() => void free.push(session))
  )
  const session = Effect.fnUntraced(function*(source: Operation.SnapshotSource) {
    if (source === "reading") yield* awaitReading
    yield* turns.snapshots.acquire
    const { driver, reserve } = yield* takeSession
    const connection = yield* reserve
    return yield* SqlClient.make({
      acquirer: Effect.succeed(connection),
      transactionAcquirer: Effect.succeed(connection),
      compiler: PgClient.makeCompiler(),
      driver,
      spanAttributes: []
    })
  }, Effect.provide(Reactivity.layer))

  // While statements use every connection, only a further one shows whether the server responds. A refusal is a response too.
  const ask = Effect.suspend(() =>
    turns.queries.counts().held + turns.operations.counts().held < queries + operations
      ? sql`SELECT 1`
      : Effect.scoped(Effect.flatMap(connect(1, limits.statement), (further) => further.sql`SELECT 1`))
  )

  const run: RunStatements = (statements) => orError(turns.queries.withPermit(statements))
  const reports = Semaphore.makeUnsafe(1)

  return FleetDatabase.of({
    sql,
    name,
    url,
    run,
    report: (statements) => reports.withPermit(run(statements)),
    ledgers: { inTurn: turns.operations.withPermit, session, giveWay },
    connections: Effect.sync(() => {
      const counts = Object.values(turns).map((turn) => turn.counts())
      const used = counts.reduce((sum, { held }) => sum + held, 0)
      return {
        used,
        idle: Math.max(0, [short, ...sessions].reduce((sum, { sockets }) => sum + sockets.count(), 0) - used),
        waiting: counts.reduce((sum, { waiting }) => sum + waiting, 0)
      }
    }),
    follow: (sockets) => Effect.sync(() => void all.add(sockets)),
    abandon: Effect.suspend(() => {
      isAbandoned = true
      return Effect.forEach(all, (sockets) => sockets.abandon, { discard: true })
    }),
    silent: Effect.flatMap(
      within(Effect.exit(ask), stopTimeout),
      Option.match({ onNone: () => cut, onSome: () => Effect.never })
    )
  })
})

/** For tests, with other limits. */
export const layerWith = (url: Redacted.Redacted, limits: Limits): Layer.Layer<FleetDatabase, UsageError | FleetDatabaseError> =>
  Layer.effect(FleetDatabase, make(url, limits))

/** For commands. */
export const layer = (url: Redacted.Redacted): Layer.Layer<FleetDatabase, UsageError | FleetDatabaseError> => layerWith(url, ofCommand)

/** For commands, with the database of the configuration. */
export const layerConfig: Layer.Layer<FleetDatabase, UsageError | ConfigError | FleetDatabaseError, FileSystem.FileSystem> = Layer
  .unwrap(Effect.map(address, layer))

/** For a runner, with the database of the configuration. */
export const layerRunner: typeof layerConfig = Layer.unwrap(Effect.map(address, (url) => layerWith(url, ofRunner)))
