/**
 * How entries, steps and rows that were set aside read, for people and as JSON. Knows nothing of how they came about.
 *
 * @since 0.1.0
 */
import { Output } from "@plaza/terminal/Output"
import type * as Table from "@plaza/terminal/Table"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Damage } from "./Brake.js"
import type { Entry, Refusal } from "./Entry.js"
import type { Ledger, SetAside } from "./Ledger.js"
import type { Reason, Step } from "./Plan.js"

/**
 * A row or a product that isn't sent, and why.
 *
 * @since 0.1.0
 * @category models
 */
export interface Aside {
  readonly line: number
  readonly productId: string | null
  readonly reason: string
}

/** @since 0.1.0 @category models */
export const told = (refusal: Refusal | undefined): string =>
  refusal === undefined ? "" : `${refusal.code ?? refusal.tag}: ${refusal.message}`

const ofRow = ({ line, productId, reason }: SetAside): Aside => ({ line, productId: productId ?? null, reason })
const ofEntry = ({ line, productId, refusal }: Entry): Aside => ({
  line,
  productId,
  reason: `the service refuses ${refusal?.value ?? "it"}: ${told(refusal)}`
})

/**
 * Everything of the last snapshot that was set aside: bad rows, and products that the service refuses. By line.
 *
 * @since 0.1.0
 * @category reading
 */
export const asides = (ledger: Ledger["Type"]) =>
  Stream.concat(
    Stream.map(ledger.setAside, ofRow),
    Stream.map(Stream.filter(ledger.unsettled, (entry) => entry.state === "quarantined"), ofEntry)
  ).pipe(Stream.runCollect, Effect.map((all) => Chunk.toArray(all).sort((one, other) => one.line - other.line)))

// More rows than this are for a tool, not for eyes; `--json` gives them all.
const longest = 200

/**
 * Writes a table under a title. A long one is cut on a terminal, and says so.
 *
 * @since 0.1.0
 * @category printing
 */
export const titled = (title: string, columns: ReadonlyArray<Table.Column>, rows: ReadonlyArray<Table.Row>) =>
  Effect.gen(function*() {
    if (rows.length === 0) return
    const output = yield* Output
    yield* output.text(`\n${title}`)
    yield* output.table(columns, rows.slice(0, longest))
    if (rows.length > longest) yield* output.text(`… and ${rows.length - longest} more; --json lists them all`)
  })

/** @since 0.1.0 @category printing */
export const asideTable = (rows: ReadonlyArray<Aside>) =>
  titled(
    "Set aside",
    [{ head: "line", align: "right" }, { head: "product" }, { head: "reason", overflow: "wrap" }],
    rows.map((row) => [row.line, row.productId, row.reason])
  )

/**
 * Why a product is sent, in words.
 *
 * @since 0.1.0
 * @category printing
 */
export const why: Readonly<Record<Reason, string>> = {
  soldOut: "sold out",
  falling: "falling",
  backInStock: "back in stock",
  rising: "rising",
  unconfirmed: "never confirmed",
  asserted: "another value may have arrived",
  doubtful: "may not have arrived"
}

/** Why `--gone zero` didn't hold this time. @since 0.1.0 @category printing */
export const goneSpared = "what the source no longer names is left alone this time: a row was set aside that names no known product, and may " +
  "be one of them"

/** @since 0.1.0 @category printing */
export const damageOf = ({ catalogue, dropped, zeroed }: Damage): string =>
  `${zeroed + dropped} of ${catalogue} products out of sale (${zeroed} with stock 0, ${dropped} no longer named)`

/** @since 0.1.0 @category printing */
export const stepJson = ({ from, productId, reason, to }: Step) => ({ productId, from: from ?? null, to, reason })

/** @since 0.1.0 @category printing */
export const entryJson = (entry: Entry) => ({
  productId: entry.productId,
  state: entry.state,
  wanted: entry.wanted,
  confirmed: entry.confirmed ?? null,
  confirmedAt: entry.confirmedAt === undefined ? null : new Date(entry.confirmedAt).toISOString(),
  sent: entry.sent ?? null,
  attempts: entry.attempts,
  line: entry.line,
  refusal: entry.refusal === undefined ? null : { ...entry.refusal, code: entry.refusal.code ?? null }
})

/**
 * A number with its noun: "1 product", "2 products".
 *
 * @since 0.1.0
 * @category printing
 */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`
