/**
 * Queries for the pages: accounts by username prefix, and row counts.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Account } from "../access/AccountsRepo.js"
import { AccountsRepo } from "../access/AccountsRepo.js"
import type * as Database from "../storage/Database.js"
import { Sql } from "../storage/Sql.js"
import * as SqlSchema from "../storage/SqlSchema.js"

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
  "accounts",
  "access_requests",
  "keys",
  "relations",
  "media",
  "posts",
  "comments",
  "likes",
  "stories",
  "products",
  "orders",
  "conversations",
  "messages"
]

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Lookup, never, Sql | AccountsRepo> = Effect.map(
  Effect.all([Sql, AccountsRepo]),
  ([sql, accounts]) => {
    const count = SqlSchema.single({
      Result: Schema.Struct({ rows: Schema.Int }).pipe(Schema.pluck("rows")),
      execute: (table: string) => sql.first`SELECT count(*) AS rows FROM ${sql.literal(table)}`
    })
    return {
      accounts: (start) => accounts.findByPrefix(start, shown),
      counts: Effect.forEach(counted, (table) => Effect.map(count(table), (rows) => [table, rows] as const))
    }
  }
)
