/** Counts the requests of a key within the rate window, so that a successor of this process does not exceed its allowance. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { clockTolerance, type Ledger, type LedgerOptions } from "./Ledger.ts"
import * as Operation from "./Operation.ts"
import { integer, mine, type Run, type Step, type Target, together } from "./Operation.ts"
import * as Rows from "./Rows.ts"

/** Later than any time: the end of a request in flight, plus its number. */
export const inFlight = 9_000_000_000_000_000

/** How long a request is counted, in milliseconds. */
const countedMillis = ({ rateWindow }: Pick<LedgerOptions, "rateWindow">): number =>
  Math.ceil(Duration.toMillis(Duration.sum(rateWindow, clockTolerance)))

/** Counts a request that ended at this time, and forgets those that no longer count. */
export const record = (target: Target, options: LedgerOptions, endedAt: number, now: number): ReadonlyArray<Step> => {
  const { account, sql } = target
  return [
    (isOwned) => sql`INSERT INTO request (account, ended_at) SELECT ${integer(sql, account)}, ${integer(sql, endedAt)} WHERE ${isOwned}`,
    (isOwned) => sql`DELETE FROM request WHERE ${mine(target)} AND ended_at < ${now - countedMillis(options)} AND ${isOwned}`
  ]
}

const endings = Rows.all(Schema.Struct({ ended_at: Schema.Int }))

export const make = (target: Target, options: LedgerOptions, run: Run): Pick<Ledger["Service"], "countRequest" | "requests"> => {
  const { sql } = target
  let last = 0
  return {
    countRequest: (request) =>
      Effect.acquireUseRelease(
        Effect.suspend(() => {
          const number = ++last
          const start = Effect.flatMap(Operation.now, (now) => together(target, record(target, options, inFlight + number, now)))
          return Effect.as(run(start), number)
        }),
        () => request,
        // Until the next opening it counts as a request in flight.
        (number) =>
          Effect.ignore(run(Effect.flatMap(Operation.now, (now) =>
            together(target, [(isOwned) =>
              sql`UPDATE request SET ended_at = ${now} WHERE ${mine(target)} AND ended_at = ${inFlight + number} AND ${isOwned}`]))))
      ),
    requests: run(Effect.gen(function*() {
      const now = yield* Operation.now
      const rows = yield* endings(
        sql`SELECT ended_at FROM request WHERE ${mine(target)} AND ended_at >= ${now - countedMillis(options)} ORDER BY ended_at`
      )
      // A request in flight is as recent as one that has just ended.
      return rows.map((row) => Duration.millis(Math.max(0, now - row.ended_at)))
    }))
  }
}
