/**
 * The rule that decided a request: a stable name and a sentence. It is derived from the step that decided and from the error
 * code.
 *
 * @since 0.1.0
 */
import type { DocumentedError, ErrorCode } from "@plaza-legacy/domain/Errors"

/** @since 0.1.0 @category models */
export interface Decision {
  readonly rule: string
  /** One sentence. */
  readonly reason: string
}

/** Names of the checks before every operation; see `Admission`. */
const admission: Readonly<Partial<Record<ErrorCode, string>>> = {
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
 * A refusal by admission: `admission.key`, `admission.rate`, ...
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofAdmission = ({ code, details, message }: DocumentedError): Decision => ({
  rule: `admission.${code === "RATE_LIMITED" ? String(details["limit"]) : admission[code] ?? otherwise(code)}`,
  reason: message
})

/** The parts of an operation that name its rules. */
interface Named {
  readonly group: string
  readonly name: string
}

/**
 * A refusal by the handler of an operation: `chat.block`, `store.owner`, `posts.unknown`, ...
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofOperation = ({ group }: Named, { code, message }: DocumentedError): Decision => ({
  rule: shared[code] ?? `${group}.${ofArea[code] ?? otherwise(code)}`,
  reason: message
})

/**
 * An accepted request: `posts.createPost`, ...
 *
 * @since 0.1.0
 * @category constructors
 */
export const done = ({ group, name }: Named): Decision => ({
  rule: `${group}.${name}`,
  reason: "accepted"
})

/**
 * A request that faults stopped before the service.
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofFaults = (ids: ReadonlyArray<string>): Decision => ({
  rule: "fault",
  reason: `stopped before the service by ${ids.join(" and ")}`
})

/**
 * A request that a gateway stopped before the service; see `gatewayStatus` of the latitude.
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofGateway = (status: number): Decision => ({
  rule: "gateway",
  reason: `stopped before the service by gatewayStatus ${status} of the latitude`
})

/**
 * A bug or a storage failure of the sandbox.
 *
 * @since 0.1.0
 * @category constructors
 */
export const defect: Decision = {
  rule: "defect",
  reason: "the sandbox failed; its log has the reason"
}
