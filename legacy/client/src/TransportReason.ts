/**
 * The reason of a failure below HTTP, and whether the request may have reached the service. It comes from the codes of undici, fetch
 * and node:http in the causes of an error.
 *
 * @since 0.1.0
 */
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as Predicate from "effect/Predicate"

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

const isNeverConnected = (code: string, syscall: unknown): boolean =>
  neverConnected.has(code) || code.startsWith("CERT_") || code.startsWith("ERR_TLS_CERT") ||
  // A timeout can occur while connecting or later. The failed system call decides, if the error has one.
  (typeof syscall === "string" ? syscall === "connect" || syscall === "getaddrinfo" : unreachable.has(code))

/** The code of a TLS failure: node:http uses one code for all of them, with the precise code of undici in its message. */
const precise = (code: string, message: unknown): string => {
  const detail = code === "EPROTO" && typeof message === "string" ? /SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] : undefined
  return detail === undefined ? code : `ERR_SSL_${detail.toUpperCase().replaceAll(" ", "_")}`
}

// Causes are two or three levels deep. The limit stops a cycle.
const maxDepth = 8

const find = (error: unknown, depth: number): TransportReason | undefined => {
  if (depth === maxDepth || !Predicate.isRecord(error)) {
    return undefined
  }
  // Several addresses failed, each with its own error. An address that may have connected decides.
  if (Array.isArray(error["errors"])) {
    const reasons = error["errors"].flatMap((inner) => find(inner, depth + 1) ?? [])
    return reasons.find((reason) => reason.connected) ?? reasons[0]
  }
  if (typeof error["code"] === "string") {
    const code = precise(error["code"], error["message"])
    return { reason: code, connected: !isNeverConnected(code, error["syscall"]) }
  }
  return find(error["cause"], depth + 1)
}

/**
 * Returns the reason of an error of the platform's `HttpClient`.
 *
 * @since 0.1.0
 * @category decoding
 */
export const reasonOf = (error: HttpClientError.HttpClientError): TransportReason =>
  error._tag === "RequestError" && error.reason !== "Transport"
    ? { reason: error.reason, connected: false }
    : reasonOfCause(error.cause, error.reason)

/**
 * Returns the reason of a value that a transport threw, or `otherwise` if it has no code. A request without a known code counts as
 * sent, which is the safe assumption.
 *
 * @since 0.1.0
 * @category decoding
 */
export const reasonOfCause = (cause: unknown, otherwise: string): TransportReason =>
  find(cause, 0) ?? { reason: otherwise, connected: true }
