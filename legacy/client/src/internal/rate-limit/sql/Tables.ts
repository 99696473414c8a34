/**
 * The tables of shared allowances. Creates missing tables, and deletes rows that have been unused for 30 days.
 *
 * @since 0.1.0
 */
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { wholeMillis } from "../../Compat.ts"
import type { Statements } from "./Statements.ts"

// An arbitrary number. Other advisory locks of the database must not use it.
const tablesLock = 7_052_922_117

const dayMillis = 24 * 60 * 60 * 1_000
const unusedDays = 30

// Processes that start together block each other for a short time.
const whileOthersStart = Schedule.exponential("10 millis").pipe(
  Schedule.jittered,
  wholeMillis,
  Schedule.intersect(Schedule.recurs(9))
)

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

/**
 * Creates the tables, deletes old rows, and creates the slots of this name with `seed`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const prepare = (
  { dialect, sql, transaction, write }: Statements,
  name: string,
  seed: Effect.Effect<unknown, SqlError>
): Effect.Effect<void, SqlError> => {
  const create = Effect.forEach(tables, (table) => sql.unsafe(table), { discard: true })
  // Postgres fails if two connections create the same table at the same time.
  const createAlone = dialect === "pg"
    ? Effect.andThen(sql`SELECT pg_advisory_xact_lock(${tablesLock})`, create)
    : create
  const purge = Effect.all([
    write((now) => sql`DELETE FROM plaza_rate_waiting WHERE waits_until < ${now} - ${dayMillis}`),
    write((now) => sql`DELETE FROM plaza_rate_gates WHERE closed_until < ${now} - ${dayMillis}`),
    // A process that still uses such a name seeds its slots again.
    write((now) => sql`DELETE FROM plaza_rate_slots WHERE name <> ${name} AND free_at < ${now} - ${unusedDays * dayMillis}`)
  ], { discard: true })
  return Effect.retry(Effect.all([transaction(createAlone), purge, seed], { discard: true }), whileOthersStart)
}
