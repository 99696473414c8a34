/**
 * The error of a sandbox that can't start.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * The sandbox can't start. The message is one sentence that says what to change.
 *
 * @since 0.1.0
 * @category errors
 */
export class SandboxError extends Data.TaggedError("SandboxError")<{
  readonly message: string
  readonly cause?: unknown
}> {}
