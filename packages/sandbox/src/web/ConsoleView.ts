/**
 * How the inspector looks. Knows nothing of where things come from.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import type { ActiveFault } from "../http/Fault.js"
import type { RequestRecord } from "../http/RequestLog.js"
import type { ClockState } from "../VirtualClock.js"
import * as FaultForm from "./FaultForm.js"
import * as Form from "./Form.js"
import type { Html } from "./Html.js"
import { html } from "./Html.js"
import * as Page from "./Page.js"

/**
 * Requests on the page.
 *
 * @since 0.1.0
 * @category constants
 */
export const requestsShown = 50

/** @since 0.1.0 @category models */
export interface Seen {
  /** The oldest first. */
  readonly requests: ReadonlyArray<RequestRecord>
  readonly counts: ReadonlyArray<readonly [table: string, rows: number]>
  readonly faults: ReadonlyArray<ActiveFault>
  readonly clock: ClockState
}

/** @since 0.1.0 @category models */
export interface Shown {
  readonly message?: Html | undefined
  readonly fault?: Form.Sent
  readonly advance?: Form.Sent
}

/** @since 0.1.0 @category constants */
export const sentences = {
  fault: "The fault is in store.",
  clear: "No call goes wrong any more.",
  advance: "The clock is ahead.",
  reset: "The sandbox is as it was at its first start."
}

const units: ReadonlyArray<readonly [value: string, name: string]> = [
  ["seconds", "seconds"],
  ["minutes", "minutes"],
  ["hours", "hours"],
  ["days", "days"]
]
const millisOf: Readonly<Record<string, number>> = {
  seconds: Duration.toMillis("1 second"),
  minutes: Duration.toMillis("1 minute"),
  hours: Duration.toMillis("1 hour"),
  days: Duration.toMillis("1 day")
}

const advanceFields: ReadonlyArray<Form.Field> = [
  { name: "forward", label: "Forward by", type: "number", required: true },
  { name: "unit", label: "Unit", options: units }
]

/**
 * What the form means in milliseconds; not a number when it means nothing.
 *
 * @since 0.1.0
 * @category reading
 */
export const readAdvance = (form: URLSearchParams): number =>
  Number(form.get("forward") ?? "") * (millisOf[form.get("unit") ?? ""] ?? Number.NaN)

const requestRow = (record: RequestRecord): Html => {
  const { accountId, at, delivered, deliveredStatus, faults, id, method, path, query, reason, rule, status } = record
  return html`<tr>
<th scope="row">${id}</th>
<td>${Page.moment(at)}</td>
<td class="long"><span class="method">${method}</span> ${path}${query !== "" && `?${query}`}</td>
<td>${accountId ?? "none"}</td>
<td class="long">${status ?? "nothing"}${rule !== null && html` <code>${rule}</code>`}${reason !== null && html`
<span class="soft">${reason}</span>`}</td>
<td>${delivered}${deliveredStatus !== null && ` ${deliveredStatus}`}</td>
<td>${faults.join(", ")}</td>
</tr>`
}

const faultRow = ({ fault, hits, id, remaining }: ActiveFault): Html => {
  const { kind, method = "any method", path = "any path", times: _, ...rest } = fault
  return html`<tr>
<th scope="row">${id}</th>
<td>${kind}</td>
<td class="long">${method === "*" ? "any method" : method} ${path}</td>
<td class="long">${Object.entries(rest).map(([name, value]) => `${name} ${String(value)}`).join(", ")}</td>
<td>${hits}</td>
<td>${remaining ?? "no end"}</td>
</tr>`
}

const requests = (seen: Seen): Html =>
  html`<section aria-labelledby="requests">
<h2 id="requests">Requests</h2>
<p class="actions"><a href="${Page.paths.inspector}">Look again</a>
<button type="button" class="quiet" data-follow="live-requests live-state live-faults live-clock" data-told="follow-told" aria-pressed="false" hidden>Follow</button>
<span id="follow-told" role="status"></span>
<span class="soft">The last ${requestsShown}, the newest first, with the rule that decided.</span></p>
${Page.table(
    "Requests",
    ["Id", "At", "Request", "Account", "Decided", "Delivered", "Faults"],
    seen.requests.toReversed().map(requestRow),
    { id: "live-requests", empty: "Nothing was asked yet." }
  )}
</section>`

const faults = (seen: Seen, sent: Form.Sent): Html =>
  html`<section aria-labelledby="faults">
<h2 id="faults">Faults</h2>
${Page.table("Faults in store", ["Id", "Kind", "Calls", "What", "Hits", "Still to hit"], seen.faults.map(faultRow), {
    id: "live-faults",
    empty: "None."
  })}
${Form.button({ action: Page.paths.inspector, values: { do: "clear" }, text: "Clear all faults", kind: "danger" })}
<h3>Add one</h3>
${FaultForm.view(sent)}
</section>`

const clock = ({ clock: { aheadMillis, now } }: Seen, sent: Form.Sent): Html =>
  html`<section aria-labelledby="clock">
<h2 id="clock">Clock</h2>
<p id="live-clock">${Page.moment(now)}, ${
    aheadMillis === 0 ? "as outside" : `${Duration.format(Duration.millis(aheadMillis))} ahead of the clock outside`
  }.</p>
<form method="post" action="${Page.paths.inspector}">
<input type="hidden" name="do" value="advance">
<div class="fields">${advanceFields.map((field) => Form.field(sent, field))}</div>
<button type="submit">Move the clock</button>
</form>
</section>`

const state = ({ counts }: Seen): Html =>
  html`<section aria-labelledby="state">
<h2 id="state">State</h2>
${Page.table(
    "Rows of each table",
    ["Table", "Rows"],
    counts.map(([name, rows]) => html`<tr><th scope="row">${name.replaceAll("_", " ")}</th><td>${rows}</td></tr>`),
    { id: "live-state" }
  )}
<details><summary>Back to the seed</summary>
<p>Everything that was done is forgotten: accounts, keys, posts, faults, requests.</p>
${Form.button({ action: Page.paths.inspector, values: { do: "reset" }, text: "Reset the sandbox", kind: "danger" })}
</details>
</section>`

/** @since 0.1.0 @category pages */
export const page = (seen: Seen, { advance = Form.nothing, fault = Form.nothing, message }: Shown): HttpServerResponse =>
  Page.page({
    path: Page.paths.inspector,
    title: "Inspector",
    status: (fault.error ?? advance.error)?.status ?? 200,
    lead: "What is asked of the interface, and what the sandbox makes of it.",
    message: message ?? Form.refusal(fault, FaultForm.fields) ?? Form.refusal(advance, advanceFields),
    body: html`${requests(seen)}
${faults(seen, fault)}
${clock(seen, advance)}
${state(seen)}`
  })
