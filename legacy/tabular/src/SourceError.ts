/** The failure of a source as a whole. */
import * as Data from "effect/Data"

/** The source as a whole can't be read or trusted. None of its rows is used. */
export class SourceError extends Data.TaggedError("SourceError")<{
  /** A path, an address without secrets, or "stdin". */
  readonly source: string
  /** The line where reading stopped, if the source has lines. */
  readonly line: number | undefined
  readonly message: string
}> {}

/** The content of the source is invalid. */
export const content = (source: string, reason: string, line?: number): SourceError =>
  new SourceError({ source, line, message: `${source}${line === undefined ? "" : `, line ${line}`}: ${reason}; no row of it was used` })
