/**
 * One key's slots in a database that several processes share: every statement on them.
 *
 * @since 0.1.0
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import { longestPlausibleWait, longestWait } from "@plaza-legacy/domain/ErrorResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { InvalidSettings } from "../../../ClientError.ts"
import type { MonotonicMillis } from "../../Compat.ts"
import { monotonicWith } from "../../Compat.ts"
import * as Statements from "./Statements.ts"
import * as Tables from "./Tables.ts"

// A service may still count a request that is exactly one window old.
const safetyMillis = 1

const longestPause = Duration.toMillis(longestWait)

const Claim = Schema.Struct({ slot: Schema.Number, turn: Schema.Number })

/** A claimed slot. `turn` is its generation: it increases with each claim of the slot. */
export type Claim = typeof Claim.Type

/** A claim, with the number of paused operations. */
const ClaimResult = Schema.Struct({ ...Claim.fields, paused: Schema.Number })
type ClaimResult = typeof ClaimResult.Type

/** A slot that can't be claimed yet. */
interface BusySlot {
  /** Milliseconds until it becomes free; for a slot in flight, the maximum. */
  readonly wait: number
  readonly state: "cooling" | "in flight here" | "in flight elsewhere"
}

/** The slots at one moment, by the clock of the database. */
export interface Snapshot {
  /** The number of rows; fewer than the limit before `seed`. */
  readonly slots: number
  readonly free: number
  readonly busy: ReadonlyArray<BusySlot>
  /** Milliseconds until the key's pause ends; 0 or less if the key is not paused. */
  readonly pausedFor: number
  /** The paused operations, with the milliseconds until the pause ends. */
  readonly operations: ReadonlyArray<{ readonly operation: string; readonly millis: number }>
  /** The number of other processes that wait for slots of this key. */
  readonly others: number
}

/** @since 0.1.0 @category models */
export interface SqlSlots {
  /**
   * Claims free slots: at most `count`. If other processes wait too, it claims a fair share of the slots that became free within
   * the last `spread` milliseconds, and any slots that the others did not claim in this time.
   */
  readonly claim: (count: number, spread: number) => Effect.Effect<ReadonlyArray<ClaimResult>, SqlError>
  readonly snapshot: Effect.Effect<Snapshot, SqlError>
  /** Records that the requests in slots ended, the last one at `endedAt`. */
  readonly complete: (claims: ReadonlyArray<Claim>, endedAt: MonotonicMillis) => Effect.Effect<void, SqlError>
  /** Frees an unused slot. */
  readonly release: (claim: Claim) => Effect.Effect<void, SqlError>
  /** Renews the leases of the slots that this process still holds, and returns these slots. */
  readonly renew: (claims: ReadonlyArray<Claim>) => Effect.Effect<ReadonlyArray<Claim>, SqlError>
  /** Pauses the key, or one operation. */
  readonly pauseFor: (time: Duration.Duration, operation?: string) => Effect.Effect<void, SqlError>
  /** Registers this process as waiting, for this time. */
  readonly register: (time: Duration.Duration) => Effect.Effect<void, SqlError>
  /** Ends the registration. */
  readonly unregister: Effect.Effect<void, SqlError>
  /** Creates the missing slots. */
  readonly seed: Effect.Effect<void, SqlError>
  /** Frees the slots of this process, except those in use. */
  readonly releaseAllExcept: (inUse: ReadonlyArray<Claim>) => Effect.Effect<void, SqlError>
}

interface SqlSlotsOptions {
  /** Identifies the key; a hash or a name, never the key itself. */
  readonly name: string
  /** Identifies the process. */
  readonly process: string
  readonly limit: number
  readonly window: Duration.Duration
  readonly lease: Duration.Duration
}

/** A slot or a paused operation, with the columns that are the same for all slots. */
const Row = Schema.Struct({
  wait: Schema.Number,
  state: Schema.Literal("cooling", "in flight here", "in flight elsewhere", "paused"),
  operation: Schema.String,
  closed: Schema.Number,
  others: Schema.Number
})

/** Decodes the rows of a statement. Dies on a row of another form, because the statement determines the form. */
const rowsOf = <A, I>(row: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknown(Schema.Array(row))
  return (statement: Effect.Effect<unknown, SqlError>): Effect.Effect<ReadonlyArray<A>, SqlError> =>
    Effect.flatMap(statement, (rows) => Effect.orDie(decode(rows)))
}
const claims = rowsOf(Claim)
const claimResults = rowsOf(ClaimResult)
const rows = rowsOf(Row)

/**
 * Creates missing tables and slots, and deletes rows that have been unused for 30 days.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options: SqlSlotsOptions
): Effect.Effect<SqlSlots, SqlError | InvalidSettings, SqlClient> =>
  Effect.gen(function*() {
    const { limit, name, process } = options
    const leaseMillis = Duration.toMillis(options.lease)
    const cooldownMillis = Duration.toMillis(options.window) + safetyMillis
    const statements = yield* Statements.make
    const { dialect, read, sql, write } = statements

    const least = sql.literal(dialect === "pg" ? "LEAST" : "MIN")
    const greatest = sql.literal(dialect === "pg" ? "GREATEST" : "MAX")
    // SQLite has one writer at a time. On Postgres, statements of other processes run concurrently.
    const lockPicked = sql.literal(dialect === "pg" ? "FOR UPDATE SKIP LOCKED" : "")

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

    // A paused operation has a row of its own beside the key's, named after both.
    const prefix = `${name}/`
    const prefixLength = Array.from(prefix).length
    const isOperation = sql`SUBSTR(name, 1, ${sql.literal(`${prefixLength}`)}) = ${prefix}`

    /** Claimable for longer than `spread`: free, and the key not paused. */
    const leftOver = (now: Fragment, spread: number) =>
      sql`free_at <= ${now} - ${spread} AND NOT EXISTS (
        SELECT 1 FROM plaza_rate_gates WHERE name = ${name} AND closed_until > ${now} - ${spread})`

    const claim = (count: number, spread: number) =>
      write((now) =>
        claimResults(sql`
          WITH picked AS ${sql.literal(dialect === "pg" ? "MATERIALIZED" : "")} (
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
      )

    /**
     * The maximum time that a slot can be in use. A larger value means that the clock was set back. The full time then starts again.
     */
    const longest = sql.literal(`CASE taken_by WHEN '' THEN ${cooldownMillis} ELSE ${leaseMillis} END`)
    const repairSlots = write((now) =>
      sql`UPDATE plaza_rate_slots SET free_at = ${now} + ${longest} WHERE name = ${name} AND free_at > ${now} + ${longest}`
    )
    /** No pause is longer than a day, and a longer one than a week can't be a wait. */
    const repairPauses = write((now) =>
      sql`UPDATE plaza_rate_gates
        SET closed_until = CASE WHEN closed_until > ${now} + ${Duration.toMillis(longestPlausibleWait)} THEN ${now}
          ELSE ${now} + ${longestPause} END
        WHERE (name = ${name} OR ${isOperation}) AND closed_until > ${now} + ${longestPause}`
    )
    const repair = Effect.andThen(repairSlots, repairPauses)

    const seen = Effect.map(
      read((now) =>
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
      (rows): Snapshot => {
        const slots = rows.flatMap(({ state, wait, ...row }) => state === "paused" ? [] : [{ ...row, state, wait }])
        const busy = slots.filter(({ wait }) => wait > 0)
        return {
          slots: slots.length,
          free: slots.length - busy.length,
          busy,
          operations: rows.flatMap(({ operation, state, wait }) => state === "paused" ? [{ operation, millis: wait }] : []),
          pausedFor: slots[0]?.closed ?? 0,
          others: slots[0]?.others ?? 0
        }
      }
    )

    const isAhead = ({ busy, operations, pausedFor }: Snapshot): boolean =>
      busy.some(({ state, wait }) => wait > (state === "cooling" ? cooldownMillis : leaseMillis) + 1) ||
      [pausedFor, ...operations.map(({ millis }) => millis)].some((millis) => millis > longestPause + 1)

    const snapshot = Effect.flatMap(seen, (found) => isAhead(found) ? Effect.andThen(repair, seen) : Effect.succeed(found))

    const held = ({ slot, turn }: Claim) => sql`name = ${name} AND slot = ${slot} AND turn = ${turn} AND taken_by = ${process}`

    yield* Tables.prepare(statements, name, seed)

    return {
      claim,
      snapshot,
      seed,
      complete: (completed, endedAt) =>
        write((now) =>
          // The statement may run long after the request ended. The elapsed time is known without comparing two clocks.
          monotonicWith((at) =>
            sql`UPDATE plaza_rate_slots SET taken_by = '', free_at = ${now} - ${Math.max(0, at - endedAt)} + ${cooldownMillis}
              WHERE ${sql.or(completed.map(held))}`
          )
        ),
      release: (claim) => write((now) => sql`UPDATE plaza_rate_slots SET taken_by = '', free_at = ${now} WHERE ${held(claim)}`),
      renew: (renewed) =>
        write((now) =>
          claims(sql`UPDATE plaza_rate_slots SET free_at = ${now} + ${leaseMillis}
            WHERE ${sql.or(renewed.map(held))} RETURNING slot, turn`)
        ),
      pauseFor: (time, operation) =>
        write((now) =>
          sql`INSERT INTO plaza_rate_gates (name, closed_until)
            VALUES (${operation === undefined ? name : prefix + operation}, ${now} + ${Duration.toMillis(time)})
            ON CONFLICT (name) DO UPDATE
            SET closed_until = ${greatest}(plaza_rate_gates.closed_until, excluded.closed_until)`
        ),
      register: (time) =>
        write((now) =>
          sql`INSERT INTO plaza_rate_waiting (name, process, waits_until)
            VALUES (${name}, ${process}, ${now} + ${Duration.toMillis(time)})
            ON CONFLICT (name, process) DO UPDATE SET waits_until = excluded.waits_until`
        ),
      unregister: write(() => sql`DELETE FROM plaza_rate_waiting WHERE name = ${name} AND process = ${process}`),
      releaseAllExcept: (inUse) =>
        write((now) => {
          const mine = sql`name = ${name} AND taken_by = ${process}`
          return sql`UPDATE plaza_rate_slots SET taken_by = '', free_at = ${now}
            WHERE ${inUse.length === 0 ? mine : sql`${mine} AND slot NOT IN ${sql.in(inUse.map(({ slot }) => slot))}`}`
        })
    }
  })
