/** The figures that `once` prints, and its failure if the service did not confirm every row of the source. */
import { Explained } from "@plaza/cli-kit/CliError"
import { Output } from "@plaza/cli-kit/Output"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Counts, issuesOf, Ledger } from "../ledger/Ledger.ts"
import { LedgerCommands } from "../ledger/LedgerCommands.ts"
import type * as SyncWorker from "../sync/SyncWorker.ts"
import * as Format from "./Format.ts"

/** Nothing is due any longer, and rows of the source are not confirmed. */
export class Incomplete extends Data.TaggedError("Incomplete")<{
  readonly message: string
  /** Whether a later run can succeed without a correction. */
  readonly retryable: boolean
}> {}

/** Several products in a row failed by a fault of the service or the network. */
export class ServiceUnavailable extends Data.TaggedError("ServiceUnavailable")<{
  readonly message: string
}> {}

// A request that was cut off is as doubtful as one without a response.
const doubtfulOf = ({ doubtful, sending }: Counts): number => doubtful + sending

interface Report extends SyncWorker.OnceResult {
  /** The counts of the ledger after the run. */
  readonly counts: Counts
}

/** Prints the figures of a run. */
export const print = ({ counts, ended, source, unchanged }: Report) =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    const issues = issuesOf(counts) > 0 ? yield* Format.collect(ledger.rowIssues, output.json) : []
    const quarantined = counts.quarantined > 0 ? yield* Format.collect(ledger.quarantined, output.json) : []
    const uncertain = counts.uncertain > 0 ? yield* Format.collect(ledger.uncertain, output.json) : []
    const doubtful = doubtfulOf(counts)
    const confirmed = counts.settled - unchanged
    yield* output.one(
      {
        confirmed,
        unchanged,
        rejectedRows: counts.rejectedRows,
        negativeRows: counts.negativeRows,
        ruleIssues: counts.ruleIssues,
        quarantined: counts.quarantined,
        uncertain: counts.uncertain,
        doubtful,
        pending: counts.pending,
        complete: source !== undefined && Result.isSuccess(source) &&
          counts.rejectedRows + counts.quarantined + counts.uncertain + doubtful + counts.pending === 0,
        missing: counts.missing,
        rowIssues: issues.map(Format.issueJson),
        quarantinedProducts: quarantined.map(Format.entryJson),
        uncertainProducts: uncertain.map(Format.entryJson),
        stopped: ended._tag === "Idle"
          ? null
          : { reason: ended.state.reason, tag: ended.state.failure._tag, message: ended.state.failure.message }
      },
      [
        ["confirmed", confirmed],
        ["unchanged", unchanged],
        ["rows rejected", counts.rejectedRows],
        ...(counts.negativeRows > 0 ? [["negative, accepted as 0", counts.negativeRows] as const] : []),
        ...(counts.ruleIssues > 0 ? [["rules without a row", counts.ruleIssues] as const] : []),
        ["quarantined", counts.quarantined],
        ...(counts.uncertain > 0 ? [["uncertain", counts.uncertain] as const] : []),
        ["doubtful", doubtful],
        ["pending", counts.pending]
      ]
    )
    if (output.json) return
    if (issues.length > 0) yield* Format.issueTable(issues, (yield* ledger.snapshot).unit)
    yield* Format.quarantineTable(quarantined)
    yield* Format.uncertainTable(uncertain)
  })

/** Succeeds only if the service confirmed every row of the source. */
export const verdict = ({ counts, ended, source }: Report) =>
  Effect.gen(function*() {
    const left = counts.pending + doubtfulOf(counts)
    const rest = source === undefined
      ? "nothing was read or sent"
      : `${Format.count(left, "product")} ${left === 1 ? "is" : "are"} not confirmed`
    if (ended._tag === "Open") {
      const { failure, reason } = ended.state
      const besides = source !== undefined && Result.isFailure(source) ? `. Besides, ${source.failure.message}` : ""
      if (reason === "ServiceFault") {
        return yield* new ServiceUnavailable({
          message:
            `the service failed several times in a row, the last time with: ${failure.message}; ${rest}: run it again later${besides}`
        })
      }
      return yield* new Explained({
        cause: failure,
        explanation: `The run has ended, and ${rest}${besides}.${reason === "Refused" ? " Run it again when that is corrected." : ""}`
      })
    }
    if (source !== undefined && Result.isFailure(source)) return yield* Effect.fail(source.failure)
    if (left > 0) return yield* new Incomplete({ message: `${rest}: run it again later`, retryable: true })
    const rejected = [
      ...(counts.rejectedRows > 0 ? [`${Format.count(counts.rejectedRows, "row")} of the source rejected`] : []),
      ...(counts.quarantined > 0 ? [`${Format.count(counts.quarantined, "product")} refused by the service`] : [])
    ]
    const corrections = rejected.length === 0
      ? []
      : [`${rejected.join(", ")}: correct ${counts.rejectedRows + counts.quarantined === 1 ? "it" : "them"}, and run it again`]
    const { retry } = yield* LedgerCommands
    const uncertain = counts.uncertain === 0 ? [] : [
      `${Format.count(counts.uncertain, "product")} ${counts.uncertain === 1 ? "is" : "are"} uncertain: compare ${
        counts.uncertain === 1 ? "it" : "them"
      } with the store, and run \`${retry} PRODUCT\` to send a stock again`
    ]
    const problems = [...corrections, ...uncertain]
    if (problems.length === 0) return
    return yield* new Incomplete({ message: problems.join(". "), retryable: false })
  })
