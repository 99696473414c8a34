/** The `Ledger` service on an open database. `Sqlite` and `Postgres` open it. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as AccountQueries from "./AccountQueries.ts"
import * as ApplySnapshot from "./ApplySnapshot.ts"
import * as DispatchQueries from "./DispatchQueries.ts"
import * as HeldSnapshots from "./HeldSnapshots.ts"
import type { Ledger, LedgerOptions } from "./Ledger.ts"
import { LedgerCommands } from "./LedgerCommands.ts"
import type { LedgerConnection } from "./LedgerConnection.ts"
import * as ReadQueries from "./ReadQueries.ts"

export const make = (
  connection: LedgerConnection,
  options: LedgerOptions,
  check: Ledger["Type"]["check"] = Effect.void,
  lost: Ledger["Type"]["lost"] = Effect.never
): Ledger["Type"] => {
  const { path, run, sql } = connection
  const snapshot = run(HeldSnapshots.status(sql))
  return {
    path,
    check,
    lost,
    ...AccountQueries.make(connection),
    applySnapshot: ApplySnapshot.apply(connection),
    previewSnapshot: ApplySnapshot.preview(connection),
    snapshot,
    confirmHeld: (number) =>
      Effect.gen(function*() {
        const confirmed = yield* run(HeldSnapshots.confirm(sql, number))
        return Option.isSome(confirmed)
          ? confirmed.value
          : yield* HeldSnapshots.notHeld(number, (yield* snapshot).held, path, yield* LedgerCommands)
      }),
    ...ReadQueries.make(connection),
    ...DispatchQueries.make(connection, options)
  }
}
