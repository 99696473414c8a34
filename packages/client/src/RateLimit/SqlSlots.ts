/**
 * One key's slots in a database that several processes share: the tables, and every statement on them. Each statement
 * is a transaction of its own, so that no lock is ever held between two of them. Knows nothing of waiting.
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
import { InvalidSettings } from "../Failures.js"

// A service that counts a request which is exactly one window old must not refuse ours.
const safetyMillis = 1

// A statement that takes longer than this hangs; whoever waits for a slot has to be told.
const statementTimeout = Duration.seconds(5)

// Any number does, as long as no one else's tables are guarded by the same one.
const tablesLock = 7_052_922_117

const dayMillis = 24 * 60 * 60 * 1_000
const unusedDays = 30

// Processes that start together lock one another out for moments.
const whileOthersBegin = Schedule.exponential("10 millis").pipe(
  Schedule.jittered,
  Schedule.modifyDelay((_, delay) => Duration.millis(Math.ceil(Duration.toMillis(delay)))),
  Schedule.intersect(Schedule.recurs(9))
)

/** One taking of a slot. Its turn tells it from a later taking of the same slot. */
export interface Claim {
  readonly slot: number
  readonly turn: number
}

/** A slot that can't be taken yet. */
export interface BusySlot {
  /** Milliseconds until it comes free: at the latest, where it is in flight. */
  readonly wait: number
  readonly state: "cooling" | "in flight here" | "in flight elsewhere"
}

/** What the database says at one moment. */
export interface Look {
  /** Slots that exist; fewer than the limit if they have to be made first. */
  readonly slots: number
  readonly free: number
  readonly busy: ReadonlyArray<BusySlot>
  /** Milliseconds until the gate opens; not above 0 when it is open. */
  readonly closedFor: number
  /** Other processes that wait for slots of this key. */
  readonly others: number
}

/** @since 0.1.0 @category models */
export interface SqlSlots {
  /** Takes free slots: as many as asked for, but no more than its share when other processes wait as well. */
  readonly claim: (count: number) => Effect.Effect<ReadonlyArray<Claim>, SqlError>
  readonly look: Effect.Effect<Look, SqlError>
  /** The requests in slots ended, the last of them at a moment of the process's clock. */
  readonly answered: (claims: ReadonlyArray<Claim>, endedAt: number) => Effect.Effect<void, SqlError>
  /** Nothing was sent from a slot. */
  readonly giveBack: (claim: Claim) => Effect.Effect<void, SqlError>
  /** Lengthens the lease of slots that are still held, and says which those are. */
  readonly renew: (claims: ReadonlyArray<Claim>) => Effect.Effect<ReadonlyArray<Claim>, SqlError>
  readonly closeFor: (millis: number) => Effect.Effect<void, SqlError>
  /** Lets other processes know that this one waits for so long. */
  readonly enlist: (millis: number) => Effect.Effect<void, SqlError>
  readonly delist: Effect.Effect<void, SqlError>
  /** Makes the slots that don't exist. */
  readonly seed: Effect.Effect<void, SqlError>
  /** Gives back what this process holds, except for what is in use. */
  readonly giveBackAllBut: (inUse: ReadonlyArray<Claim>) => Effect.Effect<void, SqlError>
}

/** @since 0.1.0 @category models */
export interface SqlSlotsOptions {
  /** Tells keys apart. Never the key itself. */
  readonly name: string
  /** Tells processes apart. */
  readonly process: string
  readonly limit: number
  readonly windowMillis: number
  readonly leaseMillis: number
}

// A transaction takes a few milliseconds, more where the disk is busy; who asks often enough gets between two of them.
const whileLocked = Schedule.spaced("4 millis").pipe(
  Schedule.jittered,
  Schedule.modifyDelay((_, delay) => Duration.millis(Math.ceil(Duration.toMillis(delay)))),
  Schedule.intersect(Schedule.recurs(100))
)

/** A slot as the database gives it, with what is the same for all of them. */
interface SlotRow extends BusySlot {
  readonly closed: number
  readonly others: number
}

const tables = [
  `CREATE TABLE IF NOT EXISTS plaza_rate_slots (
    name TEXT NOT NULL, slot INTEGER NOT NULL, turn INTEGER NOT NULL, taken_by TEXT NOT NULL,
    free_at DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, slot)
  )`,
  `CREATE TABLE IF NOT EXISTS plaza_rate_gates (
    name TEXT NOT NULL PRIMARY KEY, closed_until DOUBLE PRECISION NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS plaza_rate_waiting (
    name TEXT NOT NULL, process TEXT NOT NULL, waits_until DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, process)
  )`
]

type Dialect = "pg" | "sqlite"

const dialectOf = (sql: SqlClient.SqlClient): Effect.Effect<Dialect, InvalidSettings> => {
  const other = (name: string) => () =>
    Effect.fail(
      new InvalidSettings({
        setting: "SqlClient",
        message: `a shared allowance can't be kept in ${name}; give RateLimit.layerSql a client of Postgres or SQLite`
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

/**
 * The tables are made where they are missing, and what nobody has used for long is cleared away.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options: SqlSlotsOptions
): Effect.Effect<SqlSlots, SqlError | InvalidSettings, SqlClient.SqlClient> =>
  Effect.gen(function*() {
    const { leaseMillis, limit, name, process, windowMillis } = options
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

    const read = <A>(statement: (now: Fragment) => Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
      dialect === "pg"
        ? statement(sql`(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::double precision`)
        : Effect.flatMap(Clock.currentTimeMillis, (at) => statement(sql`${at}`))

    const write = <A>(statement: (now: Fragment) => Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
      apart(dialect === "pg" ? read(statement) : alone(read(statement)))

    const least = sql.literal(dialect === "pg" ? "LEAST" : "MIN")
    const greatest = sql.literal(dialect === "pg" ? "GREATEST" : "MAX")
    // On SQLite a statement that writes is alone from its beginning. On Postgres others may run beside it.
    const lockPicked = sql.literal(dialect === "pg" ? "FOR UPDATE SKIP LOCKED" : "")

    const createTables = Effect.forEach(tables, (table) => sql.unsafe(table), { discard: true })

    const prepare: Effect.Effect<void, SqlError> = dialect === "pg"
      // Postgres fails when two create the same table at the same time.
      ? apart(sql.withTransaction(Effect.zipRight(sql`SELECT pg_advisory_xact_lock(${tablesLock})`, createTables)))
      : write(() => createTables)

    const purge = Effect.all([
      write((now) => sql`DELETE FROM plaza_rate_waiting WHERE waits_until < ${now} - ${dayMillis}`),
      write((now) => sql`DELETE FROM plaza_rate_gates WHERE closed_until < ${now} - ${dayMillis}`),
      // Whoever still uses that name makes its slots anew.
      write((now) => sql`DELETE FROM plaza_rate_slots WHERE name <> ${name} AND free_at < ${now} - ${unusedDays * dayMillis}`)
    ], { discard: true })

    const seed = write((now) =>
      sql`
        INSERT INTO plaza_rate_slots (name, slot, turn, taken_by, free_at)
        WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${limit})
        SELECT ${name}, n, 0, '', ${now} FROM numbers WHERE true
        ON CONFLICT DO NOTHING`
    )

    const freeSlots = (now: Fragment) =>
      sql`name = ${name} AND slot < ${limit} AND free_at <= ${now} AND NOT EXISTS (
        SELECT 1 FROM plaza_rate_gates WHERE name = ${name} AND closed_until > ${now})`

    const others = (now: Fragment) =>
      sql`(SELECT COUNT(*) FROM plaza_rate_waiting
        WHERE name = ${name} AND process <> ${process} AND waits_until > ${now})`

    const claim = (count: number) =>
      write((now) =>
        sql<Claim>`
          WITH picked AS ${sql.literal(dialect === "pg" ? "MATERIALIZED" : "")} (
            SELECT slot FROM plaza_rate_slots WHERE ${freeSlots(now)}
            ORDER BY free_at, slot
            LIMIT ${least}(${count}, (
              SELECT (COUNT(*) + ${others(now)}) / (1 + ${others(now)}) FROM plaza_rate_slots WHERE ${freeSlots(now)}))
            ${lockPicked}
          )
          UPDATE plaza_rate_slots SET taken_by = ${process}, turn = turn + 1, free_at = ${now} + ${leaseMillis}
          WHERE name = ${name} AND slot IN (SELECT slot FROM picked)
          RETURNING slot, turn`
      )

    const look = Effect.map(
      apart(read((now) =>
        sql<SlotRow>`
          SELECT free_at - ${now} AS wait,
            CASE taken_by WHEN '' THEN 'cooling' WHEN ${process} THEN 'in flight here' ELSE 'in flight elsewhere' END AS state,
            COALESCE((SELECT closed_until FROM plaza_rate_gates WHERE name = ${name}), 0) - ${now} AS closed,
            CAST(${others(now)} AS INTEGER) AS others
          FROM plaza_rate_slots WHERE name = ${name} AND slot < ${limit}`
      )),
      (rows): Look => {
        const busy = rows.filter(({ wait }) => wait > 0)
        return {
          slots: rows.length,
          free: rows.length - busy.length,
          busy,
          closedFor: rows[0]?.closed ?? 0,
          others: rows[0]?.others ?? 0
        }
      }
    )

    const held = ({ slot, turn }: Claim) =>
      sql`name = ${name} AND slot = ${slot} AND turn = ${turn} AND taken_by = ${process}`

    yield* Effect.retry(Effect.all([prepare, purge, seed], { discard: true }), whileOthersBegin)

    return {
      claim,
      look,
      seed,
      answered: (claims, endedAt) =>
        write((now) => {
          // The process knows the end better than a database that is told of it later, where both have one clock.
          const ended = dialect === "pg" ? now : sql`${endedAt}`
          return sql`UPDATE plaza_rate_slots SET taken_by = '', free_at = ${ended} + ${windowMillis + safetyMillis}
            WHERE ${sql.or(claims.map(held))}`
        }),
      giveBack: (claim) =>
        write((now) => sql`UPDATE plaza_rate_slots SET taken_by = '', free_at = ${now} WHERE ${held(claim)}`),
      renew: (claims) =>
        write((now) =>
          sql<Claim>`UPDATE plaza_rate_slots SET free_at = ${now} + ${leaseMillis}
            WHERE ${sql.or(claims.map(held))} RETURNING slot, turn`
        ),
      closeFor: (millis) =>
        write((now) =>
          sql`INSERT INTO plaza_rate_gates (name, closed_until) VALUES (${name}, ${now} + ${millis})
            ON CONFLICT (name) DO UPDATE
            SET closed_until = ${greatest}(plaza_rate_gates.closed_until, excluded.closed_until)`
        ),
      enlist: (millis) =>
        write((now) =>
          sql`INSERT INTO plaza_rate_waiting (name, process, waits_until)
            VALUES (${name}, ${process}, ${now} + ${millis})
            ON CONFLICT (name, process) DO UPDATE SET waits_until = excluded.waits_until`
        ),
      delist: write(() => sql`DELETE FROM plaza_rate_waiting WHERE name = ${name} AND process = ${process}`),
      giveBackAllBut: (inUse) =>
        write((now) => {
          const mine = sql`name = ${name} AND taken_by = ${process}`
          return sql`UPDATE plaza_rate_slots SET taken_by = '', free_at = ${now}
            WHERE ${inUse.length === 0 ? mine : sql`${mine} AND slot NOT IN ${sql.in(inUse.map(({ slot }) => slot))}`}`
        })
    }
  })
