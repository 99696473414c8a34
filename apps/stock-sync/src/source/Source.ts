/**
 * The `Source` service: where stock values come from. A source opens snapshots of rows and reports when to open the next one.
 */
import type { SourceError } from "@plaza/tabular/SourceError"
import type { Row } from "@plaza/tabular/Stock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"

/**
 * The source can't be read now, or not to its end, or is not finished yet. Nothing of it is taken. No setting has to change: a later
 * attempt may succeed.
 */
export class SourceUnreachable extends Data.TaggedError("SourceUnreachable")<{
  readonly source: string
  readonly message: string
  /** When another attempt is worth it, where that is known: the end of a `Retry-After`, or of the wait for an unfinished file. */
  readonly retryAt?: DateTime.Utc | undefined
}> {}

export type SourceFailure = SourceError | SourceUnreachable

/**
 * What the number of a row counts: lines of CSV and NDJSON (from 1, with the header), items of a JSON array, rows of a query.
 */
export type Unit = "line" | "item" | "row"

/** The contents of a source at one moment. */
export interface Snapshot {
  /** Equal versions mean equal rows. None where the source has no version. Valid within one process. */
  readonly version: Option.Option<string>
  /** What `Row.line` counts. */
  readonly unit: Unit
  /**
   * Products that the rules exclude, by their id at the service. No row names them, and they are not missing: whoever compares the
   * snapshot with earlier ones leaves them as they are.
   */
  readonly excluded: ReadonlySet<string>
  /** Can be read once. If it fails, none of its rows count. */
  readonly rows: Stream.Stream<Row, SourceFailure>
}

export class Source extends Context.Tag("@plaza/stock-sync/source/Source")<Source, {
  /** The name for messages; it holds no secrets. */
  readonly name: string
  /**
   * Opens the current snapshot. Returns none if the source is still in the version `taken`. Without a version it always returns a
   * snapshot. The rows can be read until the scope ends.
   */
  readonly open: (taken: Option.Option<string>) => Effect.Effect<Option.Option<Snapshot>, SourceFailure, Scope.Scope>
  /**
   * Emits when the source is worth opening again, even if nothing has changed. Does not emit for the first opening. Ends if the source
   * can't change any more.
   */
  readonly changes: Stream.Stream<void>
}>() {}
