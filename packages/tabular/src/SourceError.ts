/** The failure of a source as a whole. */
import * as Data from "effect/Data"

/** The source as a whole can't be trusted or read, so nothing of it is taken. */
export class SourceError extends Data.TaggedError("SourceError")<{
  /** What was read: a path, an address without secrets, or "stdin". */
  readonly source: string
  /** The line where reading ended, where there is one. */
  readonly line: number | undefined
  readonly message: string
}> {
  readonly exitCode = 2
}

/** Nothing of the source is taken, because of its content. */
export const content = (source: string, what: string, line?: number): SourceError =>
  new SourceError({ source, line, message: `${source}${line === undefined ? "" : `, line ${line}`}: ${what}; nothing of it was taken` })
