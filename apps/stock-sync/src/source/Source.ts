/**
 * The `Source` service provides stock values. A source opens snapshots of rows and emits when to open the next one.
 */
import type { SourceError } from "@plaza/tabular/SourceError"
import type { Row } from "@plaza/tabular/Stock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Adjustments, Kits, UnusedRule } from "./rules/ProductRules.ts"

/**
 * The source can't be read now, or not to its end, or is not finished yet. None of its rows are accepted. A later attempt may succeed
 * without a change of settings.
 */
export class SourceUnreachable extends Data.TaggedError("SourceUnreachable")<{
  readonly source: string
  readonly message: string
  /** When to retry, if known: the end of a `Retry-After`, or of the wait for an unfinished file. */
  readonly retryAt?: DateTime.Utc | undefined
  /** The source is a file that was just written and may be written again. This is no failure: it is to be read at `retryAt`. */
  readonly isSettling?: true | undefined
  /** The source is a file whose writer may not have finished, or a marker of it is missing. A read of it may wait for that until `retryAt`. */
  readonly isUnfinished?: true | undefined
}> {}

const withoutRows = (source: string, reason: string) => ({ source, message: `${source}: ${reason}; no row of it was used` })

export const unreachable = (source: string, reason: string, retryAt?: DateTime.Utc): SourceUnreachable =>
  new SourceUnreachable({ ...withoutRows(source, reason), retryAt })

export const unfinished = (source: string, reason: string, retryAt: DateTime.Utc): SourceUnreachable =>
  new SourceUnreachable({ ...withoutRows(source, reason), retryAt, isUnfinished: true })

export type SourceFailure = SourceError | SourceUnreachable

export const isSettling = (failure: SourceFailure): failure is SourceUnreachable & { readonly retryAt: DateTime.Utc } =>
  failure._tag === "SourceUnreachable" && failure.isSettling === true && failure.retryAt !== undefined

/**
 * The unit of row numbers: lines of CSV and NDJSON (from 1, with the header), items of a JSON array, rows of a workbook (as Excel
 * numbers them) or of a query.
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
  /** Products whose stock is what that of others allows, by their ids at the service. A row of such a product does not count. */
  readonly kits?: Kits
  /** The rules that match no row. Known once the rows are read. */
  readonly unusedRules?: () => ReadonlyArray<UnusedRule>
  /** Can be read once. If the stream fails, none of its rows count. */
  readonly rows: Stream.Stream<Row, SourceFailure>
}

export class Source extends Context.Service<Source, {
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
}>()("@plaza/stock-sync/source/Source") {}

/**
 * The same stream, which fails if it emits nothing for `longest`. Setting the clock of the machine does not end it, as it does with
 * `Stream.timeoutOrElse`.
 */
export const failIfSilent = (name: string, longest: Duration.Duration) => <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Stream.transformPull(stream, (pull) =>
    Effect.succeed(Effect.timeoutOrElse(pull, { duration: longest, orElse: () => Effect.fail(silent(name, longest)) })))

export const silent = (name: string, longest: Duration.Duration): SourceUnreachable =>
  unreachable(name, `no response for ${Duration.format(longest)}`)

/** The changes of a source that sends no notifications. */
export const polled = (interval: Duration.Duration): Stream.Stream<void> =>
  Stream.as(Stream.fromSchedule(Schedule.spaced(interval)), undefined)

/** The source with other rows in its snapshots. */
export const mapRows = (source: Source["Service"], f: (rows: Snapshot["rows"]) => Snapshot["rows"]): Source["Service"] => ({
  ...source,
  open: (accepted) => Effect.map(source.open(accepted), Option.map((snapshot) => ({ ...snapshot, rows: f(snapshot.rows) })))
})
