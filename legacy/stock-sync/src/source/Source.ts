/**
 * The `Source` service provides stock values. A source opens snapshots of rows and emits when to open the next one.
 */
import type { SourceError } from "@plaza-legacy/tabular/SourceError"
import type { Row } from "@plaza-legacy/tabular/Stock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Adjustments } from "./ProductRules.ts"

/**
 * The source can't be read now, or not to its end, or is not finished yet. None of its rows are accepted. A later attempt may succeed
 * without a change of settings.
 */
export class SourceUnreachable extends Data.TaggedError("SourceUnreachable")<{
  readonly source: string
  readonly message: string
  /** When to retry, if known: the end of a `Retry-After`, or of the wait for an unfinished file. */
  readonly retryAt?: DateTime.Utc | undefined
}> {}

export type SourceFailure = SourceError | SourceUnreachable

/**
 * The unit of row numbers: lines of CSV and NDJSON (from 1, with the header), items of a JSON array, rows of a query.
 */
export type Unit = "line" | "item" | "row"

/** The contents of a source at one moment. */
export interface Snapshot {
  /** Equal versions mean equal rows. None if the source has no versions. Valid within one process. */
  readonly version: Option.Option<string>
  /** The unit of `Row.line`. */
  readonly unit: Unit
  /**
   * Products that the rules exclude, by their id at the service. No row names them, and they do not count as missing: the ledger leaves
   * them unchanged.
   */
  readonly excluded: ReadonlySet<string>
  /** How the sum of a product's rows is reduced (default: not at all). */
  readonly adjustments?: Adjustments
  /** Can be read once. If the stream fails, none of its rows count. */
  readonly rows: Stream.Stream<Row, SourceFailure>
}

export class Source extends Context.Tag("@plaza/stock-sync/source/Source")<Source, {
  /** The name in messages, without secrets. */
  readonly name: string
  /**
   * Opens the current snapshot. Returns none if the source still has the version `accepted`, and always a snapshot if that is none. The
   * rows can be read until the scope closes.
   */
  readonly open: (accepted: Option.Option<string>) => Effect.Effect<Option.Option<Snapshot>, SourceFailure, Scope.Scope>
  /**
   * Emits when to open the source again, also if it has not changed. Does not emit for the first open. Ends if the source can't change any
   * more.
   */
  readonly changes: Stream.Stream<void>
}>() {}
