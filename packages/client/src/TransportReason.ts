/**
 * What went wrong below HTTP, by the codes that undici, fetch and node:http leave somewhere in an error's causes: above
 * all whether the request can have reached the service. Knows nothing of delivery.
 *
 * @since 0.1.0
 */
import type * as HttpClientError from "@effect/platform/HttpClientError"
import * as Predicate from "effect/Predicate"

/** @since 0.1.0 @category models */
export interface TransportReason {
  /** The system's code, or the kind of error where there is none. */
  readonly reason: string
  /** False only where it is certain that nothing of the request left. */
  readonly connected: boolean
}

/** Codes of a network that is out of reach: an open connection can meet most of them too. */
const unreachable = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL"
])

/** Codes of a connection that was not made, or not trusted. Node reports a failed handshake as a failed write. */
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
  // A time-out can come while connecting or later; where the failed call is known, it decides.
  (typeof syscall === "string" ? syscall === "connect" || syscall === "getaddrinfo" : unreachable.has(code))

/** The code of a TLS failure: node:http gives it a common one, and tells only in its text what undici tells by code. */
const precise = (code: string, message: unknown): string => {
  const told = code === "EPROTO" && typeof message === "string" ? /SSL routines:[^:]*:([^:]+)/.exec(message)?.[1] : undefined
  return told === undefined ? code : `ERR_SSL_${told.toUpperCase().replaceAll(" ", "_")}`
}

// Causes nest two or three deep; a cycle must not hang us.
const maxDepth = 8

const find = (error: unknown, depth: number): TransportReason | undefined => {
  if (depth === maxDepth || !Predicate.isRecord(error)) {
    return undefined
  }
  // Several addresses were tried and each failed in its way; one that may have connected decides.
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
 * The reason of an error of the platform's client.
 *
 * @since 0.1.0
 * @category decoding
 */
export const reasonOf = (error: HttpClientError.HttpClientError): TransportReason =>
  error._tag === "RequestError" && error.reason !== "Transport"
    ? { reason: error.reason, connected: false }
    : reasonOfCause(error.cause, error.reason)

/**
 * The reason of what a transport threw. Where none can be found the request counts as sent, which is the careful guess.
 *
 * @since 0.1.0
 * @category decoding
 */
export const reasonOfCause = (cause: unknown, otherwise: string): TransportReason =>
  find(cause, 0) ?? { reason: otherwise, connected: true }
