/** The failure to open a ledger that another process holds. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import * as AccountLedger from "../AccountLedger.ts"
import { LedgerInUse } from "../LedgerError.ts"
import * as Rows from "../Rows.ts"

const ownerRow = Rows.first(Schema.Struct({ owner: Schema.String, owned_since: Rows.Instant }))

/** The failure to open a ledger that another process holds, with its owner if that can be read. */
export const inUse = <E, R>(path: string, connect: Effect.Effect<SqlClient, E, R>): Effect.Effect<LedgerInUse, never, R> =>
  connect.pipe(
    Effect.flatMap((sql) => ownerRow(sql`SELECT owner, owned_since FROM account WHERE account = ${AccountLedger.single}`)),
    Effect.map(Option.match({
      onNone: () => "",
      onSome: ({ owned_since, owner }) => `: ${owner}, since ${DateTime.formatIso(owned_since)}`
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
