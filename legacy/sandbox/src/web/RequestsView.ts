/**
 * The HTML of the console's list of requests.
 *
 * @since 0.1.0
 */
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import * as DateTime from "effect/DateTime"
import type { RequestRecord } from "../http/RequestLog.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Page from "./Page.ts"
import type { RequestFilter } from "./RequestFilter.ts"
import * as Filter from "./RequestFilter.ts"

/**
 * The maximum number of requests on the page.
 *
 * @since 0.1.0
 * @category constants
 */
export const shown = 100

/**
 * The names of accounts and keys by their ids.
 *
 * @since 0.1.0
 * @category models
 */
export interface Names {
  readonly accounts: ReadonlyMap<string, string>
  readonly keys: ReadonlyMap<string, string>
}

/** The data on the page. */
interface RequestsData {
  /** Newest first. */
  readonly requests: ReadonlyArray<RequestRecord>
  /** The number of requests that match the filter. */
  readonly matching: number
  /** The number of requests in the log. */
  readonly total: number
  readonly names: Names
  readonly filter: RequestFilter
}

/** @since 0.1.0 @category constants */
export const sentences = { reset: "Sandbox reset." }

/**
 * A duration on one line.
 *
 * @since 0.1.0
 * @category parts
 */
export const took = (millis: number | null): string =>
  millis === null ? "waiting" : millis < 1 ? "< 1 ms" : millis < 10_000 ? `${Math.round(millis)} ms` : `${(millis / 1_000).toFixed(1)} s`

const notes: Readonly<Record<RequestRecord["delivered"], string>> = {
  waiting: "waiting",
  complete: "",
  replaced: "replaced",
  cut: "cut",
  dropped: "dropped",
  abandoned: "closed by the caller"
}

/**
 * The status that the caller received, and how the response differed from the service's own.
 *
 * @since 0.1.0
 * @category parts
 */
export const delivery = ({ delivered, deliveredStatus }: RequestRecord): Html =>
  html`${Page.status(deliveredStatus)}${notes[delivered] !== "" && html` <span class="badge note">${notes[delivered]}</span>`}`

const row = (record: RequestRecord, names: Names): Html => {
  const { accountId, at, durationMillis, faults, id, keyId, method, path, query, reason, rule } = record
  const iso = DateTime.formatIso(at)
  return html`<tr>
<td class="nowrap mono soft"><time datetime="${iso}" title="${iso}">${iso.slice(11, 23)}</time></td>
<th scope="row" class="path"><a href="${Page.paths.request}?id=${id}"><span class="method">${method}</span> <code>${path}${
    query !== "" && `?${query}`
  }</code></a></th>
<td class="nowrap">${delivery(record)}</td>
<td><code>${rule ?? "undecided"}</code>${faults.length > 0 && html` <span class="badge note">${faults.join(", ")}</span>`}${
    reason !== null && reason !== "accepted" && html`<br><span class="soft small">${reason}</span>`
  }</td>
<td class="number" data-label="Took">${took(durationMillis)}</td>
<td class="nowrap" data-label="Key">${keyId === null ? html`<span class="soft">none</span>` : names.keys.get(keyId) ?? keyId}</td>
<td class="nowrap" data-label="Account">${
    accountId === null ? html`<span class="soft">none</span>` : names.accounts.get(accountId) ?? accountId
  }</td>
</tr>`
}

const select = (name: string, label: string, value: string, options: ReadonlyArray<readonly [string, string]>): Html =>
  html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}" data-submit>${
    options.map(([option, text]) => html`<option value="${option}"${option === value && html` selected`}>${text}</option>`)
  }</select></div>`

const filterForm = ({ filter, names }: RequestsData): Html =>
  html`<form method="get" action="${Page.paths.console}" class="filters" role="search" aria-label="Filter requests">
<div class="field wide"><label for="text">Text</label><input id="text" name="text" type="search" value="${filter.text}" placeholder="path, rule, reason, id"></div>
${select("status", "Response", filter.status, Filter.statuses)}
${
    select("account", "Account", filter.account, [
      ["", "any"],
      ...[...names.accounts].toSorted(([, one], [, other]) => one < other ? -1 : 1)
    ])
  }
<div class="actions"><button type="submit" class="quiet">Filter</button>
${Filter.format(filter) !== "" && html`<a href="${Page.paths.console}">Clear</a>`}
<button type="button" class="quiet" data-follow="live-requests live-count" data-status="follow-status" aria-pressed="false" hidden>Live</button></div>
</form>`

const emptyText = ({ total }: RequestsData): Html =>
  total === 0
    ? html`No requests yet. <a href="${Page.paths.home}">Send the first one from the home page</a>, or call the interface with curl.`
    : html`No request matches the filter. <a href="${Page.paths.console}">Show all requests</a>`

/** @since 0.1.0 @category pages */
export const page = (data: RequestsData, message: Html | undefined): HttpServerResponse =>
  Page.page({
    path: Page.paths.console,
    title: "Console",
    message,
    body: html`${filterForm(data)}
<p class="soft small"><span id="live-count">${
      data.matching > shown
        ? `The newest ${shown} of ${data.matching} requests`
        : `${data.matching} ${data.matching === 1 ? "request" : "requests"}`
    }${data.matching < data.total && `, ${data.total} in all`}</span>. <a href="${Page.paths.console}${
      Filter.format(data.filter)
    }">Refresh</a> · <a href="${Page.paths.har}${
      Filter.format(data.filter)
    }" download>Export as HAR</a> <span id="follow-status" role="status"></span></p>
<section>
${
      Page.table(
        "Requests",
        ["Time (UTC)", "Request", "Response", "Deciding rule", "Took", "Key", "Account"],
        data.requests.map((record) => row(record, data.names)),
        { id: "live-requests", empty: emptyText(data), kind: "log stack" }
      )
    }
</section>`
  })
