/**
 * What happened to the source and the account of a ledger: new snapshots, held ones, and the beginnings and ends of failures. `report` reads
 * it. Nothing is written for a source that did not change.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Fragment } from "effect/sql/Statement"
import type { Kept, Ledger, LedgerEvent } from "./Ledger.ts"
import type * as Operation from "./Operation.ts"
import { integer, mine, type Run, type Step, type Target, together, toStorable } from "./Operation.ts"
import * as Rows from "./Rows.ts"

/**
 * - `snapshotAccepted`, `snapshotHeld`, `snapshotReverted`: a snapshot with changes was accepted; one was held; the stock of one was restored.
 * - `sourceFailed`, `sourceRead`: the source can't be read or is refused; it is read again, unchanged.
 * - `accountPaused`, `accountQuota`, `accountTrouble`, `accountRunning`: the states of the account, except `Starting`.
 */
export const kinds = [
  "snapshotAccepted",
  "snapshotHeld",
  "snapshotReverted",
  "sourceFailed",
  "sourceRead",
  "accountPaused",
  "accountQuota",
  "accountTrouble",
  "accountRunning"
] as const
export type Kind = (typeof kinds)[number]

/** The most events of an account. A source that changes every minute fills it in a week. */
export const mostEvents = 10_000
/** Older events are dropped, a few with each new one. */
const keptFor = Duration.toMillis("35 days")
const droppedAtOnce = 20

const lastNumber = (target: Target) => target.sql`(SELECT coalesce(max(n), 0) FROM event WHERE ${mine(target)})`

/** Statements of which none needs what the other one writes. `when`: a condition without which nothing is added. */
export const steps = (
  target: Target,
  { code, count, detail, kind }: Omit<LedgerEvent, "at">,
  at: number,
  when: (target: Target) => Fragment = ({ sql }) => sql`1 = 1`
): ReadonlyArray<Step> => {
  const { account, sql } = target
  return [
    (isOwned) =>
      sql`DELETE FROM event WHERE ${mine(target)} AND ${isOwned} AND (n <= ${lastNumber(target)} - ${mostEvents - 1}
        OR n IN (SELECT n FROM (SELECT n, at FROM event WHERE ${mine(target)} ORDER BY n LIMIT ${droppedAtOnce}) AS oldest
          WHERE at < ${at - keptFor} AND n < ${lastNumber(target)}))`,
    (isOwned) =>
      sql`INSERT INTO event (account, n, at, kind, code, detail, amount)
        SELECT ${integer(sql, account)}, ${lastNumber(target)} + 1, ${integer(sql, at)}, ${kind}, ${code ?? null},
          ${detail === undefined ? null : toStorable(detail)}, ${integer(sql, count)}
        WHERE ${isOwned} AND ${when(target)}`
  ]
}

/** A state of the account ends with the next one. */
export const accountKinds: ReadonlyArray<Kind> = ["accountPaused", "accountQuota", "accountTrouble", "accountRunning"]
/** A failure of the source ends with the next of these. A revert is none of them: a person does it whether or not the source can be read. */
export const sourceKinds: ReadonlyArray<Kind> = ["snapshotAccepted", "snapshotHeld", "sourceFailed", "sourceRead"]

const newsOf = (kind: Kind, code: string | undefined): string => `${kind} ${code ?? ""}`

/** Not if the last event of the same subject says the same, so that a restart adds nothing. Without an event, all was well. */
const isNews = ({ code, kind }: Pick<LedgerEvent, "code" | "kind">) => (target: Target): Fragment => {
  const { sql } = target
  const [kinds, good] = accountKinds.includes(kind) ? [accountKinds, "accountRunning"] as const : [sourceKinds, "sourceRead"] as const
  const last = sql`SELECT CASE WHEN kind IN ('snapshotAccepted', 'snapshotHeld') THEN ${newsOf("sourceRead", undefined)}
      ELSE kind || ' ' || coalesce(code, '') END
    FROM event WHERE ${mine(target)} AND ${sql.in("kind", kinds)} ORDER BY n DESC LIMIT 1`
  return sql`coalesce((${last}), ${newsOf(good, undefined)}) <> ${newsOf(kind, code)}`
}

const eventRows = Rows.all(Schema.Struct({
  n: Schema.Int,
  at: Rows.Instant,
  kind: Schema.Literals(kinds),
  code: Schema.NullOr(Schema.String),
  detail: Schema.NullOr(Schema.String),
  amount: Schema.Int
}))

const firstRow = Rows.first(Schema.Struct({ n: Schema.Int, at: Rows.Instant }))

/** Undefined if all were kept since the first. */
const keptFrom = (first: Option.Option<{ readonly n: number; readonly at: DateTime.Utc }>): DateTime.Utc | undefined =>
  Option.getOrUndefined(Option.map(Option.filter(first, ({ n }) => n > 1), ({ at }) => at))

export const make = (target: Target, run: Run): Pick<Ledger["Service"], "events" | "kept" | "record"> => {
  const { sql } = target
  return {
    record: (event) =>
      run(Effect.retry(together(target, steps(target, event, DateTime.toEpochMillis(event.at), isNews(event))), {
        // A command beside the owner has recorded an event under this number, for which the statement waited.
        while: (failure) => failure._tag === "SqlError" && failure.reason._tag === "UniqueViolation",
        times: 5
      })),
    events: run(Effect.map(
      eventRows(sql`SELECT n, at, kind, code, detail, amount FROM event WHERE ${mine(target)} ORDER BY n`),
      (rows) =>
        rows.map(({ amount, at, code, detail, kind }): LedgerEvent => ({
          at,
          kind,
          code: code ?? undefined,
          detail: detail ?? undefined,
          count: amount
        }))
    )),
    kept: run(Effect.gen(function*(): Effect.fn.Return<Kept, Operation.Failure> {
      return {
        requests: keptFrom(yield* firstRow(sql`SELECT n, ended_at AS at FROM history WHERE ${mine(target)} ORDER BY n LIMIT 1`)),
        events: keptFrom(yield* firstRow(sql`SELECT n, at FROM event WHERE ${mine(target)} ORDER BY n LIMIT 1`))
      }
    }))
  }
}
