/** The console's list of requests: its filter and its HTML. */
import * as DateTime from "effect/DateTime"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type { RequestRecord } from "../http/RequestLog.ts"
import type { Call } from "./Calls.ts"
import * as Calls from "./Calls.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"

export interface RequestFilter {
  /** A part of the request, its rule or its reason. */
  readonly text: string
  /** A value of {@link statuses}; empty for any. */
  readonly status: string
  readonly account: string
}

/** The choices of a status. */
const statuses: ReadonlyArray<readonly [value: string, name: string]> = [
  ["", "any"],
  ["2", "2xx"],
  ["3", "3xx"],
  ["4", "4xx"],
  ["5", "5xx"],
  ["none", "no response"],
  ["fault", "hit by a fault"]
]

export const readFilter = (query: URLSearchParams): RequestFilter => ({
  text: (query.get("text") ?? "").trim(),
  status: query.get("status") ?? "",
  account: query.get("account") ?? ""
})

/** The filter as a query with its question mark; empty without a filter. */
export const format = (filter: RequestFilter): string => {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== "")).toString()
  return query === "" ? "" : `?${query}`
}

const hasStatus = ({ deliveredStatus, faults }: RequestRecord, status: string): boolean =>
  status === "" || (status === "none"
    ? deliveredStatus === null
    : status === "fault"
    ? faults.length > 0
    : deliveredStatus !== null && String(deliveredStatus).startsWith(status))

export const matches = ({ account, status, text }: RequestFilter): (record: RequestRecord) => boolean => {
  const wanted = text.toLowerCase()
  return (record) =>
    hasStatus(record, status) && (account === "" || record.accountId === account) &&
    (wanted === "" ||
      [`${record.method} ${record.path}?${record.query}`, record.id, record.operation, record.rule, record.reason, record.deliveredStatus]
        .some((part) => String(part ?? "").toLowerCase().includes(wanted)))
}

/** The maximum number of requests on the page. */
export const shown = 100

/** The names of accounts and keys by their ids. */
export interface Names {
  readonly accounts: ReadonlyMap<string, string>
  readonly keys: ReadonlyMap<string, string>
}

/** A call, and which of its requests match the filter. */
export interface ListedCall {
  readonly call: Call
  readonly matching: ReadonlySet<string>
}

/** The data on the page. */
interface RequestsData {
  /** Newest first. */
  readonly calls: ReadonlyArray<ListedCall>
  /** The number of requests that match the filter. */
  readonly matching: number
  /** The number of requests in the log. */
  readonly total: number
  readonly names: Names
  readonly filter: RequestFilter
  /** Whether the service carried a request out although its caller received no success. */
  readonly wasCarriedOut: (record: RequestRecord) => boolean
  /** How many resources the requests of a call created. */
  readonly createdBy: (call: Call) => number
  /** The request that is open beside the list. */
  readonly opened: { readonly id: string; readonly content: Html } | undefined
  readonly message: Html | undefined
}

/** A duration on one line. */
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

/** The status that the caller received, and how the response differed from the service's own. */
export const delivery = ({ delivered, deliveredStatus }: RequestRecord): Html =>
  html`${Layout.status(deliveredStatus)}${notes[delivered] !== "" && html` <span class="badge note">${notes[delivered]}</span>`}`

/** The address of the list with a request open beside it. */
export const beside = (filter: RequestFilter, id: string): string => {
  const query = format(filter)
  return `${Layout.paths.console}${query}${query === "" ? "?" : "&"}id=${id}#request`
}

const reasonOf = ({ faults, reason, rule }: RequestRecord, wasCarriedOut: boolean): Html =>
  html`<code>${rule ?? "undecided"}</code>${wasCarriedOut && html` <span class="badge bad">carried out</span>`}${
    faults.length > 0 && html` <span class="badge note">${faults.join(", ")}</span>`
  }${reason !== null && reason !== "accepted" && html` <span class="soft">${reason}</span>`}`

const row = (record: RequestRecord, { filter, names, opened, wasCarriedOut }: RequestsData): Html => {
  const { accountId, at, durationMillis, id, keyId, method, path, query, reason } = record
  const iso = DateTime.formatIso(at)
  const account = accountId === null ? undefined : names.accounts.get(accountId) ?? accountId
  const key = keyId === null ? "no known key" : `key ${names.keys.get(keyId) ?? keyId}`
  return html`<tr data-request="${id}"${opened?.id === id && html` aria-current="true"`}>
<td class="time mono soft"><time datetime="${iso}" title="${iso}">${iso.slice(11, 23)}</time></td>
<th scope="row" class="path"><a href="${beside(filter, id)}" data-open title="${method} ${path}${query !== "" && `?${query}`}">${
    Layout.method(method)
  } <code>${path}${query !== "" && `?${query}`}</code></a></th>
<td class="response">${delivery(record)}</td>
<td class="why"${reason !== null && html` title="${reason}"`}>${reasonOf(record, wasCarriedOut(record))}</td>
<td class="number took" data-label="Took">${took(durationMillis)}</td>
<td class="account" data-label="Account" title="${key}">${account ?? html`<span class="soft">none</span>`}</td>
</tr>`
}

const columns: ReadonlyArray<readonly [kind: string, name: string]> = [
  ["time", "Time (UTC)"],
  ["path", "Request"],
  ["response", "Response"],
  ["why", "Deciding rule"],
  ["number took", "Took"],
  ["account", "Account"]
]

const call = ({ call, matching }: ListedCall, data: RequestsData): Html =>
  html`<tbody${call.length > 1 && html` class="call"`}>${
    call.length > 1 &&
    html`<tr class="summary"><th colspan="3" scope="rowgroup"><span class="soft">One call:</span> ${
      Calls.describe(call, data.createdBy(call))
    }</th><td colspan="3" class="why"></td></tr>`
  }${call.map(({ record }) => matching.has(record.id) && row(record, data))}</tbody>`

const select = (name: string, label: string, value: string, options: ReadonlyArray<readonly [string, string]>): Html =>
  html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}" data-submit>${
    options.map(([option, text]) => html`<option value="${option}"${option === value && html` selected`}>${text}</option>`)
  }</select></div>`

const filterForm = ({ filter, names }: RequestsData): Html =>
  html`<form method="get" action="${Layout.paths.console}" class="filters" role="search" aria-label="Filter requests">
<div class="field wide"><label for="text">Text</label><input id="text" name="text" type="search" value="${filter.text}" placeholder="path, rule, reason, id"></div>
${select("status", "Response", filter.status, statuses)}
${
    select("account", "Account", filter.account, [
      ["", "any"],
      ...[...names.accounts].toSorted(([, one], [, other]) => one < other ? -1 : 1)
    ])
  }
<div class="actions"><button type="submit" class="quiet">Filter</button>
${format(filter) !== "" && html`<a href="${Layout.paths.console}">Clear</a>`}
<button type="button" class="quiet" data-follow="live-requests live-count request" data-status="follow-status" aria-pressed="false" hidden>Live</button></div>
</form>`

const emptyText = ({ total }: RequestsData): Html =>
  total === 0
    ? html`No requests yet. <a href="${Layout.paths.home}">Send the first one from the home page</a>, or call the interface with curl.`
    : html`No request matches the filter. <a href="${Layout.paths.console}">Show all requests</a>`

export const page = (data: RequestsData): HttpServerResponse =>
  Layout.page({
    path: Layout.paths.console,
    title: "Console",
    message: data.message,
    body: html`${filterForm(data)}
<p class="soft small"><span id="live-count">${
      data.matching > shown
        ? `The newest ${shown} of ${data.matching} requests`
        : `${data.matching} ${data.matching === 1 ? "request" : "requests"}`
    }${data.matching < data.total && `, ${data.total} in all`}</span>. <a href="${Layout.paths.console}${
      format(data.filter)
    }">Refresh</a> · <a href="${Layout.paths.har}${
      format(data.filter)
    }" download>Export as HAR</a> <span class="keys" data-scripted hidden>· <kbd>j</kbd> and <kbd>k</kbd> open the next and the previous one</span> <span id="follow-status" role="status"></span></p>
<div class="beside${data.opened !== undefined && " open"}" data-beside="live-requests request">
<section class="list" id="list">
<div class="scroll" role="region" tabindex="0" aria-label="Requests, table"><table class="log stack" id="live-requests">
<thead><tr>${columns.map(([kind, name]) => html`<th scope="col" class="${kind}">${name}</th>`)}</tr></thead>
${
      data.calls.length > 0
        ? data.calls.map((listed) => call(listed, data))
        : html`<tbody><tr><td class="empty" colspan="${columns.length}">${emptyText(data)}</td></tr></tbody>`
    }
</table></div>
</section>
<div class="panel" id="request" tabindex="-1" data-of="${data.opened?.id ?? ""}">${
      data.opened !== undefined &&
      html`<p class="actions"><strong>${data.opened.id}</strong> <a href="${Layout.paths.request}?id=${data.opened.id}">Open on a page of its own</a>
<a class="back" href="#list">Back to the list</a> <a href="${Layout.paths.console}${format(data.filter)}" data-close>Close</a></p>
${data.opened.content}`
    }</div>
</div>`
  })
