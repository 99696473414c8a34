/** Errors of the programs themselves. `Report` renders them, `ExitCode` gives them an exit code. */
import * as Data from "effect/Data"

/** An invalid argument, option, variable or file. The command did nothing. */
export class UsageError extends Data.TaggedError("UsageError")<{
  /** One sentence that names what to change. */
  readonly message: string
}> {}

/** A failure with added context: what happened before it, and what to do now. It keeps the tag and the exit code of its cause. */
export class Explained extends Data.TaggedError("Explained")<{
  readonly cause: unknown
  /** A sentence that precedes the remediation of the cause. */
  readonly explanation: string
  /** JSON fields in addition to those of the cause. */
  readonly details?: Readonly<Record<string, unknown>>
}> {
  override get message(): string {
    return this.explanation
  }
}
