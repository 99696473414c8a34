/**
 * Logs what went wrong on the sandbox's own side, which a caller sees as 500 only: one event for each failure, for whoever
 * runs the sandbox.
 *
 * | event | when |
 * |---|---|
 * | `sandbox.storage_failed` | SQLite or the file system failed; `code` is theirs, such as `SQLITE_FULL` or `ENOSPC` |
 * | `sandbox.failed` | anything else, which is a bug of the sandbox; `code` is `none` |
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"

/** SQLite and the file system give their errors a code. */
const codeOf = (defect: unknown): string | undefined =>
  typeof defect === "object" && defect !== null && "code" in defect && typeof defect.code === "string" ? defect.code : undefined

/**
 * Logs a failure, with the operation that met it as a field.
 *
 * @since 0.1.0
 * @category logging
 */
export const log = (operation: string, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const [code] = Chunk.toReadonlyArray(Cause.defects(cause)).flatMap((defect) => codeOf(defect) ?? [])
  return Effect.logError(code === undefined ? "sandbox.failed" : "sandbox.storage_failed", cause).pipe(
    Effect.annotateLogs({ operation, code: code ?? "none" })
  )
}
