/**
 * Maps every cause of a failure to an error of the document: an unknown route, a parameter or body that can't be decoded, a
 * refusal, and every defect.
 *
 * A defect, which a caller sees only as 500, is logged as one event:
 *
 * | event | when |
 * |---|---|
 * | `sandbox.storage_failed` | SQLite or the file system failed; `code` is their error code, such as `SQLITE_FULL` or `ENOSPC` |
 * | `sandbox.failed` | anything else, which is a bug of the sandbox; `code` is `none` |
 */
import type { DocumentedError } from "@plaza/domain/Errors"
import * as Errors from "@plaza/domain/Errors"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { HttpApiSchemaError } from "effect/http-api/HttpApiError"
import * as Predicate from "effect/Predicate"
import { resultCode } from "../storage/Database.ts"
import { invalidInput } from "../Validation.ts"

/**
 * - `routing`: a parameter or the body doesn't match its schema.
 * - `refusal`: admission or a handler refused the request.
 * - `defect`: a bug or a storage failure of the sandbox. The caller sees no details of it.
 */
export interface Failure {
  readonly by: "routing" | "refusal" | "defect"
  readonly error: DocumentedError
}

const isDocumented = (error: unknown): error is DocumentedError =>
  Predicate.hasProperty(error, "code") && Object.values(Errors.byCode).some((known) => error instanceof known)

/** A result that doesn't match its schema is a defect. */
const isInvalidInput = (error: unknown): error is HttpApiSchemaError =>
  HttpApiSchemaError.is(error) && error.kind !== "Body" && error.kind !== "ResponseHeaders"

/** Errors of SQLite and of the file system have a code, or their cause has. */
const codeOf = (defect: unknown): string | undefined =>
  typeof defect !== "object" || defect === null
    ? undefined
    : "code" in defect && typeof defect.code === "string"
    ? resultCode(defect) ?? defect.code
    : "cause" in defect
    ? codeOf(defect.cause)
    : undefined

/** Logs a failure with the operation as a field. */
export const logDefect = (operation: string, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const [code] = cause.reasons.flatMap((reason) => Cause.isDieReason(reason) ? codeOf(reason.defect) ?? [] : [])
  return Effect.logError(code === undefined ? "sandbox.failed" : "sandbox.storage_failed", cause).pipe(
    Effect.annotateLogs({ operation, code: code ?? "none" })
  )
}

/** Logs a defect with its operation, and returns the error for the caller. */
export const fromDefect = (cause: Cause.Cause<unknown>, operation: string): Effect.Effect<Errors.InternalError> =>
  Effect.as(
    logDefect(operation, cause),
    new Errors.InternalError({ message: "the service failed; the request may or may not have taken effect" })
  )

/** The failure of a cause. A defect is logged with its operation. An interruption stays one. */
export const fromCause = (cause: Cause.Cause<unknown>, operation: string): Effect.Effect<Failure> => {
  if (Cause.hasInterruptsOnly(cause)) {
    return Effect.interrupt
  }
  const [failure] = cause.reasons.flatMap((reason) => Cause.isFailReason(reason) ? [reason.error] : [])
  if (!Cause.hasDies(cause)) {
    if (isInvalidInput(failure)) {
      return Effect.succeed({ by: "routing", error: invalidInput(failure.cause) })
    }
    if (isDocumented(failure)) {
      return Effect.succeed({ by: "refusal", error: failure })
    }
  }
  return Effect.map(fromDefect(cause, operation), (error) => ({ by: "defect", error }))
}
