/**
 * Decides what the result of a request means for its row.
 *
 * Source: interface v1, "Errors" and "Retry rules".
 */
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import { FailureScope } from "@plaza/client"
import type { Failure } from "./Item.js"

/**
 * - `already`: the order was shipped before, and not by this import as its journal has it; perhaps with another carrier or number.
 * - `unverified`: the order is shipped, by an earlier attempt of this import or by somebody else.
 * - `failed`: it has not happened.
 * - `unknown`: it may have happened.
 */
export type Verdict =
  | { readonly is: "already" | "unverified" }
  | { readonly is: "failed" | "unknown"; readonly failure: Failure }

/**
 * Judges a failed send. `doubtful` says that an earlier one may have happened: a conflict then shows that the order is shipped, not by whom.
 */
export const of = (failure: Failure, doubtful: boolean): Verdict => {
  const isUnknown = failure._tag === "OutcomeUnknown"
  if ((isUnknown ? failure.cause : failure)._tag === "Conflict") return { is: doubtful || isUnknown ? "unverified" : "already" }
  return { is: FailureScope.mayHaveHappened(failure) ? "unknown" : "failed", failure }
}

const worstFirst = [8, 7, 6, 4, 2, 3, 5, 1] as const

/**
 * The status that an import with these failures ends with: that of the worst. Worse is what leaves a doubt, then what goes by itself,
 * then what somebody has to change.
 */
export const exitCode = (failures: ReadonlyArray<Failure>): ExitCode.ExitCode => {
  const codes = new Set(failures.map(ExitCode.of))
  return worstFirst.find((code) => codes.has(code)) ?? 1
}
