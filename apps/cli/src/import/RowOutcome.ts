/**
 * The outcome of a row whose request failed.
 *
 * Source: interface v1, "Errors" and "Retry rules".
 */
import { FailureScope } from "@plaza/client"
import type { Failure } from "./ImportRow.js"

/**
 * - `already`: the order was already shipped, not by this import; perhaps with another carrier or number.
 * - `unverified`: the order is shipped, by an earlier attempt of this import or by others.
 * - `failed`: the row failed.
 * - `unknown`: the outcome is unknown.
 */
export type RowOutcome =
  | { readonly is: "already" | "unverified" }
  | { readonly is: "failed" | "unknown"; readonly failure: Failure }

/** `doubtful` says that an earlier attempt may have happened. A conflict then shows that the order is shipped, but not by whom. */
export const ofFailure = (failure: Failure, doubtful: boolean): RowOutcome => {
  const isUnknown = failure._tag === "OutcomeUnknown"
  if ((isUnknown ? failure.cause : failure)._tag === "Conflict") return { is: doubtful || isUnknown ? "unverified" : "already" }
  return { is: FailureScope.mayHaveHappened(failure) ? "unknown" : "failed", failure }
}
