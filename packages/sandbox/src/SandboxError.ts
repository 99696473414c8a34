/**
 * The error of a sandbox that can't start.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The sandbox can't start. The message is one sentence that says what to change.
 *
 * @since 0.1.0
 * @category errors
 */
export class SandboxError extends Schema.TaggedError<SandboxError>()("SandboxError", {
  message: Schema.String,
  cause: Schema.optional(Schema.Defect())
}) {}
