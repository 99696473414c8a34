/**
 * Queries for the pages: accounts by username prefix, and row counts.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Account, AccountRow } from "../access/Accounts.js"
import { fromRow } from "../access/Accounts.js"
import type * as Database from "../storage/Database.js"
import { Sql } from "../storage/Sql.js"

/** @since 0.1.0 @category models */
export interface Lookup {
  /** At most {@link shown} accounts whose username has this prefix, sorted by username. */
  readonly accounts: (start: string) => Effect.Effect<ReadonlyArray<Account>>
  /** The number of rows of each table. */
  readonly counts: Effect.Effect<ReadonlyArray<readonly [table: string, rows: number]>>
}

/**
 * The maximum number of accounts on a page.
 *
 * @since 0.1.0
 * @category constants
 */
export const shown = 100

/** The tables on the console. */
const counted: ReadonlyArray<(typeof Database.tableNames)[number]> = [
  "accounts", "access_requests", "keys", "relations", "media", "posts", "comments", "likes", "stories", "products", "orders",
  "conversations", "messages"
]

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Lookup, never, Sql> = Effect.map(Sql, (sql) => ({
  accounts: (start) =>
    Effect.map(
      // Two bounds use the index; LIKE would scan every account.
      sql<AccountRow>`
        SELECT * FROM accounts WHERE username >= ${start} AND username < ${`${start}\u{10FFFF}`} ORDER BY username LIMIT ${shown}`,
      (rows) => rows.map(fromRow)
    ),
  counts: Effect.forEach(counted, (table) =>
    Effect.map(
      sql<{ readonly rows: number }>`SELECT count(*) AS rows FROM ${sql.literal(table)}`,
      ([row]) => [table, row?.rows ?? 0] as const
    ))
}))
