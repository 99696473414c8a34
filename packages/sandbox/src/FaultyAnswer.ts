/**
 * What a fault makes of an answer. Pure; knows nothing of when or how often.
 *
 * @since 0.1.0
 */
import type { ErrorCode } from "@plaza/domain/Errors"
import type { Answer } from "./Envelope.js"
import * as Envelope from "./Envelope.js"
import type { Outcome as Fault } from "./Faults.js"
import type { Delivered } from "./RequestLog.js"

/**
 * What becomes of a request.
 *
 * @since 0.1.0
 * @category models
 */
export type Sent =
  | { readonly _tag: "Answer"; readonly answer: Answer }
  /** The head and the first half of the body, then the connection closes. The body is never empty. */
  | { readonly _tag: "Cut"; readonly answer: Answer }
  /** The connection closes. */
  | { readonly _tag: "Drop" }

const codes: Readonly<Record<number, ErrorCode>> = {
  401: "INVALID_API_KEY",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "CONFLICT",
  413: "PAYLOAD_TOO_LARGE",
  429: "RATE_LIMITED"
}

/** The documented code of a status, or of its kind where the document gives the status none. */
const codeOf = (status: number): ErrorCode => codes[status] ?? (status >= 500 ? "INTERNAL_ERROR" : "VALIDATION_ERROR")

const replacement = (status: number, fault: Extract<Fault, { kind: "status" | "cut" }>): Answer => {
  const answer = fault.body !== undefined
    ? Envelope.raw(status, fault.body, fault.contentType ?? "text/html; charset=utf-8")
    : status < 400
    ? Envelope.json(status, {})
    : Envelope.json(status, {
      error: { code: fault.code ?? codeOf(status), message: fault.message ?? "this answer was asked for by a fault" }
    })
  return fault.retryAfter === undefined ? answer : Envelope.withHeader(answer, "retry-after", fault.retryAfter)
}

/** Half of nothing can't be told from the whole, so an answer without a body is given one. */
const withBody = (answer: Answer): Answer => answer.body.length > 0 ? answer : Envelope.json(200, {})

/**
 * The answer that leaves, by the service's own (undefined when the request never reached it) and the fault that hits it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const apply = (
  fault: Fault | undefined,
  own: Answer | undefined
): { readonly sent: Sent; readonly delivered: Delivered } => {
  const unharmed = own ?? Envelope.json(200, {})
  switch (fault?.kind) {
    case undefined:
      return { sent: { _tag: "Answer", answer: unharmed }, delivered: "answered" }
    case "drop":
      return { sent: { _tag: "Drop" }, delivered: "dropped" }
    case "status":
      return { sent: { _tag: "Answer", answer: replacement(fault.status, fault) }, delivered: "replaced" }
    case "garbage":
      return {
        sent: { _tag: "Answer", answer: Envelope.raw(200, fault.body, fault.contentType ?? "application/json") },
        delivered: "replaced"
      }
    case "cut": {
      const isOwn = fault.status === undefined && fault.body === undefined
      return {
        sent: { _tag: "Cut", answer: withBody(isOwn ? unharmed : replacement(fault.status ?? 200, fault)) },
        delivered: "cut"
      }
    }
  }
}
