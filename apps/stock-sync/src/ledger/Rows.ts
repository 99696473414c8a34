/** The rows of the ledger's tables, and how they are decoded. */
import { ProductId } from "@plaza/domain/Ids"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Transformation from "effect/SchemaTransformation"
import { type Entry, type Refusal, states } from "./Entry.ts"
import type { HistoryEntry } from "./Ledger.ts"
import type { HeldSnapshot } from "./Snapshot.ts"
import * as DropGuard from "./snapshot/DropGuard.ts"
import * as StockPriority from "./StockPriority.ts"

type Rows<E, R> = Effect.Effect<ReadonlyArray<unknown>, E, R>

/** Decodes every row of a statement. */
export const all = <A>(row: Schema.Decoder<A>) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(row))
  return <E, R>(statement: Rows<E, R>): Effect.Effect<ReadonlyArray<A>, E | Schema.SchemaError, R> =>
    Effect.flatMap(statement, (rows) => decode(rows))
}

/** Decodes the first row of a statement, if there is one. */
export const first = <A>(row: Schema.Decoder<A>) => {
  const decode = Schema.decodeUnknownEffect(row)
  return <E, R>(statement: Rows<E, R>): Effect.Effect<Option.Option<A>, E | Schema.SchemaError, R> =>
    Effect.flatMap(statement, ([found]) => found === undefined ? Effect.succeedNone : Effect.asSome(decode(found)))
}

/** Decodes the row of a statement that has one whatever the tables hold. */
export const only = <A>(row: Schema.Decoder<A>) => {
  const decode = Schema.decodeUnknownEffect(row)
  return <E, R>(statement: Rows<E, R>): Effect.Effect<A, E | Schema.SchemaError, R> => Effect.flatMap(statement, ([found]) => decode(found))
}

export const Instant = Schema.DateTimeUtcFromMillis

/** Stored as the position in the order of priorities. */
export const Priority = Schema.Literals([0, 1, 2, 3, 4, 5]).pipe(
  Schema.decodeTo(
    Schema.Literals(StockPriority.priorities),
    Transformation.transform({
      decode: (index) => StockPriority.priorities[index],
      // True because a priority is one of them.
      encode: (priority) => StockPriority.indexOf(priority) as 0 | 1 | 2 | 3 | 4 | 5
    })
  )
)

export const EntryState = Schema.Literals(states)
export const Kind = Schema.Literals(DropGuard.kinds)

/** SQLite has no booleans. */
export const Truth = Schema.Union([Schema.Boolean, Schema.Int])

const optionalInt = Schema.NullOr(Schema.Int)
const optionalText = Schema.NullOr(Schema.String)
const optionalInstant = Schema.NullOr(Instant)

export const RefusalColumns = Schema.Struct({
  refusal_tag: optionalText,
  refusal_code: optionalText,
  refusal_message: optionalText,
  refused_stock: optionalInt
})

export const toRefusal = (row: typeof RefusalColumns.Type): Refusal | undefined =>
  row.refusal_tag === null || row.refused_stock === null ? undefined : {
    tag: row.refusal_tag,
    code: row.refusal_code ?? undefined,
    message: row.refusal_message ?? "",
    value: row.refused_stock
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
  // A key of a page, like `queued_at`.
  due_at: optionalInt,
  queued_at: Schema.Int,
  line: Schema.Int,
  updated_at: Instant,
  priority: Schema.NullOr(Priority)
})

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
  dueAt: row.due_at === null ? undefined : DateTime.makeUnsafe(row.due_at),
  refusal: toRefusal(row),
  line: row.line,
  updatedAt: row.updated_at
})

export const FiguresRow = Schema.Struct({
  catalogue: Schema.Int,
  soldOut: Schema.Int,
  fell: Schema.Int,
  rose: Schema.Int,
  missing: Schema.Int,
  zeroed: Schema.Int,
  reverted: Schema.Int
})
export const Figures = Schema.fromJsonString(FiguresRow)

export const SnapshotRow = Schema.Struct({
  taken_at: optionalInstant,
  row_count: optionalInt,
  unit: Schema.NullOr(Schema.Literals(["line", "item", "row"])),
  last_number: Schema.Int,
  held_since: optionalInstant,
  held_at: optionalInstant,
  confirmed_number: optionalInt,
  held_figures: Schema.NullOr(Figures),
  reverted_to: optionalInt,
  reverted_at: optionalInstant
})

export const toHeld = (row: typeof SnapshotRow.Type): Option.Option<HeldSnapshot> =>
  row.held_since === null || row.held_at === null || row.held_figures === null ? Option.none() : Option.some({
    number: row.last_number,
    since: row.held_since,
    at: row.held_at,
    confirmed: row.confirmed_number === row.last_number,
    figures: row.held_figures
  })

export const HistoryRow = Schema.Struct({
  n: Schema.Int,
  product_id: Schema.String,
  value: Schema.Int,
  priority: Priority,
  waiting_since: Instant,
  sent_at: Instant,
  ended_at: Instant,
  outcome: Schema.Literals(["confirmed", "doubtful", "pending", "uncertain", "quarantined"]),
  code: optionalText,
  message: optionalText
})

export const toHistoryEntry = (row: typeof HistoryRow.Type): HistoryEntry => ({
  productId: row.product_id,
  value: row.value,
  reason: row.priority,
  since: row.waiting_since,
  sentAt: row.sent_at,
  endedAt: row.ended_at,
  outcome: row.outcome,
  code: row.code ?? undefined,
  message: row.message ?? undefined
})
