/**
 * What an inventory system tells: a stream of rows, each naming a product and its stock, or saying why it can't be used, and word of
 * when to look again. Knows nothing of files and formats (see the folder of the same name) nor of what is done with the rows.
 *
 * @since 0.1.0
 */
import type { SourceRefused } from "@plaza/rows/Refused"
import type { Row } from "@plaza/rows/Stock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"

/**
 * The source didn't answer, or not to its end. Nothing of it is taken, and nothing has to be changed: it may answer later.
 *
 * @since 0.1.0
 * @category errors
 */
export class SourceUnreachable extends Data.TaggedError("SourceUnreachable")<{
  readonly source: string
  readonly message: string
}> {
  readonly exitCode = 7
}

/** @since 0.1.0 @category errors */
export type SourceFailure = SourceRefused | SourceUnreachable

/**
 * What the source told at one moment.
 *
 * @since 0.1.0
 * @category models
 */
export interface Snapshot {
  /** Names the state of the source; equal ones mean equal rows. None where the source has no such mark. Good within one process. */
  readonly version: Option.Option<string>
  /** Read once. If it fails, no row of it counts. */
  readonly rows: Stream.Stream<Row, SourceFailure>
}

/** @since 0.1.0 @category services */
export class Source extends Context.Tag("@plaza/stock-sync/Source")<Source, {
  /** What it is called in messages: nothing secret. */
  readonly name: string
  /**
   * What it tells now. None if it still is in the version of the last snapshot that was taken; without one it always answers.
   * The rows are there until the scope ends.
   */
  readonly open: (taken: Option.Option<string>) => Effect.Effect<Option.Option<Snapshot>, SourceFailure, Scope.Scope>
  /**
   * Says that it is worth opening again. May say so when nothing has changed, which `open` then tells; ends where nothing more can
   * come. Says nothing of the first look, which is due at once.
   */
  readonly changes: Stream.Stream<void>
}>() {}
