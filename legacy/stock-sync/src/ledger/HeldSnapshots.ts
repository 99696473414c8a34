/** Decides whether a compared snapshot is held, and keeps the held one until it is confirmed or replaced. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Statement } from "@effect/sql/Statement"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as DropGuard from "../sync/DropGuard.ts"
import type { LedgerCommands } from "./LedgerCommands.ts"
import { NotHeld, SnapshotHeld } from "./LedgerError.ts"
import * as LedgerRows from "./LedgerRows.ts"
import type { HeldSnapshot, SnapshotStatus } from "./Snapshot.ts"
import type * as SnapshotDiff from "./SnapshotDiff.ts"

export type Verdict =
  | { readonly _tag: "Plausible" }
  /** Implausible, but confirmed. */
  | { readonly _tag: "Confirmed" }
  | { readonly _tag: "Held"; readonly number: number; readonly isNew: boolean }

const snapshotRow = LedgerRows.first(LedgerRows.SnapshotRow)
const KindCount = Schema.Struct({ kind: LedgerRows.Kind, n: Schema.Int })
const kindCounts = LedgerRows.all(KindCount)

const selectSnapshot = (sql: SqlClient.SqlClient) => snapshotRow(sql`SELECT * FROM snapshot`)

const isKnown = "SELECT 1 FROM held_change WHERE held_change.id = implausible.id AND held_change.kind = implausible.kind"

/** Whether nothing has to be known of the held snapshot: a difference that is plausible by itself. */
export const isPlausible = (limits: DropGuard.Limits, { implausible, result }: SnapshotDiff.Difference): boolean =>
  implausible === 0 || !DropGuard.exceeds(limits, result.figures)

/** Holds a snapshot only if it adds implausible changes that were not confirmed. */
export const judge = (
  sql: SqlClient.SqlClient,
  limits: DropGuard.Limits,
  difference: SnapshotDiff.Difference
): Effect.Effect<Verdict, SqlError | ParseError> =>
  Effect.gen(function*() {
    if (isPlausible(limits, difference)) return { _tag: "Plausible" }
    const { figures } = difference.result
    const row = Option.getOrUndefined(yield* selectSnapshot(sql))
    const number = row?.held_number ?? 0
    if (row === undefined || row.held_since === null) return { _tag: "Held", number: number + 1, isNew: true }
    const added = yield* kindCounts(
      sql`SELECT kind, count(*) AS n FROM implausible WHERE NOT EXISTS (${sql.literal(isKnown)}) GROUP BY kind`
    )
    const isSame = added.length === 0
    if (row.confirmed_number === number) {
      const countOf = (kind: DropGuard.Kind) => added.find((row) => row.kind === kind)?.n ?? 0
      const unconfirmed = {
        catalogue: figures.catalogue,
        soldOut: countOf("soldOut"),
        fell: countOf("fell"),
        rose: countOf("rose"),
        missing: countOf("missing"),
        zeroed: figures.zeroed > 0 ? countOf("missing") : 0
      }
      if (isSame || !DropGuard.exceeds(limits, unconfirmed)) return { _tag: "Confirmed" }
    }
    return { _tag: "Held", number: isSame ? number : number + 1, isNew: !isSame }
  })

const heldSince = LedgerRows.first(Schema.Struct({ held_since: LedgerRows.Instant }))

/** Records the snapshot and its implausible changes for inspection and confirmation. */
export const hold = (
  sql: SqlClient.SqlClient,
  { isNew, number }: Extract<Verdict, { readonly _tag: "Held" }>,
  figures: DropGuard.Figures,
  now: number
): Effect.Effect<HeldSnapshot, SqlError | ParseError> =>
  sql.withTransaction(Effect.gen(function*() {
    const row = yield* heldSince(sql`
      UPDATE snapshot SET held_since = CASE WHEN held_number = ${number} THEN coalesce(held_since, ${now}) ELSE ${now} END, held_at = ${now},
        held_number = ${number}, catalogue = ${figures.catalogue}, sold_out = ${figures.soldOut}, fell = ${figures.fell},
        rose = ${figures.rose}, missing = ${figures.missing}, zeroed = ${figures.zeroed}
      RETURNING held_since`)
    if (isNew) {
      yield* sql`UPDATE snapshot SET confirmed_number = NULL`
      yield* clearChanges(sql)
      yield* sql`INSERT INTO held_change (id, kind, was, wanted) SELECT id, kind, was, stock FROM implausible`
    }
    const at = DateTime.unsafeMake(now)
    const since = Option.match(row, { onNone: () => at, onSome: ({ held_since }) => held_since })
    return { number, figures, since, at, confirmed: false }
  }))

/** The columns of the snapshot's row without a held snapshot, and the statement that forgets its changes. */
export const noneHeldColumns = "held_since = NULL, held_at = NULL, confirmed_number = NULL"
export const clearChanges = (sql: SqlClient.SqlClient): Statement<unknown> => sql`DELETE FROM held_change`

export const status = (sql: SqlClient.SqlClient): Effect.Effect<SnapshotStatus, SqlError | ParseError> =>
  Effect.map(selectSnapshot(sql), (found) => {
    const row = Option.getOrUndefined(found)
    return {
      takenAt: row?.taken_at ?? undefined,
      rows: row?.row_count ?? undefined,
      unit: row?.unit ?? "line",
      held: Option.flatMap(found, LedgerRows.toHeld)
    }
  })

/** Marks the held snapshot with this number as confirmed. Returns it; none if no such snapshot is held. */
export const confirm = (
  sql: SqlClient.SqlClient,
  number: number
): Effect.Effect<Option.Option<HeldSnapshot>, SqlError | ParseError> =>
  Effect.map(
    snapshotRow(sql`
      UPDATE snapshot SET confirmed_number = ${number} WHERE held_number = ${number} AND held_since IS NOT NULL RETURNING *`),
    Option.flatMap(LedgerRows.toHeld)
  )

/** No snapshot with this number is held in the ledger at a path, but perhaps another one. */
export const notHeld = (
  number: number,
  current: Option.Option<HeldSnapshot>,
  path: string,
  commands: LedgerCommands["Type"]
): NotHeld =>
  new NotHeld({
    message: Option.match(current, {
      onNone: () => `no snapshot is held in the ledger ${path}: there is nothing to confirm in it`,
      onSome: (held) =>
        `snapshot ${number} is not held (any longer); snapshot ${held.number} is: look at it with \`${commands.status}\`, then run ` +
        `\`${commands.confirm(held.number)}\``
    })
  })

/** The implausible changes of a snapshot in words. */
export const describe = ({ catalogue, fell, missing, rose, soldOut, zeroed }: DropGuard.Figures): string => {
  const changes = [[soldOut + zeroed, "sell out"], [fell, "fall to a third or less"], [rose, "rise more than tenfold"], [
    missing,
    "are missing"
  ]] as const
  return `of ${catalogue} products, ${changes.flatMap(([count, what]) => count === 0 ? [] : [`${count} ${what}`]).join(", ")}`
}

export const failure = (limits: DropGuard.Limits, held: HeldSnapshot, commands: LedgerCommands["Type"]): SnapshotHeld =>
  new SnapshotHeld({
    held,
    message:
      `the source is held as snapshot ${held.number}, because it is implausible: ${describe(held.figures)} within ${
        Duration.format(limits.window)
      }, ` +
      `and the limit is ${
        Math.floor(DropGuard.limitOf(limits, held.figures))
      }. Nothing of it was taken. Look at the changes with \`${commands.status}\`; if they are ` +
      `right, run \`${commands.confirm(held.number)}\`, otherwise correct the source`
  })
