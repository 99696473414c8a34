/**
 * The outcome of a row whose request failed.
 *
 * Source: interface v1, "Errors" and "Retry rules".
 */
import { FailureScope } from "@plaza-legacy/client"
import type { Failure } from "./ImportRow.ts"

/**
 * - `already`: the order was already shipped, not by this import; perhaps with another carrier or number.
 * - `unverified`: the order is shipped, by an earlier attempt of this import or by others.
 * - `failed`: the row failed.
 * - `unknown`: the outcome is unknown.
 */
export type RowOutcome =
  | { readonly is: "already" | "unverified" }
  | { readonly is: "failed" | "unknown"; readonly failure: Failure }

/**
 * `doubtful` says that an attempt of an earlier run or call may have happened. A conflict then shows that the order is shipped, but not
 * by whom. So it does after an earlier attempt of this call that may have happened.
 */
export const ofFailure = (failure: Failure, doubtful: boolean): RowOutcome => {
  const mayHaveHappened = FailureScope.mayHaveHappened(failure)
  if ((failure._tag === "OutcomeUnknown" ? failure.cause : failure)._tag === "Conflict") {
    return { is: doubtful || mayHaveHappened ? "unverified" : "already" }
  }
  return { is: mayHaveHappened ? "unknown" : "failed", failure }
}

/** Why a row failed, and whether it may be in place all the same. */
export const reasonOf = (failure: Failure): string =>
  failure._tag !== "OutcomeUnknown" && FailureScope.mayHaveHappened(failure)
    ? `${failure.message} (the service may have carried it out all the same)`
    : failure.message
