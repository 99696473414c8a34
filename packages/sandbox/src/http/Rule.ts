/**
 * The rule that decided a request: a stable name and a sentence. It is derived from the step that decided and from the error
 * code.
 */
import type { DocumentedError, ErrorCode } from "@plaza/domain/Errors"
import type { Latitude } from "../Latitude.ts"

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

/** Rules of more than one area. */
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

/** A refusal by admission: `admission.key`, `admission.rate`, ... */
export const ofAdmission = ({ code, details, message }: DocumentedError): Decision => ({
  rule: `admission.${code === "RATE_LIMITED" ? String(details["limit"]) : admission[code] ?? otherwise(code)}`,
  reason: message
})

/** The parts of an operation that name its rules. */
interface Named {
  readonly area: string
  readonly name: string
}

/** A refusal by the handler of an operation: `chat.block`, `store.owner`, `posts.unknown`, ... */
export const ofOperation = ({ area }: Named, { code, message }: DocumentedError): Decision => ({
  rule: shared[code] ?? `${area}.${ofArea[code] ?? otherwise(code)}`,
  reason: message
})

/** An accepted request: `posts.createPost`, ... */
export const done = ({ area, name }: Named): Decision => ({
  rule: `${area}.${name}`,
  reason: "accepted"
})

/** A request that a fault stopped before the service. */
export const ofFault = (id: string): Decision => ({
  rule: "fault",
  reason: `stopped before the service by ${id}`
})

/** A request that a gateway stopped before the service; see `gatewayStatus` of the latitude. */
export const ofGateway = ({ gatewayStatus }: Pick<Latitude, "gatewayStatus">): Decision => ({
  rule: "gateway",
  reason: `stopped before the service by gatewayStatus ${gatewayStatus} of the service variant`
})

/** A bug or a storage failure of the sandbox. */
export const defect: Decision = {
  rule: "defect",
  reason: "the sandbox failed; its log has the reason"
}
