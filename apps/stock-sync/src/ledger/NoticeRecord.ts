/**
 * What was announced to a person, for the next process: a text of the one that writes the messages. An account of a single store has one, and
 * a fleet has one for all its accounts.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Ledger } from "./Ledger.ts"
import { type Failure, integer, mine, type Run, type Step, type Target, together } from "./Operation.ts"
import * as Rows from "./Rows.ts"

/** Stands for a fleet in the place of an account. */
export const fleet = 0

const row = Rows.first(Schema.Struct({ state: Schema.String }))

export const read = (target: Pick<Target, "account" | "sql">): Effect.Effect<Option.Option<string>, Failure> =>
  Effect.map(row(target.sql`SELECT state FROM notice WHERE ${mine(target)}`), Option.map(({ state }) => state))

export const write = ({ account, sql }: Pick<Target, "account" | "sql">, text: string): Step => (isOwned) =>
  sql`INSERT INTO notice (account, state) SELECT ${integer(sql, account)}, ${text} WHERE ${isOwned}
    ON CONFLICT (account) DO UPDATE SET state = excluded.state`

export const make = (target: Target, run: Run): Pick<Ledger["Service"], "notices" | "setNotices"> => ({
  notices: run(read(target)),
  setNotices: (text) => run(together(target, [write(target, text)]))
})
