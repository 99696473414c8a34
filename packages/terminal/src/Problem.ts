/**
 * Failures of our own programs, beside those of the client: what a program is told wrongly, and what is to be added to a
 * failure that came from below. Knows nothing of how they are shown; that is `Report`.
 */
import type { ClientError } from "@plaza/client"
import * as Data from "effect/Data"

/** Told wrongly, by an argument, an option, a variable or a file: nothing was done. */
export class UsageError extends Data.TaggedError("UsageError")<{
  /** One sentence that names what to change. */
  readonly message: string
}> {
  readonly exitCode: ClientError.ExitCode = 2
}

/**
 * A failure with what the program knows beyond it: what had already happened, and what to do now. It keeps the tag and the
 * exit code of its cause.
 */
export class Explained extends Data.TaggedError("Explained")<{
  readonly cause: unknown
  /** A sentence beside the one of the cause. */
  readonly advice: string
  /** Facts for programs, beside those of the cause. */
  readonly details?: Readonly<Record<string, unknown>>
}> {
  override get message(): string {
    return this.advice
  }
}
