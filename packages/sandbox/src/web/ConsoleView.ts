/**
 * The HTML of the console.
 *
 * @since 0.1.0
 */
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import * as Duration from "effect/Duration"
import type { ActiveFault } from "../http/Fault.js"
import type { RequestRecord } from "../http/RequestLog.js"
import type { ClockState } from "../VirtualClock.js"
import * as FaultForm from "./FaultForm.js"
import * as Form from "./Form.js"
import type { Html } from "./Html.js"
import { html } from "./Html.js"
import * as Page from "./Page.js"

/**
 * The number of requests on the page.
 *
 * @since 0.1.0
 * @category constants
 */
export const requestsShown = 50

/** The data on the page. */
interface ConsoleData {
  /** Oldest first. */
  readonly requests: ReadonlyArray<RequestRecord>
  readonly counts: ReadonlyArray<readonly [table: string, rows: number]>
  readonly faults: ReadonlyArray<ActiveFault>
  readonly clock: ClockState
}

/**
 * The result of a submitted form, if there is one.
 *
 * @since 0.1.0
 * @category models
 */
export interface FormResult {
  readonly message?: Html | undefined
  readonly fault?: Form.Submission
  readonly advance?: Form.Submission
}

/** @since 0.1.0 @category constants */
export const sentences = {
  fault: "Fault added.",
  clear: "All faults cleared.",
  advance: "Clock advanced.",
  reset: "Sandbox reset."
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
  { name: "forward", label: "Advance by", type: "number", required: true },
  { name: "unit", label: "Unit", options: units }
]

/**
 * Reads the form as milliseconds; not a number if it is invalid.
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
<td>${Page.timestamp(at)}</td>
<td class="long"><span class="method">${method}</span> ${path}${query !== "" && `?${query}`}</td>
<td>${accountId ?? "none"}</td>
<td class="long">${status ?? "none"}${rule !== null && html` <code>${rule}</code>`}${
    reason !== null && html`
<span class="soft">${reason}</span>`
  }</td>
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
<td class="long">${
    Object.entries(rest).map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`).join(", ")
  }</td>
<td>${hits}</td>
<td>${remaining ?? "unlimited"}</td>
</tr>`
}

const requests = (data: ConsoleData): Html =>
  html`<section aria-labelledby="requests">
<h2 id="requests">Requests</h2>
<p class="actions"><a href="${Page.paths.console}">Refresh</a>
<button type="button" class="quiet" data-follow="live-requests live-state live-faults live-clock" data-status="follow-status" aria-pressed="false" hidden>Live</button>
<span id="follow-status" role="status"></span>
<span class="soft">The last ${requestsShown} requests, newest first.</span></p>
${
    Page.table(
      "Requests",
      ["Id", "Time", "Request", "Account", "Decision", "Response", "Faults"],
      data.requests.toReversed().map(requestRow),
      { id: "live-requests", empty: "No requests yet." }
    )
  }
</section>`

const faults = (data: ConsoleData, submission: Form.Submission): Html =>
  html`<section aria-labelledby="faults">
<h2 id="faults">Faults</h2>
${
    Page.table("Active faults", ["Id", "Kind", "Calls", "Details", "Hits", "Remaining"], data.faults.map(faultRow), {
      id: "live-faults",
      empty: "No active faults."
    })
  }
${Form.button({ action: Page.paths.console, values: { do: "clear" }, text: "Clear all faults", kind: "danger" })}
<h3>Add fault</h3>
${FaultForm.view(submission)}
</section>`

const clock = ({ clock: { aheadMillis, now } }: ConsoleData, submission: Form.Submission): Html =>
  html`<section aria-labelledby="clock">
<h2 id="clock">Clock</h2>
<p id="live-clock">${Page.timestamp(now)}, ${
    aheadMillis === 0 ? "the same as the system clock" : `${Duration.format(Duration.millis(aheadMillis))} ahead of the system clock`
  }.</p>
<form method="post" action="${Page.paths.console}">
<input type="hidden" name="do" value="advance">
<div class="fields">${advanceFields.map((field) => Form.field(submission, field))}</div>
<button type="submit">Advance clock</button>
</form>
</section>`

const state = ({ counts }: ConsoleData): Html =>
  html`<section aria-labelledby="state">
<h2 id="state">State</h2>
${
    Page.table(
      "Rows of each table",
      ["Table", "Rows"],
      counts.map(([name, rows]) => html`<tr><th scope="row">${name.replaceAll("_", " ")}</th><td>${rows}</td></tr>`),
      { id: "live-state" }
    )
  }
<details><summary>Reset</summary>
<p>Restores the initial data. Deletes everything else: accounts, keys, posts, faults, requests.</p>
${Form.button({ action: Page.paths.console, values: { do: "reset" }, text: "Reset sandbox", kind: "danger" })}
</details>
</section>`

/** @since 0.1.0 @category pages */
export const page = (data: ConsoleData, { advance = Form.empty, fault = Form.empty, message }: FormResult): HttpServerResponse =>
  Page.page({
    path: Page.paths.console,
    title: "Console",
    status: (fault.error ?? advance.error)?.status ?? 200,
    lead: "Requests, faults, clock and state of this sandbox.",
    message: message ?? Form.errorMessage(fault, FaultForm.fields) ?? Form.errorMessage(advance, advanceFields),
    body: html`${requests(data)}
${faults(data, fault)}
${clock(data, advance)}
${state(data)}`
  })
