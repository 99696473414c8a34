/**
 * Logs the sandbox's own failures, which a caller sees only as 500: one event for each failure.
 *
 * | event | when |
 * |---|---|
 * | `sandbox.storage_failed` | SQLite or the file system failed; `code` is their error code, such as `SQLITE_FULL` or `ENOSPC` |
 * | `sandbox.failed` | anything else, which is a bug of the sandbox; `code` is `none` |
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import { resultCode } from "../storage/Sqlite.ts"

/** Errors of SQLite and of the file system have a code. */
const codeOf = (defect: unknown): string | undefined =>
  typeof defect === "object" && defect !== null && "code" in defect && typeof defect.code === "string"
    ? resultCode(defect) ?? defect.code
    : undefined

/**
 * Logs a failure with the operation as a field.
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
