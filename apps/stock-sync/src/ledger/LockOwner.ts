/**
 * Who holds a ledger, written into it for the process that is turned away, and for the owner to notice that it was replaced.
 * The lock itself is the database's, so a row that nobody removed does no harm.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { LedgerInUse } from "./Ledger.js"

/** Writes this process into the ledger. Succeeds with an effect that tells whether it is still there. */
export const enter = (sql: SqlClient.SqlClient): Effect.Effect<Effect.Effect<boolean, SqlError>, SqlError> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const token = yield* Effect.sync(() => randomUUID())
    yield* sql`INSERT INTO lock_owner (one, host, pid, since, token) VALUES (1, ${hostname()}, ${process.pid}, ${now}, ${token})
      ON CONFLICT (one) DO UPDATE SET host = excluded.host, pid = excluded.pid, since = excluded.since, token = excluded.token`
    return Effect.map(sql`SELECT 1 FROM lock_owner WHERE token = ${token}`, (rows) => rows.length > 0)
  })

/** Says who is in the way, as far as that can be read. */
export const inUse = <E, R>(path: string, sql: Effect.Effect<SqlClient.SqlClient, E, R>): Effect.Effect<LedgerInUse, never, R> =>
  sql.pipe(
    Effect.flatMap((read) => read<{ host: string; pid: number; since: number }>`SELECT host, pid, since FROM lock_owner`),
    Effect.map(([row]) => row === undefined ? "" : `: process ${row.pid} on ${row.host}, since ${new Date(row.since).toISOString()}`),
    Effect.orElseSucceed(() => ""),
    Effect.map((who) =>
      new LedgerInUse({
        path,
        message:
          `another plaza-stock-sync works with the ledger ${path}${who}. Wait until it has ended, or name another ledger with --ledger or ` +
          "STOCK_SYNC_LEDGER"
      })
    )
  )
