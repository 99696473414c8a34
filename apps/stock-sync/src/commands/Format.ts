/** Ledger entries, rows and snapshots as text and as JSON. */
import { Output } from "@plaza/cli-kit/Output"
import { Streams } from "@plaza/cli-kit/Streams"
import type * as Table from "@plaza/cli-kit/Table"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Entry, Refusal } from "../ledger/Entry.ts"
import { type HeldChange, type HeldSnapshot, placeOf, type RowIssue } from "../ledger/Snapshot.ts"
import * as Judge from "../ledger/snapshot/Judge.ts"
import type { Unit } from "../source/Source.ts"

export const isoTime = (at: DateTime.Utc | undefined): string | null => at === undefined ? null : DateTime.formatIso(at)

/** The last response as one line. */
export const refusalText = (refusal: Refusal | undefined): string =>
  refusal === undefined ? "" : `${refusal.code ?? refusal.tag}: ${refusal.message}`

// A longer table is of no use to a reader; `--json` prints all rows.
export const maxRows = 200

/** All items of a stream for JSON, else one more than a table shows. */
export const collect = <A, E>(stream: Stream.Stream<A, E>, json: boolean): Effect.Effect<ReadonlyArray<A>, E> =>
  Stream.runCollect(json ? stream : Stream.take(stream, maxRows + 1))

/** Writes a table below a title, if it has rows. Several columns have a header in a pipe too. A note follows a table that is cut off. */
export const titled = (title: string, columns: ReadonlyArray<Table.Column>, rows: ReadonlyArray<Table.Row>) =>
  Effect.gen(function*() {
    if (rows.length === 0) return
    const output = yield* Output
    yield* output.text(`\n${title}`)
    const { stdout } = yield* Streams
    if (!stdout.isTerminal && columns.length > 1) yield* output.text(columns.map(({ head }) => head).join("\t"))
    yield* output.table(columns, rows.slice(0, maxRows))
    if (rows.length > maxRows) yield* output.text("… and more: --json lists all of them")
  })

export const issueTable = (issues: ReadonlyArray<RowIssue>, unit: Unit) =>
  titled(
    "Rows that were rejected or changed",
    [{ head: "where" }, { head: "product" }, { head: "reason", overflow: "wrap" }],
    issues.map((issue) => [placeOf(issue, unit), issue.productId ?? null, issue.reason])
  )

export const quarantineTable = (entries: ReadonlyArray<Entry>) =>
  titled(
    "Quarantined products",
    [{ head: "product" }, { head: "wanted", align: "right" }, { head: "retried at" }, { head: "response", overflow: "wrap" }],
    entries.map(({ dueAt, productId, refusal, wanted }) => [productId, wanted, shortTime(dueAt), refusalText(refusal)])
  )

export const uncertainTable = (entries: ReadonlyArray<Entry>) =>
  titled(
    "Uncertain products: the store may have another stock",
    [{ head: "product" }, { head: "wanted", align: "right" }, { head: "retried at" }, { head: "response", overflow: "wrap" }],
    entries.map(({ dueAt, productId, refusal, wanted }) => [productId, wanted, shortTime(dueAt) ?? "-", refusalText(refusal)])
  )

export const heldTable = (changes: ReadonlyArray<HeldChange>) =>
  titled(
    "Implausible changes of the held snapshot",
    [{ head: "product" }, { head: "from", align: "right" }, { head: "to", align: "right" }, { head: "why" }],
    changes.map(({ from, kind, productId, to }) => [productId, from, to, Judge.changeTexts[kind]])
  )

/** A held snapshot as one line. */
export const heldText = ({ confirmed, figures, number, since }: HeldSnapshot): string =>
  `snapshot ${number}, since ${shortTime(since)}: ${Judge.describe(figures)}${
    confirmed ? " (confirmed: accepted at the next read of the source)" : ""
  }`

/** A time in a table, without milliseconds. */
export const shortTime = (at: DateTime.Utc | undefined): string | null => isoTime(at)?.replace(/\.\d{3}Z$/, "Z") ?? null

export const heldJson = ({ at, confirmed, figures, number, since }: HeldSnapshot, changes: ReadonlyArray<HeldChange>) => ({
  snapshot: number,
  since: isoTime(since),
  at: isoTime(at),
  confirmed,
  ...figures,
  changes
})

/** Why `--gone zero` did nothing for this snapshot. */
export const missingKept =
  "missing products keep their stock this time: a rejected row names no known product and may be one of them, or it is the last row and others may be missing behind it"

export const issueJson = ({ kind, line, productId, reason }: RowIssue) => ({
  row: line > 0 ? line : null,
  productId: productId ?? null,
  kind,
  reason
})

export const entryJson = (entry: Entry) => ({
  productId: entry.productId,
  state: entry.state,
  wanted: entry.wanted,
  confirmed: entry.confirmed ?? null,
  confirmedAt: isoTime(entry.confirmedAt),
  sent: entry.sent ?? null,
  mayStillArrive: entry.doubt?.until === undefined ? null : { ...entry.doubt, until: isoTime(entry.doubt.until) },
  attempts: entry.attempts,
  dueAt: isoTime(entry.dueAt),
  row: entry.line > 0 ? entry.line : null,
  refusal: entry.refusal === undefined ? null : { ...entry.refusal, code: entry.refusal.code ?? null }
})

/** A number with its noun: "1 product", "2 products". */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`
