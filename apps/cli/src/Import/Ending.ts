/** The summary of an import, and its failure. */
import { Explained } from "@plaza/cli-kit/CliError"
import type { ExitCode } from "@plaza/cli-kit/ExitCode"
import * as Data from "effect/Data"
import type { Kind } from "./Item.js"
import type { Tally } from "./Run.js"
import * as Verdict from "./Verdict.js"

/** Some rows failed or have an unknown outcome. The exit code is that of the worst one. */
export class RowsFailed extends Data.TaggedError("RowsFailed")<{
  readonly failed: number
  readonly exitCode: ExitCode
  readonly message: string
}> {}

export interface Summary {
  readonly import: Kind["name"]
  readonly rows: number
  /** Confirmed in an earlier run. */
  readonly inPlace: number
  /** Confirmed by the service in this run. */
  readonly sent: number
  /** Orders that were already shipped, not by this import, perhaps with another carrier or number. */
  readonly alreadyShipped: ReadonlyArray<string>
  /** Orders that are shipped, perhaps with another carrier or number, after an attempt with an unknown outcome. */
  readonly unverified: ReadonlyArray<string>
  readonly failed: number
  /** Not sent. */
  readonly left: number
  /** The file with the failed rows. */
  readonly report: string | null
}

export const summary = (kind: Kind, rows: number, inPlace: number, tally: Tally, report: string | undefined): Summary => {
  const { already, failed, sent, unverified } = tally
  return {
    import: kind.name,
    rows,
    inPlace,
    sent,
    alreadyShipped: already,
    unverified,
    failed: failed.length,
    left: rows - inPlace - sent - already.length - unverified.length - failed.length,
    report: report ?? null
  }
}

const grouped = (count: number): string => count.toLocaleString("en-US")
const counted = (count: number): string => count === 1 ? "1 row" : `${grouped(count)} rows`

/** The summary as a sentence. */
export const sentence = ({ alreadyShipped, failed, inPlace, left, rows, sent, unverified }: Summary): string => {
  const parts = [
    `${grouped(sent)} of ${counted(rows)} sent`,
    ...(inPlace > 0 ? [`${grouped(inPlace)} in place since an earlier run`] : []),
    ...(alreadyShipped.length > 0 ? [`${grouped(alreadyShipped.length)} shipped before`] : []),
    ...(unverified.length > 0 ? [`${grouped(unverified.length)} shipped, not verified`] : []),
    ...(failed > 0 ? [`${grouped(failed)} failed`] : []),
    ...(left > 0 ? [`${grouped(left)} not tried`] : [])
  ]
  return `${parts.join(", ")}.`
}

/** How to continue after an interrupted or stopped run. */
export const resumption = ({ alreadyShipped, failed, inPlace, report, rows, sent, unverified }: Summary): string =>
  `${grouped(inPlace + sent + alreadyShipped.length + unverified.length)} of ${
    counted(rows)
  } are in place: run the same command to go on.` +
  (report === null ? "" : ` What failed until then (${counted(failed)}) is in ${report}.`)

/** The failure of a run that didn't confirm every row. */
export const failureOf = (summary: Summary, { failed, stop }: Tally): Explained | undefined => {
  if (stop !== undefined) return new Explained({ cause: stop, advice: resumption(summary), details: { ...summary } })
  if (failed.length === 0) return undefined
  const exitCode = Verdict.exitCode(failed.map(({ failure }) => failure))
  const cause = new RowsFailed({ failed: failed.length, exitCode, message: `${counted(failed.length)} of ${grouped(summary.rows)} failed` })
  return new Explained({
    cause,
    advice: `They are in ${
      summary.report ?? "no file"
    }, each with the reason: correct that file and import it, or run the same command to try them again.`,
    details: { ...summary }
  })
}
