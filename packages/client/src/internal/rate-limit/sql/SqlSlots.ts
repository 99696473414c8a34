/**
 * One key's slots in a database that several processes share: every statement on them. Knows nothing of waiting.
 *
 * @since 0.1.0
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Effect from "effect/Effect"
import type { InvalidSettings } from "../../../ClientError.js"
import * as Statements from "./Statements.js"
import * as Tables from "./Tables.js"

// A service that counts a request which is exactly one window old must not refuse ours.
const safetyMillis = 1

/** One taking of a slot. Its turn tells it from a later taking of the same slot. */
export interface Claim {
  readonly slot: number
  readonly turn: number
}

/** A claim, with how many operations are paused. */
export interface Claimed extends Claim {
  readonly paused: number
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
  /** Milliseconds until the key's pause ends; not above 0 when there is none. */
  readonly closedFor: number
  /** Paused operations, with the milliseconds until each goes on. */
  readonly operations: ReadonlyArray<{ readonly operation: string; readonly millis: number }>
  /** Other processes that wait for slots of this key. */
  readonly others: number
}

/** @since 0.1.0 @category models */
export interface SqlSlots {
  /** Takes free slots: as many as asked for, but no more than its share when other processes wait as well. */
  readonly claim: (count: number) => Effect.Effect<ReadonlyArray<Claimed>, SqlError>
  readonly look: Effect.Effect<Look, SqlError>
  /** The requests in slots ended, the last of them at a moment of the process's clock. */
  readonly answered: (claims: ReadonlyArray<Claim>, endedAt: number) => Effect.Effect<void, SqlError>
  /** Nothing was sent from a slot. */
  readonly giveBack: (claim: Claim) => Effect.Effect<void, SqlError>
  /** Lengthens the lease of slots that are still held, and says which those are. */
  readonly renew: (claims: ReadonlyArray<Claim>) => Effect.Effect<ReadonlyArray<Claim>, SqlError>
  /** Pauses the key, or one operation. */
  readonly closeFor: (millis: number, operation?: string) => Effect.Effect<void, SqlError>
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

/** A slot as the database gives it, with what is the same for all of them. */
interface SlotRow {
  readonly wait: number
  readonly state: BusySlot["state"] | "paused"
  readonly operation: string
  readonly closed: number
  readonly others: number
}

/**
 * The tables are made where they are missing, and what nobody has used for long is cleared away.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options: SqlSlotsOptions
): Effect.Effect<SqlSlots, SqlError | InvalidSettings, SqlClient> =>
  Effect.gen(function*() {
    const { leaseMillis, limit, name, process, windowMillis } = options
    const statements = yield* Statements.make
    const { dialect, read, sql, write } = statements

    const least = sql.literal(dialect === "pg" ? "LEAST" : "MIN")
    const greatest = sql.literal(dialect === "pg" ? "GREATEST" : "MAX")
    // On SQLite a statement that writes is alone from its beginning. On Postgres others may run beside it.
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

    // Operations are paused in rows beside the key's, under its name and theirs.
    const prefix = `${name}/`
    const prefixLength = Array.from(prefix).length
    const isOperation = sql`SUBSTR(name, 1, ${sql.literal(`${prefixLength}`)}) = ${prefix}`

    const claim = (count: number) =>
      write((now) =>
        sql<Claimed>`
          WITH picked AS ${sql.literal(dialect === "pg" ? "MATERIALIZED" : "")} (
            SELECT slot FROM plaza_rate_slots WHERE ${freeSlots(now)}
            ORDER BY free_at, slot
            LIMIT ${least}(${count}, (
              SELECT (COUNT(*) + ${others(now)}) / (1 + ${others(now)}) FROM plaza_rate_slots WHERE ${freeSlots(now)}))
            ${lockPicked}
          )
          UPDATE plaza_rate_slots SET taken_by = ${process}, turn = turn + 1, free_at = ${now} + ${leaseMillis}
          WHERE name = ${name} AND slot IN (SELECT slot FROM picked)
          RETURNING slot, turn,
            CAST((SELECT COUNT(*) FROM plaza_rate_gates WHERE ${isOperation} AND closed_until > ${now}) AS INTEGER) AS paused`
      )

    /**
     * No slot is taken for longer than this at any time. What says otherwise was written before the wall clock of a SQLite
     * file's machine was set back, and counts from now.
     */
    const longest = sql.literal(`CASE taken_by WHEN '' THEN ${windowMillis + safetyMillis} ELSE ${leaseMillis} END`)
    const mend = write((now) =>
      sql`UPDATE plaza_rate_slots SET free_at = ${now} + ${longest} WHERE name = ${name} AND free_at > ${now} + ${longest}`
    )

    const seen = Effect.map(
      read((now) =>
        sql<SlotRow>`
          SELECT free_at - ${now} AS wait,
            CASE taken_by WHEN '' THEN 'cooling' WHEN ${process} THEN 'in flight here' ELSE 'in flight elsewhere' END AS state,
            '' AS operation,
            COALESCE((SELECT closed_until - ${now} FROM plaza_rate_gates WHERE name = ${name}), 0) AS closed,
            CAST(${others(now)} AS INTEGER) AS others
          FROM plaza_rate_slots WHERE name = ${name} AND slot < ${limit}
          UNION ALL
          SELECT closed_until - ${now}, 'paused', SUBSTR(name, ${sql.literal(`${prefixLength + 1}`)}), 0, 0
          FROM plaza_rate_gates WHERE ${isOperation} AND closed_until > ${now}`
      ),
      (rows): Look => {
        const slots = rows.flatMap(({ state, wait, ...row }) => state === "paused" ? [] : [{ ...row, state, wait }])
        const busy = slots.filter(({ wait }) => wait > 0)
        return {
          slots: slots.length,
          free: slots.length - busy.length,
          busy,
          operations: rows.flatMap(({ operation, state, wait }) => state === "paused" ? [{ operation, millis: wait }] : []),
          closedFor: slots[0]?.closed ?? 0,
          others: slots[0]?.others ?? 0
        }
      }
    )

    const isAhead = ({ busy }: Look): boolean =>
      busy.some(({ state, wait }) => wait > (state === "cooling" ? windowMillis + safetyMillis : leaseMillis) + 1)

    const look = Effect.flatMap(seen, (found) => isAhead(found) ? Effect.zipRight(mend, seen) : Effect.succeed(found))

    const held = ({ slot, turn }: Claim) =>
      sql`name = ${name} AND slot = ${slot} AND turn = ${turn} AND taken_by = ${process}`

    yield* Tables.prepare(statements, name, seed)

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
      closeFor: (millis, operation) =>
        write((now) =>
          sql`INSERT INTO plaza_rate_gates (name, closed_until)
            VALUES (${operation === undefined ? name : prefix + operation}, ${now} + ${millis})
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
