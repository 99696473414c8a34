/**
 * For each error of the service, what it means to who runs a command, and what to do about it. Knows nothing of exit codes.
 *
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 */
import type { Category } from "@plaza/domain/Category"
import type { ErrorCode } from "@plaza/domain/Errors"

/** @since 0.1.0 @category models */
export interface Advice {
  /** Half a sentence, before what the service said. */
  readonly meaning: string
  /** A sentence. */
  readonly advice: string
}

const developers = "in the web app under Settings, then Developers"

/** @since 0.1.0 @category advice */
export const byCode: Readonly<Record<ErrorCode, Advice>> = {
  VALIDATION_ERROR: { meaning: "the service refuses a value", advice: "Correct the value that it names and run this again." },
  INVALID_JSON: { meaning: "the service can't read the JSON", advice: "Correct the JSON and run this again." },
  INVALID_API_KEY: { meaning: "the service doesn't accept the key", advice: `Set PLAZA_API_KEY to an active key; keys are made ${developers}.` },
  INSUFFICIENT_SCOPE: { meaning: "the key lacks a scope for this", advice: `Make a key with that scope ${developers}, and set PLAZA_API_KEY to it.` },
  DEVELOPER_ACCESS_REVOKED: { meaning: "the account's developer access is suspended or revoked", advice: "Write to the service's support." },
  PROFILE_INCOMPLETE: { meaning: "the account may not write yet", advice: "Give its profile a photo and a cover in the web app." },
  CHAT_NOT_ALLOWED: { meaning: "this person can't be written to", advice: "The person has to write to the account or follow it first." },
  CHAT_BLOCKED: { meaning: "this person can't be written to", advice: "One of the two has blocked the other; nothing can be done from here." },
  STORE_BLOCKED: { meaning: "the store has blocked this account", advice: "Ask the owner of the store." },
  USER_UNAVAILABLE: { meaning: "the user is blocked, private or suspended", advice: "Nothing can be done from here." },
  FORBIDDEN: { meaning: "this account may not do that", advice: "Check the id: it may belong to someone else." },
  NOT_FOUND: { meaning: "the service doesn't find it", advice: "Check the id or the path: it doesn't exist, or the account can't see it." },
  CONFLICT: { meaning: "this doesn't go with the present state", advice: "It may have been done already; there is no use in running it again." },
  PAYLOAD_TOO_LARGE: { meaning: "it is too large for the service", advice: "Send something smaller." },
  RATE_LIMITED: { meaning: "the key has used up its requests, or the account its quota for the day", advice: "Run this again later." },
  INTERNAL_ERROR: { meaning: "the service has a fault", advice: "Run this again later." }
}

/**
 * For errors that the document doesn't list.
 *
 * @since 0.1.0
 * @category advice
 */
export const byCategory: Readonly<Record<Category, Advice>> = {
  InvalidRequest: { meaning: "the service refuses the request", advice: "Check the input, and that PLAZA_BASE_URL is the service's address." },
  Unauthenticated: byCode.INVALID_API_KEY,
  Forbidden: byCode.FORBIDDEN,
  NotFound: { meaning: "nothing is found there", advice: "Check the id, and that PLAZA_BASE_URL is the service's address." },
  Conflict: byCode.CONFLICT,
  TooLarge: byCode.PAYLOAD_TOO_LARGE,
  RateLimited: byCode.RATE_LIMITED,
  ServiceFault: byCode.INTERNAL_ERROR
}
