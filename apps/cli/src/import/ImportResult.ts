/** The result of an import, as JSON, as text and as a failure. */
import { Explained } from "@plaza/cli-kit/CliError"
import { FailureScope } from "@plaza/client"
import * as Schema from "effect/Schema"
import { type ImportKind, reasonOf } from "./ImportRow.ts"
import type { ImportCounts } from "./ImportRun.ts"

/** Some rows failed or have an unknown outcome. `ExitCode` uses the worst failure. */
export class RowsFailed extends Schema.TaggedError<RowsFailed>()("RowsFailed", {
  failed: Schema.Number,
  /** The failure of each row. */
  failures: Schema.Array(Schema.Unknown),
  message: Schema.String
}) {}

export interface ImportResult {
  readonly import: ImportKind["name"]
  readonly rows: number
  /** Confirmed in an earlier run. */
  readonly inPlace: number
  /** Confirmed by the service in this run. */
  readonly sent: number
  /** Orders that were already shipped, not by this import; perhaps with another carrier or number. */
  readonly alreadyShipped: ReadonlyArray<string>
  /** Orders that are shipped after an attempt with an unknown outcome; perhaps with another carrier or number. */
  readonly unverified: ReadonlyArray<string>
  readonly failed: number
  /** Not sent. */
  readonly left: number
  /** The absolute path of the file with the failed rows. */
  readonly report: string | null
}

export const make = (
  kind: ImportKind,
  rows: number,
  inPlace: number,
  { already, failed, sent, unverified }: ImportCounts,
  report: string | undefined
): ImportResult => ({
  import: kind.name,
  rows,
  inPlace,
  sent,
  alreadyShipped: already,
  unverified,
  failed: failed.length,
  left: rows - inPlace - sent - already.length - unverified.length - failed.length,
  report: report ?? null
})

const formatCount = (count: number): string => count.toLocaleString("en-US")
const formatRows = (count: number): string => count === 1 ? "1 row" : `${formatCount(count)} rows`

/** The result as a sentence. */
export const toText = ({ alreadyShipped, failed, inPlace, left, rows, sent, unverified }: ImportResult): string => {
  const parts = [
    `${formatCount(sent)} of ${formatRows(rows)} sent`,
    ...(inPlace > 0 ? [`${formatCount(inPlace)} in place since an earlier run`] : []),
    ...(alreadyShipped.length > 0 ? [`${formatCount(alreadyShipped.length)} already shipped`] : []),
    ...(unverified.length > 0 ? [`${formatCount(unverified.length)} shipped, not verified`] : []),
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(left > 0 ? [`${formatCount(left)} not attempted`] : [])
  ]
  return `${parts.join(", ")}.`
}

const unsaved = "The failed rows could not be saved: name a file with --report, and check the disk."

/** How to continue after a run that stopped early. */
export const howToContinue = (
  { alreadyShipped, failed, inPlace, report, rows, sent, unverified }: ImportResult,
  counts: ImportCounts
): string => {
  const confirmed = inPlace + sent + alreadyShipped.length + unverified.length
  const unknown = counts.failed.filter(({ failure }) => FailureScope.mayHaveHappened(failure)).length
  return [
    `${formatCount(confirmed)} of ${formatRows(rows)} are in place. Run the same command again to continue.`,
    ...(failed === 0 ? [] : [report === null ? unsaved : `The failed rows (${formatRows(failed)}) are in ${report}.`]),
    ...(unknown === 0 ? [] : [`The outcome of ${formatRows(unknown)} is unknown: the service may have carried out the request.`])
  ].join(" ")
}

// The report has all of them.
const shownReasons = 3

/** Why the first rows failed. */
const reasonsOf = (failed: ImportCounts["failed"]): string =>
  [
    ...failed.slice(0, shownReasons).map(({ failure, row }) => `line ${row.line}: ${reasonOf(failure)}`),
    ...(failed.length > shownReasons ? ["…"] : [])
  ].join("; ")

/** The failure of a run that did not confirm every row. */
export const failureOf = (result: ImportResult, counts: ImportCounts): Explained | undefined => {
  const { failed, stop } = counts
  const explained = (cause: unknown, explanation: string) => new Explained({ cause, explanation, details: { ...result } })
  if (stop !== undefined && stop !== "NoneWorked") return explained(stop, howToContinue(result, counts))
  if (failed.length === 0) return undefined
  const haveFailed = stop === undefined ? "failed" : "failed, and no row worked"
  const cause = new RowsFailed({
    failed: failed.length,
    failures: failed.map(({ failure }) => failure),
    message: `${formatRows(failed.length)} of ${formatCount(result.rows)} ${haveFailed}: ${reasonsOf(failed)}`
  })
  return explained(
    cause,
    [
      ...(stop === undefined ? [] : ["Does the file belong to another shop? plaza me shows the account."]),
      ...(result.report === null
        ? [unsaved, "Run the same command again to retry them."]
        : [
          `The failed rows and their reasons are in ${result.report}.`,
          "Correct and import that file, or run the same command again to retry them."
        ])
    ].join(" ")
  )
}
