/** The sections of the status page. Elements with `data-live` are replaced when the page updates itself. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { states } from "../ledger/Entry.ts"
import type { Backlog } from "../ledger/Ledger.ts"
import type { Commands } from "../ledger/LedgerCommands.ts"
import type { HeldSnapshot } from "../ledger/Snapshot.ts"
import type { Waiting } from "../ledger/StockPriority.ts"
import { outcomes, type State } from "../sync/SyncStatus.ts"
import * as Chart from "./Chart.ts"
import type { StateText } from "./Conditions.ts"
import * as History from "./History.ts"
import { type Html, html, type Piece } from "./Html.ts"
import { age, type LedgerSample, maxHeldChanges, maxListed, type Status } from "./Status.ts"
import * as StatusText from "./StatusText.ts"

export const time = (at: DateTime.Utc): Html => html`<time datetime="${DateTime.formatIso(at)}">${StatusText.moment(at)}</time>`

export const none = "–"

/** A column by its head. */
export type Column = string | { readonly head: string; readonly kind: "number" | "long" }

export const number = (head: string): Column => ({ head, kind: "number" })
export const long = (head: string): Column => ({ head, kind: "long" })

const classOf = (column: Column | undefined, kinds: ReadonlyArray<string>): Html | false =>
  typeof column === "object" && kinds.includes(column.kind) && html` class="${column.kind}"`

/** A section below a heading with this id. */
export const section = (id: string, title: string, body: Html): Html =>
  html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}</section>`

/** A table that scrolls horizontally, also by keyboard. The first cell of each row is its header. */
export const table = (
  id: string,
  name: string,
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<Piece>>,
  empty: string
): Html =>
  html`<div class="scroll" role="region" tabindex="0" aria-label="${name}, table"><table>
<thead><tr>${
    columns.map((column) => html`<th scope="col"${classOf(column, ["number"])}>${typeof column === "string" ? column : column.head}</th>`)
  }</tr></thead>
<tbody id="${id}" data-live>${
    rows.length === 0
      ? html`<tr><td colspan="${columns.length}" class="soft">${empty}</td></tr>`
      : rows.map(([head, ...cells]) =>
        html`<tr><th scope="row"${classOf(columns[0], ["number", "long"])}>${head ?? ""}</th>${
          cells.map((cell, index) => html`<td${classOf(columns[index + 1], ["number", "long"])}>${cell}</td>`)
        }</tr>`
      )
  }</tbody>
</table></div>`

export const state = (subject: string, { action, description, label, tone }: StateText): Html =>
  html`<div class="state ${tone}"><h3>${subject} <span class="badge ${tone}">${label}</span></h3>
<p>${description}</p>${action !== "" && html`<p class="action">${action}</p>`}</div>`

export const status = ({ conditions, reasons }: Status): Html =>
  section("status", "Status", html`<div role="status" id="readiness" data-live>${
    reasons.length === 0
      ? html`<p><span class="badge good">Ready</span> The worker reads the source and sends changes.</p>`
      : html`<p><span class="badge bad">Not ready</span></p><ul>${reasons.map(({ message }) => html`<li>${message}</li>`)}</ul>`
  }</div>
<div class="states" id="states" data-live>${state("Account", conditions.account)}${state("Source", conditions.source)}${
    state("Ledger", conditions.ledger)
  }</div>`)

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
export const waiting = (backlog: Pick<Backlog, "longest" | "waiting"> | undefined, sentence: Html | undefined, now: DateTime.Utc): Html => {
  const rows = backlog === undefined ? [] : priorities.map(([priority, name]) => {
    const since = backlog.longest[priority]
    return [name, backlog.waiting[priority], since === undefined ? none : StatusText.duration(age(since, now))]
  })
  const title = "Waiting to be sent"
  return section("waiting", title,
    html`${table("waiting-rows", title, ["Priority", number("Products"), number("Longest wait")], rows, "No data from the ledger yet.")}
<p id="oldest" data-live>${sentence ?? ""}</p>`)
}

type Entries = ReadonlyArray<readonly [name: string, value: Piece]>

/** Names and values. */
export const list = (id: string, entries: Entries): Html =>
  html`<dl id="${id}" data-live>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`

const overviewOf = (
  { backlog, counts }: { readonly [Key in "backlog" | "counts"]: LedgerSample[Key] | undefined },
  rows: number | undefined,
  now: DateTime.Utc,
  more: Entries
): Html => {
  const confirmedAt = Option.getOrUndefined(backlog?.oldestConfirmation ?? Option.none())
  const entries: Entries = [
    ...states.map((state) => [StatusText.capitalized(state), counts?.[state] ?? none] as const),
    ["Missing in the source", counts?.missing ?? none],
    ["Rows of the source", rows ?? none],
    ["Rejected rows", counts?.rejectedRows ?? none],
    ["Negative rows, accepted as 0", counts?.negativeRows ?? none],
    ...more,
    ["Oldest confirmation", confirmedAt === undefined ? none : `${StatusText.duration(age(confirmedAt, now))} ago`]
  ]
  return section("overview", "Overview", list("overview-list", entries))
}

/** The overview of an account by its ledger alone. */
export const ledgerOverview = (ledger: LedgerSample, rows: number | undefined, now: DateTime.Utc): Html => overviewOf(ledger, rows, now, [])

/** The numbers of requests by outcome. */
export const requests = (sends: State["sends"]): string => outcomes.map((outcome) => `${sends[outcome].count} ${outcome}`).join(", ")

export const overview = ({ ledger, now, rateInUse, rateLimit, rateWindow, state: { sends, source } }: Status): Html =>
  overviewOf(ledger ?? { backlog: undefined, counts: undefined }, source.rows, now, [
    ["Rate limit", `${rateInUse} of ${rateLimit} requests in ${StatusText.duration(rateWindow)}`],
    ["Requests since the start", requests(sends)]
  ])

const noData = "No data yet."

const chart = (id: string, title: string, points: Chart.Chart["points"], now: DateTime.Utc): Html => {
  const to = DateTime.toEpochMillis(now)
  const last = points.at(-1)
  const description = last === undefined ? noData : `${Math.round(last.value)} now. The table below has the numbers.`
  return html`<figure><figcaption>${title}</figcaption>${
    Chart.svg({ id, title, description, points, least: 10, from: to - Duration.toMillis(History.span), to })
  }</figure>`
}

export const lastHour = ({ history, now }: Status): Html => {
  const backlog = history.map(({ at, backlog }) => ({ at, value: backlog }))
  const rates = History.rates(history).map(({ at, perMinute }) => ({ at, value: perMinute }))
  const rows = History.steps(history).map(({ at, backlog, sends }) => [time(DateTime.makeUnsafe(at)), backlog, sends])
  return section("hour", "Last hour",
    html`<div id="charts" class="columns" data-live>${chart("backlog", "Products waiting", backlog, now)}${
      chart("sends", "Stock requests per minute", rates, now)
    }</div>
<details><summary>Show as a table</summary>${
      table("hour-rows", "Last hour", ["Five minutes until", number("Products waiting"), number("Stock requests")], rows, noData)
    }</details>`)
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
): Html => {
  const rows = (ledger?.[state] ?? []).map(({ attempts, dueAt, productId, refusal, wanted }) => [
    productId,
    wanted,
    attempts,
    dueAt === undefined ? state === "uncertain" ? none : "now" : time(dueAt),
    StatusText.refusal(refusal)
  ])
  return section(state, title, html`<p class="soft">${explanation}</p>
${
    table(`${state}-rows`, title, ["Product", number("Wanted"), number("Attempts"), "Next retry", long("Response")], rows, "None")
  }<div id="${state}-more" data-live>${more(maxListed, ledger?.counts[state] ?? 0, commands)}</div>`)
}

export const quarantined = (ledger: LedgerSample | undefined, commands: Commands): Html =>
  productsIn("quarantined", "Quarantined products",
    html`The service refuses their stock. The worker retries each at growing intervals, when the source has another stock for it, or after <code>${commands.retry}</code>.`,
    ledger, commands)

export const uncertain = (ledger: LedgerSample | undefined, commands: Commands): Html =>
  productsIn("uncertain", "Uncertain products",
    html`The store may have another stock than the source. Compare them with the store. The worker sends each when the source has another stock for it, or after <code>${commands.retry} PRODUCT</code>.`,
    ledger, commands)

export const rowIssues = (ledger: LedgerSample | undefined, commands: Commands): Html => {
  const title = "Rejected and changed rows"
  const all = ledger === undefined ? 0 : ledger.counts.rejectedRows + ledger.counts.negativeRows
  const rows = ledger?.rowIssues.map(({ line, productId, reason }) => [`${ledger.unit} ${line}`, productId ?? none, reason])
  return section("rows", title,
    html`<p class="soft">Rows of the last snapshot. The product of a rejected row keeps its stock until the source is corrected.</p>
${table("issue-rows", title, ["Position", "Product", long("Reason")], rows ?? [], "None")}<div id="issue-more" data-live>${
      more(maxListed, all, commands)
    }</div>`)
}

/** The implausible changes of a held snapshot; empty if none is held. */
export const held = (snapshot: HeldSnapshot | undefined, ledger: LedgerSample | undefined, { confirm, statusJson }: Commands): Html => {
  const changes = ledger?.heldChanges ?? []
  const rows = changes.map(({ from, kind, productId, to }) => [productId, from, to, StatusText.changes[kind]])
  return html`<div id="held" data-live>${
    snapshot !== undefined &&
    section("held-title", `Held snapshot ${snapshot.number}`,
      html`<p class="soft">Its implausible changes. If they are right, run <code>${confirm(snapshot.number)}</code>.</p>
${table("held-rows", "Held snapshot", ["Product", number("From"), number("To"), "Reason"], rows, "Not read yet")}${
        changes.length >= maxHeldChanges &&
        html`<p class="soft">The first ${maxHeldChanges} are shown. <code>${statusJson}</code> lists all of them.</p>`
      }`)
  }</div>`
}

const maxErrors = 20

export const errors = ({ state }: { readonly state: Pick<State, "errors"> }): Html => {
  const rows = state.errors.slice(0, maxErrors).map((failure) => [
    time(failure.at),
    failure.productId ?? failure.about,
    StatusText.failure(failure)
  ])
  return section("errors", "Recent errors",
    table("error-rows", "Recent errors", ["Time", "Subject", long("Error")], rows, "None since the start"))
}
