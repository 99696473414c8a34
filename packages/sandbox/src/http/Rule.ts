/**
 * Which rule decided a request: a short name that stays, and a sentence. It follows from where the decision fell and
 * from its code, so nobody has to state it.
 *
 * @since 0.1.0
 */
import type { DocumentedError, ErrorCode } from "@plaza/domain/Errors"

/** @since 0.1.0 @category models */
export interface Decision {
  readonly rule: string
  /** One sentence. */
  readonly reason: string
}

/** What stands before every operation; see `Admission`. */
const gate: Readonly<Partial<Record<ErrorCode, string>>> = {
  NOT_FOUND: "route",
  INVALID_API_KEY: "key",
  DEVELOPER_ACCESS_REVOKED: "access",
  INSUFFICIENT_SCOPE: "scope",
  PROFILE_INCOMPLETE: "profile",
  PAYLOAD_TOO_LARGE: "size",
  INVALID_JSON: "json",
  VALIDATION_ERROR: "fields"
}

/** Rules that hold in more than one area. */
const shared: Readonly<Partial<Record<ErrorCode, string>>> = {
  CHAT_BLOCKED: "chat.block",
  CHAT_NOT_ALLOWED: "chat.spam",
  STORE_BLOCKED: "store.block",
  USER_UNAVAILABLE: "users.unavailable"
}

const ofArea: Readonly<Partial<Record<ErrorCode, string>>> = {
  FORBIDDEN: "owner",
  NOT_FOUND: "unknown",
  VALIDATION_ERROR: "fields",
  CONFLICT: "state",
  PAYLOAD_TOO_LARGE: "size"
}

const otherwise = (code: string): string => code.toLowerCase()

/**
 * A refusal by what stands before every operation: `gate.key`, `gate.rate`, ...
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofGate = ({ code, details, message }: DocumentedError): Decision => ({
  rule: `gate.${code === "RATE_LIMITED" ? String(details["limit"]) : gate[code] ?? otherwise(code)}`,
  reason: message
})

/** An operation, as far as its rules are named after it. */
interface Named {
  readonly group: string
  readonly name: string
}

/**
 * A refusal by an operation itself: `chat.block`, `store.owner`, `posts.unknown`, ...
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofOperation = ({ group }: Named, { code, message }: DocumentedError): Decision => ({
  rule: shared[code] ?? `${group}.${ofArea[code] ?? otherwise(code)}`,
  reason: message
})

/**
 * No refusal: `posts.createPost`, ...
 *
 * @since 0.1.0
 * @category constructors
 */
export const done = ({ group, name }: Named): Decision => ({
  rule: `${group}.${name}`,
  reason: "accepted"
})

/** @since 0.1.0 @category constructors */
export const ofFaults = (ids: ReadonlyArray<string>): Decision => ({
  rule: "fault",
  reason: `kept from the service by ${ids.join(" and ")}`
})

/**
 * A request that something in front of the service answered; see `gatewayStatus` of the latitude.
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofGateway = (status: number): Decision => ({
  rule: "gateway",
  reason: `kept from the service by a ${status} of its latitude`
})

/** @since 0.1.0 @category constructors */
export const defect: Decision = {
  rule: "defect",
  reason: "the sandbox failed on its own side; its log has the reason"
}
