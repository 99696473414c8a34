/** Errors of the programs themselves. `Report` renders them, `ExitCode` gives them an exit code. */
import * as Schema from "effect/Schema"

/** An invalid argument, option, variable or file. The command did nothing. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", {
  /** One sentence that names what to change. */
  message: Schema.String
}) {}

/** A failure with added context: what happened before it, and what to do now. It keeps the tag and the exit code of its cause. */
export class Explained extends Schema.TaggedError<Explained>()("Explained", {
  cause: Schema.Unknown,
  /** A sentence that precedes the remediation of the cause. */
  explanation: Schema.String,
  /** JSON fields in addition to those of the cause. */
  details: Schema.optional(Schema.Record(Schema.String, Schema.Unknown))
}) {
  override get message(): string {
    return this.explanation
  }
}
