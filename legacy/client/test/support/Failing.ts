/** One failure of each kind. */
import { ClientError } from "@plaza-legacy/client"
import { categoryOf, Cursor, type ErrorCode, fromCode, UnrecognizedError } from "@plaza-legacy/domain"
import { byCode } from "@plaza-legacy/domain/Errors"
import { DateTime, Duration } from "effect"

const message = "no"

const isCode = (name: string): name is ErrorCode => Object.hasOwn(byCode, name)

/** The documented codes. */
export const codes = Object.keys(byCode).filter(isCode)

/** An error of the service by its code. */
export const refusal = (code: ErrorCode) => fromCode(code, { message })

/** An error of the service that the document does not describe. */
export const unrecognized = (status: number, code?: string) =>
  new UnrecognizedError({ status, category: categoryOf(status), message, ...(code === undefined ? {} : { code }) })

export const limited = (seconds?: number): ClientError.Failure =>
  fromCode("RATE_LIMITED", { message, ...(seconds === undefined ? {} : { retryAfter: Duration.seconds(seconds) }) })

export const waitExceeded = (millis: number) => new ClientError.RateLimitWaitExceeded({ retryAt: DateTime.unsafeMake(millis), message })

export const unknown = (cause: ClientError.Failure | ClientError.Inconclusive) =>
  new ClientError.OutcomeUnknown({ attempts: 1, operation: "setStock", message, cause })

const attempts = 1
const operation = "setStock"

/** ClientError that the service did not answer with, by their tags. */
export const local = {
  InvalidInput: new ClientError.InvalidInput({ field: "id", message }),
  ConnectionFailed: new ClientError.ConnectionFailed({ attempts, reason: "ECONNREFUSED", message }),
  ConnectionLost: new ClientError.ConnectionLost({ attempts, reason: "ECONNRESET", message }),
  AttemptTimeout: new ClientError.AttemptTimeout({ attempts, timeout: Duration.seconds(30), message }),
  UnreadableSuccess: new ClientError.UnreadableSuccess({ attempts, operation, status: 200, message, body: "<html>" }),
  RateLimitWaitExceeded: waitExceeded(0),
  ClientClosed: new ClientError.ClientClosed({ message }),
  CursorRepeated: new ClientError.CursorRepeated({ operation, message }),
  CursorRejected: new ClientError.CursorRejected({ operation, message, cause: fromCode("NOT_FOUND", { message }) }),
  UnreadableItem: new ClientError.UnreadableItem({
    operation,
    page: 1,
    position: 1,
    cursor: undefined,
    nextCursor: Cursor.make("c"),
    message
  })
}

export const inconclusive = new ClientError.Inconclusive({ message })
