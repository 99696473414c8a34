/**
 * Maps every failure of a route to an error of the document: an unknown route or method, a parameter or body that can't be
 * decoded, a handler's refusal, and every defect.
 *
 * @since 0.1.0
 */
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import { RequestError } from "@effect/platform/HttpServerError"
import type { DocumentedError } from "@plaza-legacy/domain/Errors"
import * as Errors from "@plaza-legacy/domain/Errors"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ArrayFormatterIssue } from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import { distance } from "fastest-levenshtein"
import * as DefectLog from "./DefectLog.ts"
import * as Envelope from "./Envelope.ts"
import { NotHandled } from "./Exchange.ts"
import { Unroutable } from "./Router.ts"

const maxProblemLength = 300

const isDocumented = (error: unknown): error is DocumentedError =>
  Predicate.hasProperty(error, "code") && Object.values(Errors.byCode).some((known) => error instanceof known)

/** What is wrong with a field. The message of an unexpected field lists the known names in quotes. */
const problemOf = ({ _tag, message, path }: ArrayFormatterIssue): string => {
  if (_tag === "Missing") {
    return "is missing"
  }
  if (_tag === "Unexpected") {
    const written = String(path.at(-1))
    const names = Array.from(message.matchAll(/"([^"]+)"/g), ([, name = ""]) => name)
    const similar = names.filter((name) => distance(written.toLowerCase(), name.toLowerCase()) <= 2)
    return `is not a known field: ${similar.length === 0 ? `use one of ${names.join(", ")}` : `did you mean ${similar.join(" or ")}?`}`
  }
  return message.startsWith("must ") ? message : `is invalid: ${message}`
}

const cut = (text: string): string => text.length > maxProblemLength ? `${text.slice(0, maxProblemLength - 1)}…` : text

const invalid = ({ issues: [issue] }: HttpApiDecodeError): Errors.ValidationError =>
  issue === undefined
    ? Envelope.invalidField("body", "is invalid")
    : Envelope.invalidField(issue.path.length === 0 ? "body" : issue.path.map(String).join("."), cut(problemOf(issue)))

/**
 * - `routing`: the route is unknown, or a parameter or the body doesn't match its schema.
 * - `refusal`: admission or a handler refused the request.
 * - `defect`: a bug or a storage failure of the sandbox. The caller sees no details of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure {
  readonly by: "routing" | "refusal" | "defect"
  readonly error: DocumentedError
}

/**
 * Logs a defect with its operation, and returns the error for the caller.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromDefect = (cause: Cause.Cause<unknown>, operation: string): Effect.Effect<Errors.InternalError> =>
  Effect.as(
    DefectLog.log(operation, cause),
    new Errors.InternalError({ message: "the service failed; the request may or may not have taken effect" })
  )

/**
 * The failure of a cause. A defect is logged with its operation. A closed connection and a request that never reached its
 * handler have no response, so they stay failures.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromCause = (
  cause: Cause.Cause<unknown>,
  operation: string
): Effect.Effect<Failure, RequestError | NotHandled> => {
  if (Cause.isInterruptedOnly(cause)) {
    return Effect.interrupt
  }
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (failure instanceof RequestError || failure instanceof NotHandled) {
    return Effect.fail(failure)
  }
  if (failure instanceof Unroutable) {
    return Effect.succeed({ by: "routing", error: failure.error })
  }
  if (failure instanceof HttpApiDecodeError) {
    return Effect.succeed({ by: "routing", error: invalid(failure) })
  }
  return isDocumented(failure) && !Cause.isDie(cause)
    ? Effect.succeed({ by: "refusal", error: failure })
    : Effect.map(fromDefect(cause, operation), (error) => ({ by: "defect", error }))
}
