/**
 * What a failed send says about the product and about the pass. Pure; knows nothing of ledgers nor of how a pass is run.
 *
 * Source: interface v1, "Errors" and "Retry rules".
 *
 * @since 0.1.0
 */
import type { FailureOf } from "@plaza/client/Contract"
import type { Refusal } from "./Entry.js"

/** @since 0.1.0 @category models */
export type SendFailure = FailureOf<"setStock">

/**
 * - `product`: it concerns this product alone; the next one is sent.
 * - `trouble`: it may concern every product; several in a row end the pass.
 * - `account`: it concerns every product; the pass ends at once.
 *
 * @since 0.1.0
 * @category models
 */
export type Reach = "product" | "trouble" | "account"

/** @since 0.1.0 @category models */
export interface Verdict {
  /** Where the product stands now. */
  readonly state: "doubtful" | "pending" | "quarantined"
  readonly reach: Reach
  /** The service says that it has no such product. */
  readonly absent: boolean
  /** Worth a second try in the same pass: nothing says that it would end alike. */
  readonly again: boolean
}

const refused: Verdict = { state: "quarantined", reach: "product", absent: false, again: false }
const closed: Verdict = { state: "pending", reach: "account", absent: false, again: false }
const unsure: Verdict = { state: "doubtful", reach: "trouble", absent: false, again: true }

const closing: ReadonlySet<string> = new Set([
  "InvalidApiKey",
  "InsufficientScope",
  "DeveloperAccessRevoked",
  "ProfileIncomplete",
  "StoreBlocked",
  "RateLimited",
  "RateLimitWaitExceeded"
])

/**
 * Judges a failure. Only what the document ties to one product or value is held against the product: quarantine lasts until the
 * wanted value changes, so a refusal that means something else, or that nobody knows, must not fill it.
 *
 * @since 0.1.0
 * @category judging
 */
export const of = (failure: SendFailure): Verdict => {
  switch (failure._tag) {
    case "NotFound":
      return { ...refused, absent: true }
    case "ValidationError":
    case "InvalidInput":
    // "Acting on something that belongs to someone else": this product isn't ours, the next one may be. What closes the whole
    // account has codes of its own.
    case "Forbidden":
      return refused
    case "InvalidApiKey":
    case "InsufficientScope":
    case "DeveloperAccessRevoked":
    case "ProfileIncomplete":
    case "StoreBlocked":
    case "RateLimited":
    case "RateLimitWaitExceeded":
      return closed
    case "ConnectionFailed":
    case "ClientClosed":
      return { ...unsure, state: "pending" }
    case "ConnectionLost":
    case "AttemptTimeout":
    case "UnreadableSuccess":
    case "InternalError":
      return unsure
    case "OutcomeUnknown":
      // An earlier attempt may have taken; what ended the last one may still close the account.
      return closing.has(failure.cause._tag) ? { ...unsure, reach: "account" } : unsure
    case "UnrecognizedError":
      if (failure.category === "ServiceFault") return unsure
      return failure.category === "Unauthenticated" || failure.category === "RateLimited" ? closed : { ...closed, reach: "trouble" }
    // We send valid JSON of a few bytes, so something on the way has its part in these.
    case "InvalidJson":
    case "PayloadTooLarge":
      return { ...closed, reach: "trouble" }
  }
}

/**
 * What the ledger keeps of a failure.
 *
 * @since 0.1.0
 * @category judging
 */
export const refusalOf = (failure: SendFailure, value: number): Refusal => ({
  tag: failure._tag,
  code: "code" in failure ? failure.code : undefined,
  message: failure.message,
  value
})
