/** The rows of the ledger's tables, and how they are decoded. */
import { StockPriority } from "@plaza-legacy/client"
import { ProductId } from "@plaza-legacy/domain/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as DropGuard from "../sync/DropGuard.ts"
import { type Entry, type Refusal, states, type Waiting } from "./Entry.ts"
import type { HistoryEntry } from "./Ledger.ts"
import type { HeldSnapshot } from "./Snapshot.ts"

/** Decodes every row of a statement. */
export const all = <A, I>(row: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknown(Schema.Array(row))
  return <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>): Effect.Effect<ReadonlyArray<A>, E | ParseError, R> =>
    Effect.flatMap(statement, decode)
}

/** Decodes the first row of a statement, if there is one. */
export const first = <A, I>(row: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknown(row)
  return <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>): Effect.Effect<Option.Option<A>, E | ParseError, R> =>
    Effect.flatMap(statement, ([found]) => found === undefined ? Effect.succeedNone : Effect.asSome(decode(found)))
}

const count = first(Schema.Struct({ n: Schema.NullOr(Schema.Int) }))

/** The column `n` of a statement's only row; 0 for the sum of no rows. */
export const countOf = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>): Effect.Effect<number, E | ParseError, R> =>
  Effect.map(count(statement), Option.match({ onNone: () => 0, onSome: ({ n }) => n ?? 0 }))

export const Instant = Schema.DateTimeUtcFromNumber

/** Stored as the position in the order of priorities. The literal rejects a position outside it. */
export const Priority = Schema.transform(Schema.Int, Schema.Literal(...StockPriority.priorities), {
  strict: false,
  decode: (index) => StockPriority.priorities[index],
  encode: (priority) => StockPriority.priorities.indexOf(priority)
})

export const EntryState = Schema.Literal(...states)
export const Kind = Schema.Literal(...DropGuard.kinds)

const optionalInt = Schema.NullOr(Schema.Int)
const optionalText = Schema.NullOr(Schema.String)
const optionalInstant = Schema.NullOr(Instant)

export const RefusalColumns = Schema.Struct({
  refusal_tag: optionalText,
  refusal_code: optionalText,
  refusal_message: optionalText,
  refused: optionalInt
})

export const toRefusal = (row: typeof RefusalColumns.Type): Refusal | undefined =>
  row.refusal_tag === null || row.refused === null ? undefined : {
    tag: row.refusal_tag,
    code: row.refusal_code ?? undefined,
    message: row.refusal_message ?? "",
    value: row.refused
  }

export const Product = Schema.Struct({
  ...RefusalColumns.fields,
  id: ProductId,
  wanted: Schema.Int,
  confirmed: optionalInt,
  confirmed_at: optionalInstant,
  sent: optionalInt,
  doubt_low: optionalInt,
  doubt_high: optionalInt,
  doubt_until: optionalInstant,
  attempts: Schema.Int,
  state: EntryState,
  // A key of a page, like `since`.
  due_at: optionalInt,
  since: Schema.Int,
  line: Schema.Int,
  updated_at: Instant,
  priority: Schema.NullOr(Priority)
})

const toInstant = Schema.decodeSync(Instant)

export const toEntry = (row: typeof Product.Type): Entry => ({
  productId: row.id,
  wanted: row.wanted,
  confirmed: row.confirmed ?? undefined,
  confirmedAt: row.confirmed_at ?? undefined,
  sent: row.sent ?? undefined,
  doubt: row.doubt_low === null || row.doubt_high === null
    ? undefined
    : { lowest: row.doubt_low, highest: row.doubt_high, until: row.doubt_until ?? undefined },
  attempts: row.attempts,
  state: row.state,
  dueAt: row.due_at === null ? undefined : toInstant(row.due_at),
  refusal: toRefusal(row),
  line: row.line,
  updatedAt: row.updated_at
})

export const isWaiting = (priority: StockPriority.Priority | null): priority is Waiting => priority !== null && priority !== "assertion"

export const SnapshotRow = Schema.Struct({
  taken_at: optionalInstant,
  row_count: optionalInt,
  unit: Schema.NullOr(Schema.Literal("line", "item", "row")),
  held_number: Schema.Int,
  held_since: optionalInstant,
  held_at: optionalInstant,
  confirmed_number: optionalInt,
  catalogue: optionalInt,
  sold_out: optionalInt,
  fell: optionalInt,
  rose: optionalInt,
  missing: optionalInt,
  zeroed: optionalInt
})

export const toHeld = (row: typeof SnapshotRow.Type): Option.Option<HeldSnapshot> =>
  row.held_since === null || row.held_at === null ? Option.none() : Option.some({
    number: row.held_number,
    since: row.held_since,
    at: row.held_at,
    confirmed: row.confirmed_number === row.held_number,
    figures: {
      catalogue: row.catalogue ?? 0,
      soldOut: row.sold_out ?? 0,
      fell: row.fell ?? 0,
      rose: row.rose ?? 0,
      missing: row.missing ?? 0,
      zeroed: row.zeroed ?? 0
    }
  })

export const HistoryRow = Schema.Struct({
  n: Schema.Int,
  product_id: Schema.String,
  value: Schema.Int,
  priority: Priority,
  sent_at: Instant,
  ended_at: Instant,
  outcome: Schema.Literal("confirmed", "doubtful", "pending", "uncertain", "quarantined"),
  code: optionalText,
  message: optionalText
})

export const toHistoryEntry = (row: typeof HistoryRow.Type): HistoryEntry => ({
  productId: row.product_id,
  value: row.value,
  reason: row.priority,
  sentAt: row.sent_at,
  endedAt: row.ended_at,
  outcome: row.outcome,
  code: row.code ?? undefined,
  message: row.message ?? undefined
})
