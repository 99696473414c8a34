/**
 * Who works with a ledger, written into it for the one who is turned away. What keeps others out is a lock of the database, so an entry
 * that nobody removed does no harm. Knows nothing of those locks.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { hostname } from "node:os"
import { LedgerInUse } from "../Ledger.js"

/** @since 0.1.0 @category statements */
export const enter = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    sql`INSERT INTO holder (one, host, pid, since) VALUES (1, ${hostname()}, ${process.pid}, ${now})
      ON CONFLICT (one) DO UPDATE SET host = excluded.host, pid = excluded.pid, since = excluded.since`)

/**
 * Says who is in the way, as far as that can be read.
 *
 * @since 0.1.0
 * @category reading
 */
export const inUse = <E, R>(path: string, sql: Effect.Effect<SqlClient.SqlClient, E, R>): Effect.Effect<LedgerInUse, never, R> =>
  sql.pipe(
    Effect.flatMap((read) => read<{ host: string; pid: number; since: number }>`SELECT host, pid, since FROM holder`),
    Effect.map(([row]) => row === undefined ? "" : `: process ${row.pid} on ${row.host}, since ${new Date(row.since).toISOString()}`),
    Effect.orElseSucceed(() => ""),
    Effect.map((who) =>
      new LedgerInUse({
        path,
        message: `Another plaza-stock-sync works with the ledger ${path}${who}. Wait until it has ended, or name another one with --ledger or ` +
          "STOCK_SYNC_LEDGER"
      })
    )
  )
