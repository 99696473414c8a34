/** A report as one HTML file, which needs nothing else: no script, no address. For a browser, a mail and a printer. */
import * as DateTime from "effect/DateTime"
import type { Commands } from "../ledger/LedgerCommands.ts"
import { version } from "../version.ts"
import * as Headline from "./Headline.ts"
import { type Html, html } from "./Html.ts"
import type * as Report from "./Report.ts"
import * as ReportText from "./ReportText.ts"
import * as Sections from "./StatusSections.ts"
import * as StatusText from "./StatusText.ts"
import { icon, style } from "./Style.ts"

const own = `
#failure-rows th { overflow-wrap: normal; }
.facts { grid-template-columns: repeat(auto-fill, minmax(min(11rem, 100%), 1fr)); }
@media print {
  :root { color-scheme: light; --page: #ffffff; --card: #ffffff; --text: #000000; --soft: #444444; --line: #bbbbbb; --bad: #a81b1b; --bad-back: #ffffff;
    --good: #14622f; --good-back: #ffffff; --note: #6b4a00; --note-back: #ffffff; }
  body { font-size: 10pt; }
  header, main, footer { max-width: none; padding: 0; }
  section { border: 0; padding: 0; }
  .scroll { overflow: visible; }
  td, tbody th { min-width: 0; }
  tr, .state, .facts > div { break-inside: avoid; }
  h2 { break-after: avoid; }
  .bar rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`

// Replaced by the stylesheet, which the template would escape.
const styles = html`/* style */`

const at = (time: DateTime.Utc): Html => html`<time datetime="${DateTime.formatIso(time)}">${StatusText.moment(time)}</time>`

const facts = (report: Report.Report): Html =>
  html`<dl class="facts">${
    ReportText.numbers(report).map(([name, value]) => html`<div><dt>${StatusText.capitalized(name)}</dt><dd>${value}</dd></div>`)
  }</dl><dl>${ReportText.details(report).map(([name, value]) => html`<dt>${StatusText.capitalized(name)}</dt><dd>${value}</dd>`)}</dl>`

const failures = ({ requests: { failures } }: Report.Report): Html =>
  Sections.section(
    "failures",
    "Requests that were not confirmed",
    Sections.table(
      "failure-rows",
      "Requests that were not confirmed",
      ["Code", Sections.number("Requests"), Sections.number("Products"), "Last", Sections.long("Last message")],
      failures.map(({ code, lastAt, message, products, requests }) => [
        code,
        StatusText.grouped(requests),
        StatusText.grouped(products),
        at(lastAt),
        message
      ]),
      "none"
    ),
    failures.length > 0
  )

const outages = ({ now, outages }: Report.Report): Html =>
  Sections.section(
    "outages",
    "Outages",
    Sections.table(
      "outage-rows",
      "Outages",
      ["What", "From", "Lasted", Sections.long("Why")],
      outages.map((outage) => [
        ReportText.outageName(outage),
        at(outage.from),
        ReportText.outageLength(outage, now),
        ReportText.reason(outage)
      ]),
      "none"
    ),
    outages.length > 0
  )

/** `subject`: the store, if it is known. `conditions`: what keeps it from being in sync. */
export const render = (
  report: Report.Report,
  { commands, conditions, subject }: {
    readonly subject: string | undefined
    readonly conditions: ReadonlyArray<Report.Condition>
    readonly commands: Commands
  }
): string => {
  const { now, sample, snapshot: { takenAt } } = report
  const numbers = Headline.numbers(sample)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${Headline.sentence(numbers)}: report of ${StatusText.moment(now)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<style>${styles}</style>
</head>
<body>
<header><h1>Stock report</h1><p class="soft">${
    subject === undefined ? "Account not known yet" : html`<strong>${subject}</strong>`
  }, as of ${at(now)}</p></header>
<main>
${
    Sections.top({
      ...Sections.inSync(sample, commands, now, { of: undefined, isSending: false }),
      leads: conditions.flatMap(({ lead }) => lead ?? []),
      blocks: conditions.map((condition) => Sections.state(condition.subject, condition, now)),
      rest: [takenAt !== undefined && html`Last snapshot accepted ${at(takenAt)}.`]
    })
  }
${
    Sections.section(
      "facts",
      `Since ${StatusText.moment(report.since)}`,
      html`${ReportText.gaps(report).map((gap) => html`<p class="action">${gap}</p>`)}${facts(report)}`
    )
  }
${outages(report)}
${failures(report)}
</main>
<footer><p>plaza-stock-sync ${version}</p></footer>
</body>
</html>
`.toString().replace(styles.toString(), () => `${style}${own}`)
}
