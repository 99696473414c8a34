/** Decides whether a compared snapshot is held, and keeps the held one until it is confirmed or replaced. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import type { Commands } from "../LedgerCommands.ts"
import { NotHeld, SnapshotHeld } from "../LedgerError.ts"
import { mine, type Target, together } from "../Operation.ts"
import * as Rows from "../Rows.ts"
import type { HeldSnapshot, SnapshotStatus } from "../Snapshot.ts"
import type { Difference } from "./Compare.ts"
import { findImplausible } from "./Compare.ts"
import * as DropGuard from "./DropGuard.ts"

export type Verdict =
  | { readonly _tag: "Plausible" }
  /** Implausible, but confirmed. */
  | { readonly _tag: "Confirmed" }
  | { readonly _tag: "Held"; readonly number: number; readonly isNew: boolean }

type Failure = Schema.SchemaError | SqlError

const snapshotRow = Rows.first(Rows.SnapshotRow)
const kindCounts = Rows.all(Schema.Struct({ kind: Rows.Kind, n: Schema.Int, isNew: Rows.Truth }))

const read = (target: Target) => snapshotRow(target.sql`SELECT * FROM snapshot WHERE ${mine(target)}`)

/** Holds a snapshot only if it adds implausible changes that were not confirmed. */
export const judge = (
  target: Target,
  limits: DropGuard.Limits,
  { result: { figures }, zeroes }: Difference
): Effect.Effect<Verdict, Failure> =>
  Effect.gen(function*() {
    if (!DropGuard.exceeds(limits, figures)) return { _tag: "Plausible" }
    const { sql } = target
    yield* findImplausible(target, zeroes)
    const kinds = yield* kindCounts(sql`SELECT kind, count(*) AS n, is_new AS "isNew" FROM (
        SELECT kind, NOT EXISTS (SELECT 1 FROM held_change WHERE ${mine(target)} AND held_change.id = implausible.id
          AND held_change.kind = implausible.kind) AS is_new FROM implausible
      ) AS counted GROUP BY kind, is_new`)
    // All of it is that of earlier snapshots.
    if (kinds.length === 0) return { _tag: "Plausible" }
    const row = Option.getOrUndefined(yield* read(target))
    const number = row?.last_number ?? 0
    if (row === undefined || row.held_since === null) return { _tag: "Held", number: number + 1, isNew: true }
    const added = kinds.filter(({ isNew }) => Boolean(isNew))
    if (row.confirmed_number === number) {
      const countOf = (kind: DropGuard.Kind) => added.find((row) => row.kind === kind)?.n ?? 0
      const unconfirmed = {
        catalogue: figures.catalogue,
        soldOut: countOf("soldOut"),
        fell: countOf("fell"),
        rose: countOf("rose"),
        missing: countOf("missing"),
        zeroed: figures.zeroed > 0 ? countOf("missing") : 0,
        reverted: countOf("reverted")
      }
      if (added.length === 0 || !DropGuard.exceeds(limits, unconfirmed)) return { _tag: "Confirmed" }
    }
    return added.length === 0 ? { _tag: "Held", number, isNew: false } : { _tag: "Held", number: number + 1, isNew: true }
  })

const encodeFigures = Schema.encodeSync(Rows.Figures)
const heldSince = Rows.only(Schema.Struct({ held_since: Rows.Instant }))

/** Records the snapshot and its implausible changes for inspection and confirmation. */
export const hold = (
  target: Target,
  { isNew, number }: Extract<Verdict, { readonly _tag: "Held" }>,
  figures: DropGuard.Figures,
  now: number
): Effect.Effect<HeldSnapshot, Failure> =>
  Effect.gen(function*() {
    const { account, sql } = target
    const row = yield* heldSince(
      sql`UPDATE snapshot SET last_number = ${number}, held_at = ${now}, held_figures = ${encodeFigures(figures)},
        held_since = CASE WHEN last_number = ${number} THEN coalesce(held_since, ${now}) ELSE ${now} END
      WHERE ${mine(target)} RETURNING held_since`
    )
    if (isNew) {
      yield* sql`UPDATE snapshot SET confirmed_number = NULL WHERE ${mine(target)}`
      yield* sql`DELETE FROM held_change WHERE ${mine(target)}`
      yield* sql`INSERT INTO held_change (account, id, kind, was, wanted) SELECT CAST(${account} AS BIGINT), id, kind, was, stock FROM implausible`
    }
    return { number, figures, since: row.held_since, at: DateTime.makeUnsafe(now), confirmed: false }
  })

export const status = (target: Target): Effect.Effect<SnapshotStatus, Failure> =>
  Effect.map(read(target), (found) => {
    const row = Option.getOrUndefined(found)
    return {
      takenAt: row?.taken_at ?? undefined,
      rows: row?.row_count ?? undefined,
      unit: row?.unit ?? "line",
      lastNumber: row?.last_number ?? 0,
      reverted: row === undefined || row.reverted_to === null || row.reverted_at === null
        ? undefined
        : { to: row.reverted_to, at: row.reverted_at },
      held: Option.flatMap(found, Rows.toHeld)
    }
  })

/** Marks the held snapshot with this number as confirmed, if it is held. */
export const confirm = (target: Target, number: number) =>
  together(target, [(isOwned) =>
    target.sql`UPDATE snapshot SET confirmed_number = ${number}
      WHERE ${mine(target)} AND last_number = ${number} AND held_since IS NOT NULL AND ${isOwned}`])

/** No snapshot with this number is held in the ledger at a path, but perhaps another one. */
export const notHeld = (number: number, current: Option.Option<HeldSnapshot>, path: string, commands: Commands): NotHeld =>
  new NotHeld({
    message: Option.match(current, {
      onNone: () => `no snapshot is held in the ledger ${path}: there is nothing to confirm in it`,
      onSome: (held) =>
        `snapshot ${number} is not held (any longer); snapshot ${held.number} is: look at it with \`${commands.status}\`, then run ` +
        `\`${commands.confirm(held.number)}\``
    })
  })

/** Why a change is implausible. */
export const changeTexts: Readonly<Record<DropGuard.Kind, string>> = {
  soldOut: "sells out",
  fell: "falls to a third or less",
  rose: "rises more than tenfold",
  missing: "missing in the source",
  reverted: "was reverted"
}

/** The implausible changes of a snapshot in words. */
export const describe = ({ catalogue, fell, missing, reverted, rose, soldOut, zeroed }: DropGuard.Figures): string => {
  const changes = [[soldOut + zeroed, "sell out"], [fell, "fall to a third or less"], [rose, "rise more than tenfold"], [
    missing,
    "are missing"
  ], [reverted, "get a stock that was reverted"]] as const
  return `of ${catalogue} products, ${changes.flatMap(([count, what]) => count === 0 ? [] : [`${count} ${what}`]).join(", ")}`
}

const reasonOf = (limits: DropGuard.Limits, { reverted, ...figures }: DropGuard.Figures): string => {
  const repeats = reverted > 0 ? [`of ${figures.catalogue} products, ${reverted} get a stock that was reverted`] : []
  const others = { ...figures, reverted: 0 }
  const exceeds = DropGuard.exceeds(limits, others)
    ? [
      `it is implausible: ${describe(others)} within ${Duration.format(limits.window)}, and the limit is ${
        Math.floor(DropGuard.limitOf(limits, figures))
      }`
    ]
    : []
  return [...repeats, ...exceeds].join(", and ")
}

export const failure = (limits: DropGuard.Limits, held: HeldSnapshot, commands: Commands): SnapshotHeld =>
  new SnapshotHeld({
    held,
    message: `the source is held as snapshot ${held.number}, because ${reasonOf(limits, held.figures)}. Nothing of it was taken. Look at ` +
      `the changes with \`${commands.status}\`; if they are right, run \`${commands.confirm(held.number)}\`, otherwise correct the source`
  })
