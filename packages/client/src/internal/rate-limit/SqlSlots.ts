/**
 * One key's slots in a database that several processes share: the tables, and every statement on them.
 *
 * Each statement is a transaction of its own, so no lock is held between statements. It runs outside the caller's transaction, whose
 * rollback doesn't undo a request. Times are milliseconds since the epoch: by the database's clock on Postgres, which many machines may
 * use, and by the process's clock on SQLite, which one machine uses.
 *
 * @since 0.1.0
 */
import { longestPlausibleWait, longestWait } from "@plaza/domain/ErrorResponse"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError, StatementTimeoutError, UnknownError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { InvalidSettings } from "../../ClientError.ts"
import type { MonotonicMillis } from "../Time.ts"
import { monotonicWith } from "../Time.ts"
import { safetyMillis } from "./WaitQueue.ts"

const longestPause = Duration.toMillis(longestWait)

// A slower statement counts as failed, so that waiting requests can fail too.
const statementTimeout = Duration.seconds(5)

// SQLite has one writer at a time, and a write takes a fraction of a millisecond. Retries often, to find a gap between two writes.
const whileLocked = Schedule.max([Schedule.jittered(Schedule.spaced("4 millis")), Schedule.recurs(100)])

// Processes that start together block each other for a short time.
const whileOthersStart = Schedule.max([Schedule.jittered(Schedule.exponential("10 millis")), Schedule.recurs(9)])

// An arbitrary number. Other advisory locks of the database must not use it.
const tablesLock = 7_052_922_117

const dayMillis = 24 * 60 * 60 * 1_000
const unusedDays = 30

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

/** A claimed slot. `turn` is its generation: it increases with each claim of the slot. @since 0.1.0 @category models */
export type Claim = typeof Claim.Type
const Claim = Schema.Struct({ slot: Schema.Number, turn: Schema.Number })

/** A claim, with the number of paused operations. */
const ClaimResult = Schema.Struct({ ...Claim.fields, paused: Schema.Number })

/** A slot or a paused operation, with the columns that are the same for all slots. */
const Row = Schema.Struct({
  wait: Schema.Number,
  state: Schema.Literals(["cooling", "in flight here", "in flight elsewhere", "paused"]),
  operation: Schema.String,
  closed: Schema.Number,
  others: Schema.Number
})

/** Decodes the rows of a statement. Dies on a row of another form, because the statement determines the form. */
const rowsOf = <S extends Schema.Codec<unknown, unknown>>(row: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(row))
  return (statement: Effect.Effect<unknown, SqlError>): Effect.Effect<ReadonlyArray<S["Type"]>, SqlError> =>
    Effect.flatMap(statement, (rows) => Effect.orDie(decode(rows)))
}
const claims = rowsOf(Claim)
const claimResults = rowsOf(ClaimResult)
const rows = rowsOf(Row)

/** The slots at one moment, by the clock of the database. @since 0.1.0 @category models */
export type Snapshot = ReturnType<typeof toSnapshot>
const toSnapshot = (rows: ReadonlyArray<typeof Row.Type>) => {
  const slots = rows.filter(({ state }) => state !== "paused")
  const busy = slots.filter(({ wait }) => wait > 0)
  return {
    /** The number of rows; fewer than the limit before `seed`. */
    slots: slots.length,
    free: slots.length - busy.length,
    /** The slots that can't be claimed yet, with the milliseconds until they can; for a slot in flight, the maximum. */
    busy,
    /** The paused operations, with the milliseconds until the pause ends. */
    operations: rows.flatMap(({ operation, state, wait }) => state === "paused" ? [{ operation, millis: wait }] : []),
    /** Milliseconds until the key's pause ends; 0 or less if the key is not paused. */
    pausedFor: slots[0]?.closed ?? 0,
    /** The number of other processes that wait for slots of this key. */
    others: slots[0]?.others ?? 0
  }
}

/**
 * Creates missing tables and slots, and deletes rows that have been unused for 30 days.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function*({ lease, limit, name, process, window }: {
  /** Identifies the key; a hash or a name, never the key itself. */
  readonly name: string
  /** Identifies the process. */
  readonly process: string
  readonly limit: number
  readonly window: Duration.Duration
  readonly lease: Duration.Duration
}) {
  const leaseMillis = Duration.toMillis(lease)
  const cooldownMillis = Duration.toMillis(window) + safetyMillis
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()

  const isPostgres = yield* sql.onDialectOrElse({
    pg: () => Effect.succeed(true),
    sqlite: () => Effect.succeed(false),
    orElse: () => {
      const message = `a shared allowance doesn't support ${sql.driver}; provide a SqlClient of Postgres or SQLite`
      return Effect.fail(new InvalidSettings({ setting: "SqlClient", message }))
    }
  })

  // Without tracing, because the statements would fill the traces of the application.
  const context = (yield* Effect.context()).pipe(
    Context.omit(sql.transactionService),
    Context.add(References.TracerEnabled, false)
  )
  const run = <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    statement.pipe(
      Effect.retry({ schedule: whileLocked, while: ({ reason }) => reason._tag === "LockTimeoutError" }),
      // A driver that throws counts as an unavailable database. Otherwise requests would wait forever.
      Effect.catchDefect((cause) =>
        Effect.fail(new SqlError({ reason: new UnknownError({ cause, message: "the database driver failed" }) }))
      ),
      Effect.timeoutOrElse({
        duration: statementTimeout,
        orElse: () =>
          Effect.fail(
            new SqlError({
              reason: new StatementTimeoutError({ cause: undefined, message: `no response within ${Duration.format(statementTimeout)}` })
            })
          )
      }),
      Effect.updateContext((_: Context.Context<never>) => context)
    )

  /** Runs a statement with the current time. */
  const runAt = <A>(statement: (now: Fragment) => Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
    run(
      isPostgres
        ? statement(sql`(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::double precision`)
        : Effect.flatMap(Clock.currentTimeMillis, (at) => statement(sql`${at}`))
    )

  const least = sql.literal(isPostgres ? "LEAST" : "MIN")
  const greatest = sql.literal(isPostgres ? "GREATEST" : "MAX")
  const materialized = sql.literal(isPostgres ? "MATERIALIZED" : "")
  // SQLite has one writer at a time. On Postgres, statements of other processes run concurrently.
  const lockPicked = sql.literal(isPostgres ? "FOR UPDATE SKIP LOCKED" : "")

  const seed = runAt((now) =>
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

  // A paused operation has a row of its own beside the key's, named after both.
  const prefix = `${name}/`
  const prefixLength = Array.from(prefix).length
  const isOperation = sql`SUBSTR(name, 1, ${sql.literal(`${prefixLength}`)}) = ${prefix}`

  /** Claimable for longer than `spread`: free, and the key not paused. */
  const leftOver = (now: Fragment, spread: number) =>
    sql`free_at <= ${now} - ${spread} AND NOT EXISTS (
      SELECT 1 FROM plaza_rate_gates WHERE name = ${name} AND closed_until > ${now} - ${spread})`

  /** The maximum time that a slot can be in use. A larger value means that the clock was set back. The full time then starts again. */
  const longest = sql.literal(`CASE taken_by WHEN '' THEN ${cooldownMillis} ELSE ${leaseMillis} END`)
  const repairSlots = runAt((now) =>
    sql`UPDATE plaza_rate_slots SET free_at = ${now} + ${longest} WHERE name = ${name} AND free_at > ${now} + ${longest}`
  )
  /** No pause is longer than a day, and a longer one than a week can't be a wait. */
  const repairPauses = runAt((now) =>
    sql`UPDATE plaza_rate_gates
      SET closed_until = CASE WHEN closed_until > ${now} + ${Duration.toMillis(longestPlausibleWait)} THEN ${now}
        ELSE ${now} + ${longestPause} END
      WHERE (name = ${name} OR ${isOperation}) AND closed_until > ${now} + ${longestPause}`
  )
  const isAhead = ({ busy, operations, pausedFor }: Snapshot): boolean =>
    busy.some(({ state, wait }) => wait > (state === "cooling" ? cooldownMillis : leaseMillis) + 1) ||
    [pausedFor, ...operations.map(({ millis }) => millis)].some((millis) => millis > longestPause + 1)

  const read = Effect.map(
    runAt((now) =>
      rows(sql`
        SELECT free_at - ${now} AS wait,
          CASE taken_by WHEN '' THEN 'cooling' WHEN ${process} THEN 'in flight here' ELSE 'in flight elsewhere' END AS state,
          '' AS operation,
          COALESCE((SELECT closed_until - ${now} FROM plaza_rate_gates WHERE name = ${name}), 0) AS closed,
          CAST(${others(now)} AS INTEGER) AS others
        FROM plaza_rate_slots WHERE name = ${name} AND slot < ${limit}
        UNION ALL
        SELECT closed_until - ${now}, 'paused', SUBSTR(name, ${sql.literal(`${prefixLength + 1}`)}), 0, 0
        FROM plaza_rate_gates WHERE ${isOperation} AND closed_until > ${now}`)
    ),
    toSnapshot
  )

  const held = ({ slot, turn }: Claim) => sql`name = ${name} AND slot = ${slot} AND turn = ${turn} AND taken_by = ${process}`

  const create = Effect.forEach(tables, (table) => sql.unsafe(table), { discard: true })
  // Postgres fails if two connections create the same table at the same time.
  const createAlone = isPostgres
    ? sql.withTransaction(Effect.andThen(sql`SELECT pg_advisory_xact_lock(${tablesLock})`, create))
    : create
  yield* Effect.retry(
    Effect.all([
      run(createAlone),
      runAt((now) => sql`DELETE FROM plaza_rate_waiting WHERE waits_until < ${now} - ${dayMillis}`),
      runAt((now) => sql`DELETE FROM plaza_rate_gates WHERE closed_until < ${now} - ${dayMillis}`),
      // A process that still uses such a name seeds its slots again.
      runAt((now) => sql`DELETE FROM plaza_rate_slots WHERE name <> ${name} AND free_at < ${now} - ${unusedDays * dayMillis}`),
      seed
    ], { discard: true }),
    whileOthersStart
  )

  return {
    /** Creates the missing slots. */
    seed,
    /**
     * Claims free slots: at most `count`. If other processes wait too, it claims a fair share of the slots that became free within
     * the last `spread` milliseconds, and any slots that the others did not claim in this time.
     */
    claim: (count: number, spread: number) =>
      runAt((now) =>
        claimResults(sql`
          WITH picked AS ${materialized} (
            SELECT slot FROM plaza_rate_slots WHERE ${freeSlots(now)}
            ORDER BY free_at, slot
            LIMIT ${least}(${count}, (
              SELECT COUNT(*) - COUNT(CASE WHEN ${leftOver(now, spread)} THEN NULL ELSE 1 END) * ${others(now)} / (1 + ${others(now)})
              FROM plaza_rate_slots WHERE ${freeSlots(now)}))
            ${lockPicked}
          )
          UPDATE plaza_rate_slots SET taken_by = ${process}, turn = turn + 1, free_at = ${now} + ${leaseMillis}
          WHERE name = ${name} AND slot IN (SELECT slot FROM picked)
          RETURNING slot, turn,
            CAST((SELECT COUNT(*) FROM plaza_rate_gates WHERE ${isOperation} AND closed_until > ${now}) AS INTEGER) AS paused`)
      ),
    snapshot: Effect.flatMap(read,
      (snapshot) => isAhead(snapshot) ? Effect.andThen(Effect.andThen(repairSlots, repairPauses), read) : Effect.succeed(snapshot)),
    /** Records that the requests in slots ended, the last one at `endedAt`. */
    complete: (completed: ReadonlyArray<Claim>, endedAt: MonotonicMillis) =>
      runAt((now) =>
        // The statement may run long after the request ended. The elapsed time is known without comparing two clocks.
        monotonicWith((at) =>
          sql`UPDATE plaza_rate_slots SET taken_by = '', free_at = ${now} - ${Math.max(0, at - endedAt)} + ${cooldownMillis}
            WHERE ${sql.or(completed.map(held))}`
        )
      ),
    /** Frees unused slots. */
    release: (released: ReadonlyArray<Claim>) =>
      runAt((now) => sql`UPDATE plaza_rate_slots SET taken_by = '', free_at = ${now} WHERE ${sql.or(released.map(held))}`),
    /** Renews the leases of the slots that this process still holds, and returns these slots. */
    renew: (renewed: ReadonlyArray<Claim>) =>
      runAt((now) =>
        claims(sql`UPDATE plaza_rate_slots SET free_at = ${now} + ${leaseMillis}
          WHERE ${sql.or(renewed.map(held))} RETURNING slot, turn`)
      ),
    /** Pauses the key, or one operation. */
    pauseFor: (millis: number, operation?: string) =>
      runAt((now) =>
        sql`INSERT INTO plaza_rate_gates (name, closed_until)
          VALUES (${operation === undefined ? name : prefix + operation}, ${now} + ${millis})
          ON CONFLICT (name) DO UPDATE
          SET closed_until = ${greatest}(plaza_rate_gates.closed_until, excluded.closed_until)`
      ),
    /** Registers this process as waiting, for this time. */
    register: (millis: number) =>
      runAt((now) =>
        sql`INSERT INTO plaza_rate_waiting (name, process, waits_until) VALUES (${name}, ${process}, ${now} + ${millis})
          ON CONFLICT (name, process) DO UPDATE SET waits_until = excluded.waits_until`
      ),
    /** Ends the registration. */
    unregister: run(sql`DELETE FROM plaza_rate_waiting WHERE name = ${name} AND process = ${process}`),
    /** Frees the slots of this process, except those in use. */
    releaseAllExcept: (inUse: ReadonlyArray<Claim>) =>
      runAt((now) => {
        const mine = sql`name = ${name} AND taken_by = ${process}`
        return sql`UPDATE plaza_rate_slots SET taken_by = '', free_at = ${now}
          WHERE ${inUse.length === 0 ? mine : sql`${mine} AND slot NOT IN ${sql.in(inUse.map(({ slot }) => slot))}`}`
      })
  }
})
