/** The sections of the status page. Elements with `data-live` are replaced when the page updates itself. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Format from "../commands/Format.ts"
import type { Waiting } from "../ledger/Entry.ts"
import type { Backlog, Counts } from "../ledger/Ledger.ts"
import type { LedgerCommands } from "../ledger/LedgerCommands.ts"
import type { HeldSnapshot } from "../ledger/Snapshot.ts"
import { outcomes, type State } from "../sync/SyncStatus.ts"
import * as Chart from "./Chart.ts"
import * as History from "./History.ts"
import { type Html, html, type Piece } from "./Html.ts"
import { type LedgerSample, maxHeldChanges, maxListed, type StatusSnapshot } from "./StatusSampler.ts"
import * as StatusText from "./StatusText.ts"

export const time = (at: DateTime.Utc): Html => html`<time datetime="${StatusText.iso(at)}">${StatusText.moment(at)}</time>`

/** The commands for an operator that the sections name. */
type Commands = LedgerCommands["Type"]

export const none = "–"

export interface Column {
  readonly head: string
  readonly kind?: "number" | "long"
}

/** A table that scrolls horizontally, also by keyboard. The first cell of each row is its header. */
export const table = (
  id: string,
  name: string,
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<Piece>>,
  empty: string
): Html =>
  html`<div class="scroll" role="region" tabindex="0" aria-label="${name}, table"><table>
<thead><tr>${columns.map(({ head, kind }) => html`<th scope="col"${kind === "number" && html` class="number"`}>${head}</th>`)}</tr></thead>
<tbody id="${id}" data-live>${
    rows.length === 0 ?
      html`<tr><td colspan="${columns.length}" class="soft">${empty}</td></tr>` :
      rows.map((row) =>
        html`<tr>${
          row.map((cell, index) => {
            const kind = columns[index]?.kind
            const classes = kind !== undefined && html` class="${kind}"`
            return index === 0 ? html`<th scope="row"${classes}>${cell}</th>` : html`<td${classes}>${cell}</td>`
          })
        }</tr>`
      )
  }</tbody>
</table></div>`

export const state = (subject: string, { action, description, label, tone }: StatusText.StateText): Html =>
  html`<div class="state ${tone}"><h3>${subject} <span class="badge ${tone}">${label}</span></h3>
<p>${description}</p>${action !== "" && html`<p class="action">${action}</p>`}</div>`

export const status = ({ reasons, state: current }: StatusSnapshot): Html =>
  html`<section aria-labelledby="status"><h2 id="status">Status</h2>
<div role="status" id="readiness" data-live>${
    reasons.length === 0
      ? html`<p><span class="badge good">Ready</span> The worker reads the source and sends changes.</p>`
      : html`<p><span class="badge bad">Not ready</span></p><ul>${reasons.map(({ message }) => html`<li>${message}</li>`)}</ul>`
  }</div>
<div class="states" id="states" data-live>${state("Account", StatusText.account(current.account))}${
    state("Source", StatusText.source(current))
  }${state("Ledger", StatusText.ledger(current))}</div></section>`

const priorities: ReadonlyArray<readonly [priority: Waiting, name: string]> = [
  ["soldOut", "Sold out"],
  ["falling", "Falling"],
  ["backInStock", "Back in stock"],
  ["rest", "Rising or new"],
  ["doubtful", "Doubtful"]
]

/** The product that waits longest, as a sentence. */
export const longestWait = ({ oldest }: Backlog): Html =>
  Option.match(oldest, {
    onNone: () => html`No product waits.`,
    onSome: ({ productId, since }) => html`<strong>${productId}</strong> waits longest, since ${time(since)}.`
  })

/** What waits by priority, with a sentence about the longest wait. */
export const waiting = (backlog: Pick<Backlog, "longest" | "waiting"> | undefined, sentence: Html | undefined, now: DateTime.Utc): Html =>
  html`<section aria-labelledby="waiting"><h2 id="waiting">Waiting to be sent</h2>
${
    table(
      "waiting-rows",
      "Waiting to be sent",
      [{ head: "Priority" }, { head: "Products", kind: "number" }, { head: "Longest wait", kind: "number" }],
      backlog === undefined ? [] : priorities.map(([priority, name]) => {
        const since = backlog.longest[priority]
        return [name, backlog.waiting[priority], since === undefined ? none : StatusText.duration(DateTime.distance(since, now))]
      }),
      "No data from the ledger yet."
    )
  }
<p id="oldest" data-live>${sentence ?? ""}</p></section>`

export interface RateOptions {
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
}

const productEntries = (counts: Counts | undefined): ReadonlyArray<readonly [string, Piece]> => [
  ["Settled", counts?.settled ?? none],
  ["Pending", counts?.pending ?? none],
  ["Sending", counts?.sending ?? none],
  ["Doubtful", counts?.doubtful ?? none],
  ["Uncertain", counts?.uncertain ?? none],
  ["Quarantined", counts?.quarantined ?? none],
  ["Missing in the source", counts?.missing ?? none]
]

const rowEntries = (counts: Counts | undefined, rows: number | undefined): ReadonlyArray<readonly [string, Piece]> => [
  ["Rows of the source", rows ?? none],
  ["Rejected rows", counts?.rejectedRows ?? none],
  ["Negative rows, accepted as 0", counts?.negativeRows ?? none]
]

const confirmation = (ledger: LedgerSample | undefined, now: DateTime.Utc): readonly [string, Piece] => [
  "Oldest confirmation",
  Option.match(ledger === undefined ? Option.none<DateTime.Utc>() : ledger.backlog.oldestConfirmation, {
    onNone: () => none,
    onSome: (at) => `${StatusText.duration(DateTime.distance(at, now))} ago`
  })
]

const overviewOf = (entries: ReadonlyArray<readonly [string, Piece]>): Html =>
  html`<section aria-labelledby="overview"><h2 id="overview">Overview</h2>
<dl id="overview-list" data-live>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></section>`

/** The overview of an account by its ledger alone. */
export const ledgerOverview = (ledger: LedgerSample, rows: number | undefined, now: DateTime.Utc): Html =>
  overviewOf([...productEntries(ledger.counts), ...rowEntries(ledger.counts, rows), confirmation(ledger, now)])

/** The numbers of requests by outcome. */
export const requests = (sends: State["sends"]): string => outcomes.map((outcome) => `${sends[outcome].count} ${outcome}`).join(", ")

export const overview = (
  { ledger, now, rateInUse, state: { sends, source } }: StatusSnapshot,
  { rateLimit, rateWindow }: RateOptions
): Html =>
  overviewOf([
    ...productEntries(ledger?.counts),
    ...rowEntries(ledger?.counts, source.rows),
    ["Rate limit", `${rateInUse} of ${rateLimit} requests in ${StatusText.duration(Duration.toMillis(rateWindow))}`],
    ["Requests since the start", requests(sends)],
    confirmation(ledger, now)
  ])

const chart = (chart: Omit<Chart.Chart, "from" | "to">, now: DateTime.Utc): Html =>
  html`<figure><figcaption>${chart.title}</figcaption>${
    Chart.svg({ ...chart, from: DateTime.toEpochMillis(now) - Duration.toMillis(History.span), to: DateTime.toEpochMillis(now) })
  }</figure>`

const noData = "No data yet."

export const lastHour = ({ history, now }: StatusSnapshot): Html => {
  const rates = History.rates(history)
  const steps = History.steps(history)
  const last = history.at(-1)
  return html`<section aria-labelledby="hour"><h2 id="hour">Last hour</h2>
<div id="charts" class="columns" data-live>${
    chart({
      id: "backlog",
      title: "Products waiting",
      description: last === undefined ? noData : `${last.backlog} now. The table below has the numbers.`,
      points: history.map(({ at, backlog }) => ({ at, value: backlog })),
      least: 10
    }, now)
  }${
    chart({
      id: "sends",
      title: "Stock requests per minute",
      description: rates.length === 0 ? noData : `${Math.round(rates.at(-1)?.perMinute ?? 0)} now. The table below has the numbers.`,
      points: rates.map(({ at, perMinute }) => ({ at, value: perMinute })),
      least: 10
    }, now)
  }</div>
<details><summary>Show as a table</summary>${
    table(
      "hour-rows",
      "Last hour",
      [{ head: "Five minutes until" }, { head: "Products waiting", kind: "number" }, { head: "Stock requests", kind: "number" }],
      steps.map(({ at, backlog, sends }) => [time(DateTime.unsafeMake(at)), backlog, sends]),
      noData
    )
  }</details></section>`
}

const more = (shown: number, all: number, { statusJson }: Commands): Html | false =>
  all > shown && html`<p class="soft">${shown} of ${all} shown. <code>${statusJson}</code> lists all of them.</p>`

/** A section with the products of a state that needs a person. */
const productsIn = (
  state: "quarantined" | "uncertain",
  title: string,
  explanation: Html,
  ledger: LedgerSample | undefined,
  commands: Commands
): Html =>
  html`<section aria-labelledby="${state}"><h2 id="${state}">${title}</h2>
<p class="soft">${explanation}</p>
${
    table(
      `${state}-rows`,
      title,
      [{ head: "Product" }, { head: "Wanted", kind: "number" }, { head: "Attempts", kind: "number" }, { head: "Next retry" }, {
        head: "Response",
        kind: "long"
      }],
      (ledger?.[state] ?? []).map((
        entry
      ) => [
        entry.productId,
        entry.wanted,
        entry.attempts,
        entry.dueAt === undefined ? state === "uncertain" ? none : "now" : time(entry.dueAt),
        Format.refusalText(entry.refusal)
      ]),
      "None"
    )
  }<div id="${state}-more" data-live>${more(maxListed, ledger?.counts[state] ?? 0, commands)}</div></section>`

export const quarantined = (ledger: LedgerSample | undefined, commands: Commands): Html =>
  productsIn(
    "quarantined",
    "Quarantined products",
    html`The service refuses their stock. The worker retries each at growing intervals, when the source has another stock for it, or after <code>${commands.retry}</code>.`,
    ledger,
    commands
  )

export const uncertain = (ledger: LedgerSample | undefined, commands: Commands): Html =>
  productsIn(
    "uncertain",
    "Uncertain products",
    html`The store may have another stock than the source. Compare them with the store. The worker sends each when the source has another stock for it, or after <code>${commands.retry} PRODUCT</code>.`,
    ledger,
    commands
  )

const issueCount = (ledger: LedgerSample | undefined): number =>
  ledger === undefined ? 0 : ledger.counts.rejectedRows + ledger.counts.negativeRows

export const rowIssues = (ledger: LedgerSample | undefined, commands: Commands): Html =>
  html`<section aria-labelledby="rows"><h2 id="rows">Rejected and changed rows</h2>
<p class="soft">Rows of the last snapshot. The product of a rejected row keeps its stock until the source is corrected.</p>
${
    table(
      "issue-rows",
      "Rejected and changed rows",
      [{ head: "Position" }, { head: "Product" }, { head: "Reason", kind: "long" }],
      (ledger?.rowIssues ?? []).map(({ line, productId, reason }) => [`${ledger?.unit ?? "line"} ${line}`, productId ?? none, reason]),
      "None"
    )
  }<div id="issue-more" data-live>${more(maxListed, issueCount(ledger), commands)}</div></section>`

/** The implausible changes of a held snapshot; empty if none is held. */
export const held = (snapshot: HeldSnapshot | undefined, ledger: LedgerSample | undefined, { confirm, statusJson }: Commands): Html =>
  html`<div id="held" data-live>${
    snapshot !== undefined && html`<section aria-labelledby="held-title"><h2 id="held-title">Held snapshot ${snapshot.number}</h2>
<p class="soft">Its implausible changes. If they are right, run <code>${confirm(snapshot.number)}</code>.</p>
${
      table(
        "held-rows",
        "Held snapshot",
        [{ head: "Product" }, { head: "From", kind: "number" }, { head: "To", kind: "number" }, { head: "Reason" }],
        (ledger?.heldChanges ?? []).map(({ from, kind, productId, to }) => [productId, from, to, Format.changeTexts[kind]]),
        "Not read yet"
      )
    }${
      (ledger?.heldChanges.length ?? 0) >= maxHeldChanges &&
      html`<p class="soft">The first ${maxHeldChanges} are shown. <code>${statusJson}</code> lists all of them.</p>`
    }</section>`
  }</div>`

const maxErrors = 20

export const errors = ({ state }: { readonly state: Pick<State, "errors"> }): Html =>
  html`<section aria-labelledby="errors"><h2 id="errors">Recent errors</h2>
${
    table(
      "error-rows",
      "Recent errors",
      [{ head: "Time" }, { head: "Subject" }, { head: "Error", kind: "long" }],
      state.errors.slice(0, maxErrors).map((failure) => [
        time(failure.at),
        failure.productId ?? failure.about,
        StatusText.failure(failure)
      ]),
      "None since the start"
    )
  }</section>`
