/**
 * The process that holds a ledger, recorded in the ledger: for the message of a process that can't open it, and for the owner to
 * notice that it was replaced. The lock itself belongs to the database, so a record that remains does no harm.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { hostname } from "node:os"
import { LedgerInUse } from "./LedgerError.ts"
import * as LedgerRows from "./LedgerRows.ts"

/** Records this process as the owner. Returns an effect that checks whether it still is. */
export const record = (sql: SqlClient.SqlClient): Effect.Effect<Effect.Effect<boolean, SqlError>, SqlError> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const token = `${process.pid}-${now}-${yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)}`
    yield* sql`INSERT INTO lock_owner (one, host, pid, since, token) VALUES (1, ${hostname()}, ${process.pid}, ${now}, ${token})
      ON CONFLICT (one) DO UPDATE SET host = excluded.host, pid = excluded.pid, since = excluded.since, token = excluded.token`
    return Effect.map(sql`SELECT 1 FROM lock_owner WHERE token = ${token}`, (rows) => rows.length > 0)
  })

const ownerRow = LedgerRows.first(Schema.Struct({ host: Schema.String, pid: Schema.Int, since: LedgerRows.Instant }))

/** The failure to open a ledger that another process holds, with its owner if that can be read. */
export const inUse = <E, R>(path: string, connect: Effect.Effect<SqlClient.SqlClient, E, R>): Effect.Effect<LedgerInUse, never, R> =>
  connect.pipe(
    Effect.flatMap((sql) => ownerRow(sql`SELECT host, pid, since FROM lock_owner`)),
    Effect.map(Option.match({
      onNone: () => "",
      onSome: ({ host, pid, since }) => `: process ${pid} on ${host}, since ${DateTime.formatIso(since)}`
    })),
    Effect.orElseSucceed(() => ""),
    Effect.map((owner) =>
      new LedgerInUse({
        path,
        message:
          `another plaza-stock-sync works with the ledger ${path}${owner}. Wait until it has ended, or name another ledger with --ledger or ` +
          "STOCK_SYNC_LEDGER"
      })
    )
  )
