/** A failure of every kind that a call may end in. */
import { Failures } from "@plaza/client"
import { byCode, categoryOf, Cursor, type ErrorCode, fromCode, UnrecognizedError } from "@plaza/domain"
import { DateTime, Duration } from "effect"

const message = "no"

export const codes = Object.keys(byCode) as ReadonlyArray<ErrorCode>

/** An error of the service by its code. */
export const refusal = (code: ErrorCode) => fromCode(code, { message })

/** An error of the service that the document does not describe. */
export const unrecognized = (status: number, code?: string) =>
  new UnrecognizedError({ status, category: categoryOf(status), message, ...(code === undefined ? {} : { code }) })

export const limited = (seconds?: number): Failures.Failure =>
  fromCode("RATE_LIMITED", { message, ...(seconds === undefined ? {} : { retryAfter: Duration.seconds(seconds) }) })

export const waitExceeded = (millis: number) => new Failures.RateLimitWaitExceeded({ retryAt: DateTime.unsafeMake(millis), message })

export const unknown = (cause: Failures.Failure | Failures.Inconclusive) =>
  new Failures.OutcomeUnknown({ attempts: 1, operation: "setStock", message, cause })

const attempts = 1
const operation = "setStock"

/** Failures that the service did not answer with, by their tags. */
export const local = {
  InvalidInput: new Failures.InvalidInput({ field: "id", message }),
  ConnectionFailed: new Failures.ConnectionFailed({ attempts, reason: "ECONNREFUSED", message }),
  ConnectionLost: new Failures.ConnectionLost({ attempts, reason: "ECONNRESET", message }),
  AttemptTimeout: new Failures.AttemptTimeout({ attempts, timeout: Duration.seconds(30), message }),
  UnreadableSuccess: new Failures.UnreadableSuccess({ attempts, operation, status: 200, message, body: "<html>" }),
  RateLimitWaitExceeded: waitExceeded(0),
  ClientClosed: new Failures.ClientClosed({ message }),
  CursorRepeated: new Failures.CursorRepeated({ operation, message }),
  CursorRejected: new Failures.CursorRejected({ operation, message, cause: fromCode("NOT_FOUND", { message }) }),
  UnreadableItem: new Failures.UnreadableItem({ operation, page: 1, position: 1, cursor: undefined, nextCursor: Cursor.make("c"), message })
}

export const inconclusive = new Failures.Inconclusive({ message })
