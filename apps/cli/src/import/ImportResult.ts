/** The result of an import, as JSON, as text and as a failure. */
import { Explained } from "@plaza/cli-kit/CliError"
import { count } from "@plaza/cli-kit/Text"
import { FailureScope } from "@plaza/client"
import * as Schema from "effect/Schema"
import type { Saved } from "./FailureReport.ts"
import { type ImportKind, reasonOf } from "./ImportRow.ts"
import type { ImportCounts } from "./ImportRun.ts"

/** Some rows failed or have an unknown outcome. `ExitCode` uses the worst failure. */
class RowsFailed extends Schema.TaggedError<RowsFailed>()("RowsFailed", {
  failed: Schema.Number,
  /** The failure of each row. */
  failures: Schema.Array(Schema.Unknown),
  message: Schema.String
}) {}

/** The JSON that the command prints. Its schema is in `Outputs`. */
type ImportResult = ReturnType<typeof make>

export const make = (
  kind: ImportKind,
  rows: number,
  inPlace: number,
  { already, failed, sent, unverified }: ImportCounts,
  report: Saved | undefined
) => ({
  import: kind.name,
  rows,
  inPlace,
  sent,
  alreadyShipped: already,
  unverified,
  failed: failed.length,
  left: rows - inPlace - sent - already.length - unverified.length - failed.length,
  report: report?.path ?? null
})

const format = (count: number): string => count.toLocaleString("en-US")

/** The result as a sentence. */
export const toText = ({ alreadyShipped, failed, inPlace, left, rows, sent, unverified }: ImportResult): string => {
  const others = [
    [inPlace, "in place since an earlier run"],
    [alreadyShipped.length, "already shipped"],
    [unverified.length, "shipped, not verified"],
    [failed, "failed"],
    [left, "not attempted"]
  ] as const
  return `${
    [`${format(sent)} of ${count(rows, "row")} sent`, ...others.flatMap(([n, is]) => n > 0 ? [`${format(n)} ${is}`] : [])].join(", ")
  }.`
}

/** Where the failed rows are. */
const reportText = (rows: string, { path, problems }: Saved): string => {
  const why = problems.length === 0 ? "" : ` (${problems.join("; ")})`
  return path === undefined ? `The failed rows could not be saved${why}: name a file with --report.` : `${rows} are in ${path}${why}.`
}

/** How to continue after a run that stopped early. */
export const howToContinue = (
  { alreadyShipped, failed, inPlace, rows, sent, unverified }: ImportResult,
  counts: ImportCounts,
  report: Saved | undefined
): string => {
  const confirmed = inPlace + sent + alreadyShipped.length + unverified.length
  const unknown = counts.failed.filter(({ failure }) => FailureScope.mayHaveHappened(failure)).length
  return [
    `${format(confirmed)} of ${count(rows, "row")} ${rows === 1 ? "is" : "are"} in place. Run the same command again to continue.`,
    ...(report === undefined ? [] : [reportText(`The failed rows (${count(failed, "row")})`, report)]),
    ...(unknown === 0 ? [] : [`The outcome of ${count(unknown, "row")} is unknown: the service may have carried out the request.`])
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
export const failureOf = (result: ImportResult, counts: ImportCounts, report: Saved | undefined): Explained | undefined => {
  const { failed, stop } = counts
  const explained = (cause: unknown, explanation: string) => new Explained({ cause, explanation, details: { ...result } })
  if (stop !== undefined && stop !== "NoneWorked") return explained(stop, howToContinue(result, counts, report))
  if (report === undefined) return undefined
  const haveFailed = stop === undefined ? "failed" : "failed, and no row worked"
  const cause = new RowsFailed({
    failed: failed.length,
    failures: failed.map(({ failure }) => failure),
    message: `${count(failed.length, "row")} of ${format(result.rows)} ${haveFailed}: ${reasonsOf(failed)}`
  })
  return explained(
    cause,
    [
      ...(stop === undefined ? [] : ["Does the file belong to another shop? plaza me shows the account."]),
      reportText("The failed rows and their reasons", report),
      report.path === undefined
        ? "Run the same command again to retry them."
        : "Correct and import that file, or run the same command again to retry them."
    ].join(" ")
  )
}
