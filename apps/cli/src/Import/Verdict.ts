/**
 * What the end of a send says of its row and of the rows behind it.
 *
 * Source: interface v1, "Errors" and "Retry rules".
 *
 * @since 0.1.0
 */
import * as Failures from "@plaza/client/Failures"
import * as Duration from "effect/Duration"
import type { Failure } from "./Item.js"

/**
 * - `sent`: it is in place.
 * - `already`: the order was shipped before, and not by this import as its journal has it; perhaps with another carrier or number.
 * - `unverified`: the order is shipped, by an earlier attempt of this import or by somebody else.
 * - `wait`: the allowance is used up by others; it goes on by itself.
 * - `failed`: it has not happened.
 * - `unknown`: it may have happened.
 *
 * @since 0.1.0
 * @category models
 */
export type Verdict =
  | { readonly is: "sent" | "already" | "unverified" }
  | { readonly is: "wait"; readonly unknown: boolean; readonly time: Duration.Duration }
  | { readonly is: "failed" | "unknown"; readonly failure: Failure; readonly reach: Reach }

/**
 * - `row`: it concerns this row alone; the next one is sent.
 * - `trouble`: it may concern every row; several in a row end the import.
 * - `account`: it concerns every row; the import ends at once.
 *
 * @since 0.1.0
 * @category models
 */
export type Reach = "row" | "trouble" | "account"

/**
 * For how long the allowance is waited for. Longer than any wait for the rate, shorter than one for the next day.
 *
 * @since 0.1.0
 * @category constants
 */
export const maxWait: Duration.Duration = Duration.minutes(15)

// For a 429 without Retry-After: what is counted by the minute is free again by then.
const defaultWait = Duration.minutes(1)

const ofRow: ReadonlySet<string> = new Set([
  "NotFound",
  "ValidationError",
  "InvalidInput",
  "Conflict",
  // "Acting on something that belongs to someone else": what closes the whole account has codes of its own.
  "Forbidden"
])

const ofAccount: ReadonlySet<string> = new Set([
  "InvalidApiKey",
  "InsufficientScope",
  "DeveloperAccessRevoked",
  "ProfileIncomplete",
  "StoreBlocked",
  "RateLimited",
  "RateLimitWaitExceeded",
  "ClientClosed"
])

const reachOf = (cause: Failures.Failure | Failures.Inconclusive): Reach => {
  if (ofRow.has(cause._tag)) return "row"
  if (ofAccount.has(cause._tag)) return "account"
  return cause._tag === "UnrecognizedError" && (cause.category === "Unauthenticated" || cause.category === "RateLimited") ? "account" : "trouble"
}

/**
 * Judges the end of a send. `doubtful` says that an earlier one may have happened: a conflict then shows that the order is shipped, not by whom.
 *
 * @since 0.1.0
 * @category judging
 */
export const of = (failure: Failure, doubtful: boolean): Verdict => {
  const cause = failure._tag === "OutcomeUnknown" ? failure.cause : failure
  const unknown = failure._tag === "OutcomeUnknown"
  if (cause._tag === "Conflict") return { is: doubtful || unknown ? "unverified" : "already" }
  if ("category" in cause && cause.category === "RateLimited") {
    const time = cause.retryAfter ?? defaultWait
    if (Duration.lessThanOrEqualTo(time, maxWait)) return { is: "wait", unknown, time }
  }
  // A success that can't be read may be an error or the page of a network: it proves nothing.
  const mayHaveHappened = unknown || failure._tag === "ConnectionLost" || failure._tag === "AttemptTimeout" || failure._tag === "UnreadableSuccess" ||
    ("category" in failure && failure.category === "ServiceFault")
  return { is: mayHaveHappened ? "unknown" : "failed", failure, reach: reachOf(cause) }
}

const worstFirst = [8, 7, 6, 4, 2, 3, 5, 1] as const

/**
 * The status that an import with these failures ends with: that of the worst. Worse is what leaves a doubt, then what goes by itself,
 * then what somebody has to change.
 *
 * @since 0.1.0
 * @category reporting
 */
export const exitCode = (failures: ReadonlyArray<Failure>): Failures.ExitCode => {
  const codes = new Set(failures.map(Failures.exitCode))
  return worstFirst.find((code) => codes.has(code)) ?? 1
}
