/**
 * The reason of a failure below HTTP, and whether the request may have reached the service. It comes from the codes of undici, fetch
 * and node:http in the causes of an error.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { HttpClientError, TransportError } from "effect/http/HttpClientError"
import * as Predicate from "effect/Predicate"
import { CurrentConnection } from "./internal/transport/Connection.ts"

/**
 * The reason of a failed request.
 *
 * @since 0.1.0
 * @category models
 */
export interface TransportReason {
  /** The system's code, such as `ECONNREFUSED`, or the HTTP client's reason if the error has no code. */
  readonly reason: string
  /** False only if certainly no part of the request was sent. */
  readonly connected: boolean
  /** What to do, where the reason alone doesn't show it. */
  readonly hint: string | undefined
}

/** Codes of an unreachable network. Most of them also occur on open connections. */
const unreachable = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL"
])

/** Codes of a connection that failed to open or is not trusted. Node reports a failed handshake as a failed write. */
const neverConnected = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_PRX_CONN",
  "UND_ERR_PRX_TLS",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_UNSUPPORTED_PROTOCOL",
  "ERR_SSL_NO_PROTOCOLS_AVAILABLE",
  "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
  "ERR_SSL_TLSV1_UNRECOGNIZED_NAME",
  "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE",
  "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE"
])

/** Codes of a request that the HTTP client doesn't send, because of a header or the method. */
const rejected = new Set([
  "UND_ERR_INVALID_ARG",
  "UND_ERR_NOT_SUPPORTED",
  "ERR_INVALID_CHAR",
  "ERR_INVALID_HTTP_TOKEN",
  "ERR_HTTP_INVALID_HEADER_VALUE",
  "ERR_HTTP_TRAILER_INVALID"
])

const rejectedHint = "the HTTP client doesn't send such a request; check the headers that your application adds"

const continueHint = "the service sent 100 Continue without being asked, which this HTTP client doesn't accept; " +
  "on Node, use @plaza/client/node, or NodeHttpClient.layerNodeHttp of @effect/platform-node"

const isNeverConnected = (code: string, syscall: unknown): boolean =>
  neverConnected.has(code) || code.startsWith("CERT_") || code.startsWith("ERR_TLS_CERT") ||
  // A timeout can occur while connecting or later. The failed system call decides, if the error has one.
  (typeof syscall === "string" ? syscall === "connect" || syscall === "getaddrinfo" : unreachable.has(code))

/** The code of a TLS failure: node:http uses one code for all of them, with the precise code of undici in its message. */
const precise = (code: string, message: string): string => {
  const detail = code === "EPROTO" ? /SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] : undefined
  return detail === undefined ? code : `ERR_SSL_${detail.toUpperCase().replaceAll(" ", "_")}`
}

// Causes are two or three levels deep. The limit stops a cycle.
const maxDepth = 8

const reasonOfCode = (error: Readonly<Record<PropertyKey, unknown>>, found: string): TransportReason => {
  const message = typeof error["message"] === "string" ? error["message"] : ""
  const code = precise(found, message)
  // Undici has this code for redirects as well, after it sent the first request.
  if (rejected.has(code) && !message.startsWith("Redirect")) {
    return { reason: code, connected: false, hint: rejectedHint }
  }
  if (code === "UND_ERR_SOCKET" && message === "bad response") {
    return { reason: "UNEXPECTED_CONTINUE", connected: true, hint: continueHint }
  }
  return { reason: code, connected: !isNeverConnected(code, error["syscall"]), hint: undefined }
}

const find = (error: unknown, depth: number): TransportReason | undefined => {
  if (depth === maxDepth || !Predicate.isObject(error)) {
    return undefined
  }
  // Several addresses failed, each with its own error. An address that may have connected decides.
  if (Array.isArray(error["errors"])) {
    const reasons = error["errors"].flatMap((inner) => find(inner, depth + 1) ?? [])
    return reasons.find((reason) => reason.connected) ?? reasons[0]
  }
  // Undici's errors for a response that is no HTTP have no code.
  const code = error["name"] === "HTTPParserError" ? error["code"] ?? error["name"] : error["code"]
  return typeof code === "string" ? reasonOfCode(error, code) : find(error["cause"], depth + 1)
}

/** Messages of the platform's fetch client and of Node's fetch for requests that they don't send. */
const rejections = /^(fetch cannot send|bad port$)/

/** Whether fetch rejects a request. Its error doesn't show that: it has no code, like that of a lost connection. */
const isRejectedByFetch = ({ cause, description = "", request }: TransportError): boolean => {
  const message = Predicate.isError(cause) && Predicate.isError(cause.cause) ? cause.cause.message : description
  try {
    return rejections.test(message) || !new Request("http://localhost", { method: request.method, headers: request.headers })
  } catch (error) {
    return error instanceof TypeError
  }
}

/**
 * Returns the reason of an error of the platform's `HttpClient`.
 *
 * @since 0.1.0
 * @category decoding
 */
export const reasonOf = ({ reason }: HttpClientError): TransportReason => {
  switch (reason._tag) {
    case "InvalidUrlError":
      return { reason: reason._tag, connected: false, hint: undefined }
    case "EncodeError":
      // The source of a streamed body failed while it was sent.
      return { reason: reason._tag, connected: reason.request.body._tag === "Stream" && reason.cause !== undefined, hint: undefined }
    case "TransportError":
      return find(reason.cause, 0) ??
        (isRejectedByFetch(reason)
          ? { reason: reason._tag, connected: false, hint: rejectedHint }
          : { reason: reason._tag, connected: true, hint: undefined })
    case "StatusCodeError":
    case "DecodeError":
    case "EmptyBodyError":
      // The service has responded.
      return { ...reasonOfCause(reason.cause, reason._tag), connected: true }
  }
}

/**
 * Returns the reason of a value that a transport threw, or `otherwise` if it has no code. A request without a known code counts as
 * sent, which is the safe assumption.
 *
 * @since 0.1.0
 * @category decoding
 */
export const reasonOfCause = (cause: unknown, otherwise: string): TransportReason =>
  find(cause, 0) ?? { reason: otherwise, connected: true, hint: undefined }

/**
 * Whether the request of this fiber has had a connection; undefined if the HTTP client doesn't report that. For a middleware that decides
 * whether an interrupted request may have reached the service.
 *
 * @since 0.1.0
 * @category accessors
 */
export const isConnected: Effect.Effect<boolean | undefined> = /*#__PURE__*/ Effect.map(CurrentConnection,
  (connection) => connection?.isConnected)
