/**
 * Errors of the programs beside those of the client: wrong usage, and a failure with added context. `Report` renders
 * them.
 */
import * as Data from "effect/Data"
import type { ExitCode } from "./ExitCode.js"

/** An invalid argument, option, variable or file. Nothing was done. */
export class UsageError extends Data.TaggedError("UsageError")<{
  /** One sentence that names what to change. */
  readonly message: string
}> {
  readonly exitCode: ExitCode = 2
}

/** A failure with added context: what had already happened, and what to do now. It keeps the tag and the exit code of its cause. */
export class Explained extends Data.TaggedError("Explained")<{
  readonly cause: unknown
  /** A sentence in addition to the cause's. */
  readonly advice: string
  /** Fields for programs, in addition to the cause's. */
  readonly details?: Readonly<Record<string, unknown>>
}> {
  override get message(): string {
    return this.advice
  }
}
