/** The failure of a source as a whole. */
import * as Schema from "effect/Schema"

/** The source as a whole can't be read or trusted. None of its rows is used. */
export class SourceError extends Schema.TaggedError<SourceError>()("SourceError", {
  /** A path, an address without secrets, or "stdin". */
  source: Schema.String,
  /** The line where reading stopped, if the source has lines. */
  line: Schema.UndefinedOr(Schema.Number),
  message: Schema.String
}) {}

/** The content of the source is invalid. `unit` is that of the line: a sheet has rows. */
export const content = (source: string, reason: string, line?: number, unit: "line" | "row" = "line"): SourceError =>
  new SourceError({ source, line, message: `${source}${line === undefined ? "" : `, ${unit} ${line}`}: ${reason}; no row of it was used` })
