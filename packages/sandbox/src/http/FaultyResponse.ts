/** Applies a fault to a response. */
import type { ErrorCode } from "@plaza/domain/Errors"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import * as Envelope from "./Envelope.ts"
import type { ResponseFault as Fault } from "./Fault.ts"
import type { Delivered } from "./RequestLog.ts"

type Response = HttpServerResponse.HttpServerResponse

/** The connection is closed before or during a response. */
export class ConnectionReset extends Data.TaggedError("ConnectionReset")<{ readonly message: string }> {}

/** The result of a request: a response, whose body may be cut or slow, or a closed connection. */
export interface FaultResult {
  readonly response: Effect.Effect<Response, ConnectionReset>
  readonly delivered: Delivered
  /** The body of a response that is sent as a stream. */
  readonly streamed?: Uint8Array
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: "INVALID_API_KEY",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  409: "CONFLICT",
  413: "PAYLOAD_TOO_LARGE",
  429: "RATE_LIMITED"
}

/** The documented code of a status, or that of its category if the document has no code for the status. */
const codeOf = (status: number): ErrorCode => codes[status] ?? (status >= 500 ? "INTERNAL_ERROR" : "VALIDATION_ERROR")

/** The last change to a response. `hasOwnBody`: the fault defines its body. */
type Finish = (response: Response, hasOwnBody: boolean) => Response

const replacement = (status: number, fault: Extract<Fault, { kind: "status" | "cut" | "slow" }>, finish: Finish): Response => {
  const made = fault.body !== undefined
    ? Envelope.raw(status, fault.body, fault.contentType ?? "text/html; charset=utf-8")
    : status < 400
    ? Envelope.json(status, {})
    : Envelope.json(status, {
      error: { code: fault.code ?? codeOf(status), message: fault.message ?? "this response comes from a fault" }
    })
  const response = finish(made, fault.body !== undefined)
  const located = fault.location === undefined ? response : Envelope.withHeader(response, "location", fault.location)
  return fault.retryAfter === undefined ? located : Envelope.withHeader(located, "retry-after", fault.retryAfter)
}

type BodyFault = Extract<Fault, { kind: "cut" | "slow" }>

const keepsResponse = ({ body, status }: BodyFault): boolean => status === undefined && body === undefined

/** The service's own response, unless the fault replaces it. */
const chosen = (fault: BodyFault, own: Response, finish: Finish): Response =>
  keepsResponse(fault) ? own : replacement(fault.status ?? 200, fault, finish)

/** Adds a body to a response without one, of a status that has one: a cut of an empty body would have no effect. */
const withBody = (response: Response): Response =>
  Envelope.bytesOf(response).length > 0
    ? response
    : HttpServerResponse.setBody(
      HttpServerResponse.omitsBody(response) ? HttpServerResponse.setStatus(response, 200) : response,
      Envelope.json(200, {}).body
    )

/** The same head, `content-length` included, with a stream as the body. */
const streamed = (response: Response, body: Stream.Stream<Uint8Array, ConnectionReset>): Response =>
  HttpServerResponse.setBody(
    response,
    HttpBody.stream(body, response.headers["content-type"], Envelope.bytesOf(response).length)
  )

const firstHalf = (response: Response): Uint8Array => {
  const bytes = Envelope.bytesOf(response)
  return bytes.subarray(0, Math.floor(bytes.length / 2))
}

const cut = (response: Response): Response =>
  streamed(response, Stream.concat(
    Stream.make(firstHalf(response)),
    Stream.fail(new ConnectionReset({ message: "the connection was closed during the body" }))
  ))

const pieces = 10

/** Spreads the body evenly over a duration in milliseconds, by the caller's clock. */
const slow = (response: Response, millis: number): Response => {
  const bytes = Envelope.bytesOf(response)
  const size = Math.max(1, Math.ceil(bytes.length / pieces))
  const count = Math.ceil(bytes.length / size)
  // Rounded up, because some clocks only support whole milliseconds.
  const after = Math.ceil(millis / count)
  return count === 0 ? response : streamed(response, Stream.mapEffect(
    Stream.range(0, count - 1),
    (index) => Effect.as(Effect.sleep(after), bytes.subarray(index * size, (index + 1) * size))
  ))
}

/** Applies a fault to the service's own response, which is undefined if the request did not reach the service. */
export const apply = (fault: Fault | undefined, own: Response | undefined, finish: Finish = identity): FaultResult => {
  const original = own ?? Envelope.json(200, {})
  switch (fault?.kind) {
    case undefined:
      return { response: Effect.succeed(original), delivered: "complete" }
    case "drop":
      return {
        response: Effect.fail(new ConnectionReset({ message: "the connection was closed before a response" })),
        delivered: "dropped"
      }
    case "status":
      return { response: Effect.succeed(replacement(fault.status, fault, finish)), delivered: "replaced" }
    case "garbage":
      return { response: Effect.succeed(Envelope.raw(200, fault.body, fault.contentType ?? "application/json")), delivered: "replaced" }
    case "cut": {
      const whole = withBody(chosen(fault, original, finish))
      return { response: Effect.succeed(cut(whole)), delivered: "cut", streamed: firstHalf(whole) }
    }
    case "slow": {
      const whole = chosen(fault, original, finish)
      return {
        response: Effect.succeed(slow(whole, fault.millis)),
        delivered: keepsResponse(fault) ? "complete" : "replaced",
        streamed: Envelope.bytesOf(whole)
      }
    }
  }
}
