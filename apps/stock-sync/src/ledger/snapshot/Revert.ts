/** Makes the stock of an earlier snapshot the wanted stock again, and remembers what that undoes until the source is right. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Fragment } from "effect/sql/Statement"
import * as Events from "../Events.ts"
import type { Ledger } from "../Ledger.ts"
import * as LedgerCommands from "../LedgerCommands.ts"
import { CannotRevert } from "../LedgerError.ts"
import * as Operation from "../Operation.ts"
import { mine, type Run, type Target } from "../Operation.ts"
import * as Rows from "../Rows.ts"
import { beforeEveryWindow, excusedByRevert } from "../Schema.ts"
import type { PastSnapshot, Reverted, RevertOptions } from "../Snapshot.ts"
import { readSession, type Staging, unfenced } from "./Apply.ts"
import { findImplausible, measure } from "./Compare.ts"
import * as DropGuard from "./DropGuard.ts"
import * as Past from "./Past.ts"
import * as Stage from "./Stage.ts"
import { type GuardWindow, resetBaseline, updateKnown } from "./Write.ts"

/** Stages the stock at that time of the products that have changed since, from the first later change. Null: the product was unknown. */
const stageEarlier = ({ account, sql }: Target, to: number) =>
  sql`INSERT INTO staged (id, stock, line, n, negative, kind) SELECT past_stock.id, past_stock.stock, 0, 0, 0, 'accepted'
    FROM (SELECT id, min(number) AS number FROM past_stock WHERE account = ${account} AND number > ${to} GROUP BY id) AS first_change
      JOIN past_stock ON past_stock.account = ${account} AND past_stock.number = first_change.number AND past_stock.id = first_change.id`

/**
 * Stages the products whose stock differs from that time. A product that was new since keeps its stock, because the earlier snapshot did not
 * name it.
 */
const findChanged = ({ account, sql }: Target, { start }: GuardWindow) =>
  sql`INSERT INTO change (id, stock, line, listing, was, was_listing, baseline)
    SELECT product.id, staged.stock, product.line, CASE listing WHEN 'zeroed' THEN 'missing' ELSE listing END, wanted, listing,
      CASE WHEN baseline_at > ${start} THEN baseline ELSE wanted END
    FROM staged JOIN product ON product.account = ${account} AND product.id = staged.id
    WHERE staged.stock IS NOT NULL AND staged.stock <> product.wanted AND product.listing <> 'excluded'`

/** Lets the source of that time pass the drop guard: a person has just said that it is right. */
const allowSource = (target: Target, to: number, { now }: GuardWindow) =>
  Effect.gen(function*() {
    const { account, sql } = target
    const since = (condition: Fragment) =>
      sql`id IN (SELECT id FROM past_stock WHERE account = ${account} AND number > ${to} AND ${condition})`
    // Missing then, or at some time since: not always in that snapshot, but in one that was accepted.
    yield* sql`UPDATE product SET listing = 'missing', missing_since = ${beforeEveryWindow}
      WHERE account = ${account} AND listing = 'named' AND ${since(sql`listing <> 'named'`)}`
    yield* sql`UPDATE product SET missing_since = ${excusedByRevert}
      WHERE account = ${account} AND listing <> 'zeroed' AND ${since(sql`stock IS NULL`)}`
    // Compared once no rule excludes it any longer. Without stock then, it may have been missing.
    yield* sql`UPDATE product SET baseline = staged.stock, baseline_at = ${now},
        missing_since = CASE staged.stock WHEN 0 THEN ${excusedByRevert} ELSE missing_since END FROM staged
      WHERE product.account = ${account} AND product.id = staged.id AND listing = 'excluded' AND staged.stock <> wanted`
    yield* sql`DELETE FROM reverted_stock
      WHERE ${mine(target)} AND (id, stock) IN (SELECT id, coalesce(stock, 0) FROM staged)`
    // The source is compared again, even if its rows are the same as before.
    yield* sql`UPDATE snapshot SET digest = NULL WHERE ${mine(target)}`
  })

const numberRow = Rows.only(Schema.Struct({ number: Schema.Int }))
const countRow = Rows.only(Schema.Struct({ n: Schema.Int }))
const changeRows = Rows.all(Schema.Struct({ id: Schema.String, was: Schema.Int, stock: Schema.Int, kind: Schema.NullOr(Rows.Kind) }))

/** How many changes of the guard's kinds this revert makes. What an earlier revert undid may be restored: a person says so. */
const judge = (target: Target, { guard }: RevertOptions, { start }: GuardWindow) =>
  Effect.gen(function*() {
    const { changed, fell, missedBefore, missing, named, rose, soldOut, zeroed } = yield* measure(target, start)
    const figures = { catalogue: named + missedBefore, fell, missing, rose, soldOut, zeroed, reverted: 0 }
    yield* findImplausible(target, false)
    const { n } = yield* countRow(target.sql`SELECT count(*) AS n FROM implausible WHERE kind <> 'reverted'`)
    return { changed, figures, isImplausible: n > 0 && DropGuard.exceeds(guard, figures) }
  })

const changes = ({ sql }: Target, limit: number | undefined) =>
  Effect.map(
    changeRows(sql`SELECT change.id, change.was, change.stock,
        CASE WHEN implausible.kind <> 'reverted' THEN implausible.kind END AS kind
      FROM change LEFT JOIN implausible ON implausible.id = change.id
      ORDER BY CASE WHEN implausible.kind <> 'reverted' THEN 0 ELSE 1 END, change.id
      ${limit === undefined ? sql.literal("") : sql`LIMIT ${limit}`}`),
    (rows) => rows.map(({ id, kind, stock, was }) => ({ productId: id, from: was, to: stock, kind: kind ?? undefined }))
  )

const write = (target: Target, recorded: Past.Recorded & { readonly revertedTo: number }, isImplausible: boolean, window: GuardWindow) =>
  Effect.gen(function*() {
    const { account, sql } = target
    const { now } = window
    yield* updateKnown(target, window)
    if (isImplausible) yield* resetBaseline(target)
    yield* sql`INSERT INTO reverted_stock (account, id, stock) SELECT ${Operation.integer(sql, account)}, id, was FROM change WHERE true
      ON CONFLICT DO NOTHING`
    const event = {
      kind: "snapshotReverted",
      code: undefined,
      detail: `to snapshot ${recorded.revertedTo}`,
      count: recorded.changed
    } as const
    yield* Operation.atOnce(sql, [
      ...unfenced(target, Events.steps(target, event, now)),
      ...Past.record(target, recorded, now),
      sql`UPDATE snapshot SET last_number = last_number + 1, held_since = NULL, held_at = NULL, confirmed_number = NULL,
        reverted_to = ${recorded.revertedTo}, reverted_at = ${now} WHERE ${mine(target)}`,
      sql`DELETE FROM held_change WHERE ${mine(target)}`
    ])
    return yield* numberRow(sql`SELECT last_number AS number FROM snapshot WHERE ${mine(target)}`)
  })

const unknown = (to: number, past: ReadonlyArray<PastSnapshot>, path: string, { revert }: LedgerCommands.Commands) =>
  new CannotRevert({
    message: past.length === 0
      ? `the ledger ${path} has no snapshot yet: there is nothing to revert to`
      : past[0]?.number === to
      ? `snapshot ${to} is the last one: name an earlier one. \`${revert()}\` lists them`
      : `the stock of snapshot ${to} can't be restored: it was never applied, or is too old. \`${revert()}\` lists the snapshots`
  })

export const make = (account: Target, run: Run, staging: Staging, path: string): Pick<Ledger["Service"], "pastSnapshots" | "revert"> => {
  const pastSnapshots = run(Past.list(account))
  return {
    pastSnapshots,
    revert: (to, options) =>
      Effect.gen(function*() {
        const commands = yield* LedgerCommands.LedgerCommands
        const reverted = yield* staging.run(Effect.scoped(Effect.gen(function*() {
          const sql = yield* readSession(staging)
          const target = { ...account, sql }
          yield* Effect.acquireRelease(Stage.prepare(sql), () => Effect.ignore(Stage.clear(sql)))
          const restore = Effect.gen(function*() {
            const past = yield* Past.list(target)
            const found = past.slice(1).find(({ number }) => number === to)
            if (found === undefined) return unknown(to, past, path, commands)
            const now = yield* Operation.now
            const window = { now, start: now - Math.ceil(Duration.toMillis(options.guard.window)) }
            yield* stageEarlier(target, to)
            yield* findChanged(target, window)
            const { changed, figures, isImplausible } = yield* judge(target, options, window)
            const isWritten = changed > 0 && !options.preview && (options.confirmed || !isImplausible)
            const recorded = { changed, relisted: 0, rows: found.rows, increment: 1, revertedTo: to } as const
            const written = isWritten ? yield* write(target, recorded, isImplausible, window) : undefined
            if (isWritten || (changed === 0 && !options.preview)) yield* allowSource(target, to, window)
            return { to: found, number: written?.number, changed, figures, isImplausible }
          })
          // A preview writes temporary tables only, and delays no worker.
          const restored = yield* options.preview ? restore : Operation.transaction(target, restore)
          if (restored instanceof CannotRevert) return restored
          // After the transaction, because the worker waits for that.
          const result: Reverted = { ...restored, changes: yield* changes(target, options.limit) }
          return result
        })))
        return reverted instanceof CannotRevert ? yield* reverted : reverted
      })
  }
}
