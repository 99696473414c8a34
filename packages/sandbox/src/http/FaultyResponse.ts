/**
 * What a fault makes of a response.
 *
 * @since 0.1.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type { ErrorCode } from "@plaza/domain/Errors"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Envelope from "./Envelope.js"
import type { Outcome as Fault } from "./Fault.js"
import type { Delivered } from "./RequestLog.js"

type Response = HttpServerResponse.HttpServerResponse

/**
 * The connection is closed instead of a response, or amid one.
 *
 * @since 0.1.0
 * @category errors
 */
export class ConnectionReset extends Data.TaggedError("ConnectionReset")<{ readonly message: string }> {}

/**
 * What becomes of a request: a response, whose body may end too early or come slowly, or nothing.
 *
 * @since 0.1.0
 * @category models
 */
export interface Outcome {
  readonly response: Effect.Effect<Response, ConnectionReset>
  readonly delivered: Delivered
}

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
 * The last change to a response; `hasOwnBody` when its body comes from the fault.
 */
type Finish = (response: Response, hasOwnBody: boolean) => Response

const asItIs: Finish = (response) => response

const replacement = (status: number, fault: Extract<Fault, { kind: "status" | "cut" | "slow" }>, finish: Finish): Response => {
  const made = fault.body !== undefined
    ? Envelope.raw(status, fault.body, fault.contentType ?? "text/html; charset=utf-8")
    : status < 400
    ? Envelope.json(status, {})
    : Envelope.json(status, {
      error: { code: fault.code ?? codeOf(status), message: fault.message ?? "this response was asked for by a fault" }
    })
  const response = finish(made, fault.body !== undefined)
  const located = fault.location === undefined ? response : Envelope.withHeader(response, "location", fault.location)
  return fault.retryAfter === undefined ? located : Envelope.withHeader(located, "retry-after", fault.retryAfter)
}

type InPart = Extract<Fault, { kind: "cut" | "slow" }>

const isOwn = ({ body, status }: InPart): boolean => status === undefined && body === undefined

/** The service's own response, where the fault has no other. */
const chosen = (fault: InPart, own: Response, finish: Finish): Response =>
  isOwn(fault) ? own : replacement(fault.status ?? 200, fault, finish)

/** Gives a response without a body one: a cut through an empty body could not be seen. */
const withBody = (response: Response): Response => Envelope.bytesOf(response).length > 0 ? response : Envelope.json(200, {})

/** The same head, its length included, with the body as a stream. */
const streamed = (response: Response, body: Stream.Stream<Uint8Array, ConnectionReset>): Response =>
  HttpServerResponse.setBody(
    response,
    HttpBody.stream(body, response.headers["content-type"], Envelope.bytesOf(response).length)
  )

const cut = (response: Response): Response => {
  const bytes = Envelope.bytesOf(response)
  return streamed(response, Stream.concat(
    Stream.make(bytes.subarray(0, Math.floor(bytes.length / 2))),
    new ConnectionReset({ message: "the connection was closed amid the body" })
  ))
}

const pieces = 10

/** Evenly over so many milliseconds, by the caller's clock. */
const slow = (response: Response, millis: number): Response => {
  const bytes = Envelope.bytesOf(response)
  const size = Math.max(1, Math.ceil(bytes.length / pieces))
  const count = Math.ceil(bytes.length / size)
  // Rounded up, for clocks that take whole milliseconds only.
  const after = Duration.millis(Math.ceil(millis / count))
  return count === 0 ? response : streamed(response, Stream.mapEffect(
    Stream.range(0, count - 1),
    (index) => Effect.as(Effect.sleep(after), bytes.subarray(index * size, (index + 1) * size))
  ))
}

/**
 * The response that leaves, by the service's own (undefined when the request never reached it) and the fault that hits it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const apply = (fault: Fault | undefined, own: Response | undefined, finish: Finish = asItIs): Outcome => {
  const unharmed = own ?? Envelope.json(200, {})
  switch (fault?.kind) {
    case undefined:
      return { response: Effect.succeed(unharmed), delivered: "answered" }
    case "drop":
      return {
        response: Effect.fail(new ConnectionReset({ message: "the connection was closed before a response" })),
        delivered: "dropped"
      }
    case "status":
      return { response: Effect.succeed(replacement(fault.status, fault, finish)), delivered: "replaced" }
    case "garbage":
      return { response: Effect.succeed(Envelope.raw(200, fault.body, fault.contentType ?? "application/json")), delivered: "replaced" }
    case "cut":
      return { response: Effect.succeed(cut(withBody(chosen(fault, unharmed, finish)))), delivered: "cut" }
    case "slow":
      return {
        response: Effect.succeed(slow(chosen(fault, unharmed, finish), fault.millis)),
        delivered: isOwn(fault) ? "answered" : "replaced"
      }
  }
}
