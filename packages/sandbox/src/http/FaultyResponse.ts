/**
 * What a fault makes of an answer. Pure; knows nothing of when or how often.
 *
 * @since 0.1.0
 */
import type { ErrorCode } from "@plaza/domain/Errors"
import * as Duration from "effect/Duration"
import type { Answer } from "./Envelope.js"
import * as Envelope from "./Envelope.js"
import type { Outcome as Fault } from "./Fault.js"
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
  /** The head, then the body in pieces, evenly over so many milliseconds. */
  | { readonly _tag: "Slow"; readonly answer: Answer; readonly millis: number }
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

/**
 * What a response is made into before it leaves; `isByHand` when its body is the fault's own.
 *
 * @since 0.1.0
 * @category models
 */
export type Finish = (answer: Answer, isByHand: boolean) => Answer

const asItIs: Finish = (answer) => answer

const replacement = (status: number, fault: Extract<Fault, { kind: "status" | "cut" | "slow" }>, finish: Finish): Answer => {
  const made = fault.body !== undefined
    ? Envelope.raw(status, fault.body, fault.contentType ?? "text/html; charset=utf-8")
    : status < 400
    ? Envelope.json(status, {})
    : Envelope.json(status, {
      error: { code: fault.code ?? codeOf(status), message: fault.message ?? "this answer was asked for by a fault" }
    })
  const answer = finish(made, fault.body !== undefined)
  const located = fault.location === undefined ? answer : Envelope.withHeader(answer, "location", fault.location)
  return fault.retryAfter === undefined ? located : Envelope.withHeader(located, "retry-after", fault.retryAfter)
}

type InPart = Extract<Fault, { kind: "cut" | "slow" }>

const isOwn = ({ body, status }: InPart): boolean => status === undefined && body === undefined

/** The service's own answer, unless another one was asked for. */
const chosen = (fault: InPart, own: Answer, finish: Finish): Answer =>
  isOwn(fault) ? own : replacement(fault.status ?? 200, fault, finish)

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
  own: Answer | undefined,
  finish: Finish = asItIs
): { readonly sent: Sent; readonly delivered: Delivered } => {
  const unharmed = own ?? Envelope.json(200, {})
  switch (fault?.kind) {
    case undefined:
      return { sent: { _tag: "Answer", answer: unharmed }, delivered: "answered" }
    case "drop":
      return { sent: { _tag: "Drop" }, delivered: "dropped" }
    case "status":
      return { sent: { _tag: "Answer", answer: replacement(fault.status, fault, finish) }, delivered: "replaced" }
    case "garbage":
      return {
        sent: { _tag: "Answer", answer: Envelope.raw(200, fault.body, fault.contentType ?? "application/json") },
        delivered: "replaced"
      }
    case "cut":
      return { sent: { _tag: "Cut", answer: withBody(chosen(fault, unharmed, finish)) }, delivered: "cut" }
    case "slow":
      return {
        sent: { _tag: "Slow", answer: chosen(fault, unharmed, finish), millis: fault.millis },
        delivered: isOwn(fault) ? "answered" : "replaced"
      }
  }
}

const utf8 = new TextEncoder()

/**
 * What arrives of a body that is cut.
 *
 * @since 0.1.0
 * @category combinators
 */
export const half = (body: string): Uint8Array => {
  const bytes = utf8.encode(body)
  return bytes.subarray(0, Math.floor(bytes.length / 2))
}

const pieces = 10

/**
 * A slow body as it is sent: the pieces, and how long to wait before each.
 *
 * @since 0.1.0
 * @category combinators
 */
export const trickle = (body: string, millis: number): ReadonlyArray<{ readonly piece: Uint8Array; readonly after: Duration.Duration }> => {
  const bytes = utf8.encode(body)
  const size = Math.max(1, Math.ceil(bytes.length / pieces))
  const count = Math.ceil(bytes.length / size)
  // Rounded up, for clocks that take whole milliseconds only.
  const after = Duration.millis(Math.ceil(millis / count))
  return Array.from({ length: count }, (_, index) => ({ piece: bytes.subarray(index * size, (index + 1) * size), after }))
}
