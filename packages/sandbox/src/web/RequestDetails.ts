/** The HTML of one request in detail. */
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type { Commit } from "../http/Commits.ts"
import type { RequestDetail } from "../http/RequestLog.ts"
import type { RecordedBody } from "../http/RequestMessages.ts"
import type { Call } from "./Calls.ts"
import * as Curl from "./Curl.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import { operationPath } from "./ReferencePages.ts"
import { delivery, type Names, took } from "./RequestList.ts"

/** The data on the page. */
interface RequestData {
  readonly detail: RequestDetail
  readonly names: Names
  /** Why it can't be sent again. */
  readonly obstacle: string | undefined
  readonly baseUrl: string
  /** The call that it belongs to. */
  readonly call: Call
  /** What the service carried out for it, also after its response. */
  readonly commit: Pick<Commit, "createdId" | "isLate"> | "forgotten" | undefined
}

/** Ids of the neighbours in the log. */
interface Neighbours {
  readonly previous: string | undefined
  readonly next: string | undefined
}

export const sentences = { replay: "Request sent again. This is the new request." }

const indented = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const bytes = (size: number | null): string =>
  size === null ? "unknown size" : `${size.toLocaleString("en")} ${size === 1 ? "byte" : "bytes"}`

/** A recorded body, JSON with line breaks. */
export const body = (id: string, name: string, { contentType, form, size, text, truncated }: RecordedBody): Html => {
  const facts = [contentType, bytes(size)].filter((fact) => fact !== null).join(", ")
  switch (form) {
    case "empty":
      return html`<p class="soft">No body.</p>`
    case "binary":
      return html`<p>Binary: ${facts}.</p>`
    case "unread":
      return html`<p>${facts}. The sandbox responded without reading it.</p>`
    case "text":
      return html`<p class="soft small">${facts}${truncated && ". Only the beginning is recorded"}</p>
<pre id="${id}" class="wrap body" role="region" tabindex="0" aria-label="${name}">${truncated ? text : indented(text ?? "")}</pre>`
  }
}

const headers = (name: string, values: Readonly<Record<string, string>>, isOpen: boolean): Html =>
  html`<details${isOpen && " open"}><summary>${Object.keys(values).length} headers</summary>
<div><dl class="facts mono" aria-label="Headers of the ${name}">${
    Object.entries(values).map(([header, value]) => html`<dt>${header}</dt><dd>${value}</dd>`)
  }</dl></div></details>`

const messages = ({ delivered, messages }: RequestDetail, isBeside: boolean): Html =>
  messages === null
    ? Layout.note(
      delivered === "waiting"
        ? "The request waits for its response. Reload this page to see its headers and bodies."
        : "The sandbox no longer keeps the headers and bodies of this request: newer requests have taken their room."
    )
    : html`<div class="columns">
<section aria-labelledby="sent"><h2 id="sent">Request</h2>${headers("request", messages.request.headers, !isBeside)}
<h3>Body</h3>${body("request-body", "Body of the request", messages.request.body)}</section>
<section aria-labelledby="received"><h2 id="received">Response ${Layout.status(messages.response?.status ?? null)}</h2>${
      messages.response === null
        ? html`<p>The caller received no response: the connection was closed.</p>`
        : html`${headers("response", messages.response.headers, !isBeside)}
<h3>Body</h3>${body("response-body", "Body of the response", messages.response.body)}`
    }</section></div>`

const values = (fields: object): Html =>
  html`<dl class="facts mono">${
    Object.entries(fields).map(([name, value]) =>
      html`<dt>${name}</dt><dd>${typeof value === "string" ? value : JSON.stringify(value)}</dd>`
    )
  }</dl>`

const influences = ({ faults, messages }: RequestDetail): Html | false => {
  const { appliedFaults = [], latitude = {} } = messages ?? {}
  const changed = Object.keys(latitude).length
  return (faults.length > 0 || changed > 0) && html`<section aria-labelledby="influences">
<h2 id="influences">${changed > 0 ? "Faults and service variant" : "Faults"}</h2>
${faults.length > 0 && html`<h3>${faults.join(", ")}</h3>${appliedFaults.map(values)}`}
${
    changed > 0 &&
    html`<details><summary>${changed} fields of the service variant differed from the default</summary><div>${
      values(latitude)
    }</div></details>`
  }
</section>`
}

/** Whether the service variant can carry a failed request out after its response. */
const mayBeLate = ({ deliveredStatus, messages }: RequestDetail): boolean =>
  (deliveredStatus === null || deliveredStatus >= 500) && messages?.latitude["lateCommitMillis"] !== undefined

/** The change of a write. */
const effect = ({ commit, detail }: RequestData): Html | false =>
  detail.method !== "GET" && detail.delivered !== "waiting" && html`<dt>Effect</dt><dd>${
    commit === "forgotten"
      ? "no longer known: newer writes have taken its room"
      : commit === undefined
      ? mayBeLate(detail) ? "none so far: this service variant can carry it out late" : "none: the service changed nothing"
      : html`carried out${commit.isLate && " after the response"}${
        commit.createdId !== null && html`: created <code>${commit.createdId}</code>`
      }`
  }</dd>`

/** So many attempts of a call are listed: the first ones, those around the request, and the last one. */
const firstListed = 3
const nearListed = 8

const attempts = ({ call, detail: { id } }: RequestData, link: (id: string) => string): Html | false => {
  const position = call.findIndex(({ record }) => record.id === id)
  const isListed = (index: number) => index < firstListed || Math.abs(index - position) <= nearListed || index === call.length - 1
  return call.length > 1 && html`<section aria-labelledby="attempts"><h2 id="attempts">Requests of this call</h2>
<ol class="attempts">${
    call.map(({ isFound, record, role }, index) => {
      if (!isListed(index)) return false
      const text = html`${Layout.method(record.method)} <code>${record.path}</code>`
      return html`<li value="${index + 1}">${
        record.id === id ? html`<strong aria-current="true">${text}</strong>` : html`<a href="${link(record.id)}" data-open>${text}</a>`
      } ${delivery(record)}${
        role === "check" && isFound !== undefined &&
        html` <span class="soft">${isFound ? "lists the post" : "does not list the post"}</span>`
      }</li>`
    })
  }</ol>
<p class="soft small">The sandbox infers this from what was sent: the same request from the same program after a failure, or a list of posts that looks for a lost one.</p></section>`
}

/** The request in detail, on a page of its own or beside the list. */
export const content = (
  data: RequestData,
  { filter, link }: {
    /** The filter of the list beside which it is shown; undefined on a page of its own. */
    readonly filter?: string
    readonly link: (id: string) => string
  }
): Html => {
  const { baseUrl, detail, names, obstacle } = data
  const { accountId, at, durationMillis, id, keyId, method, operation, path, query, reason, rule, status } = detail
  return html`<section aria-labelledby="summary">
<h2 id="summary">${Layout.method(method)} <code>${path}${query !== "" && `?${query}`}</code></h2>
<dl class="facts">
<dt>Response</dt><dd>${delivery(detail)}${
    status !== detail.deliveredStatus && html` <span class="soft">The service's own status: ${status ?? "none"}.</span>`
  }</dd>
${effect(data)}
<dt>Deciding rule</dt><dd><code>${rule ?? "undecided"}</code>${reason !== null && html` <span class="soft">${reason}</span>`}</dd>
<dt>Operation</dt><dd>${operation === null ? "unknown route" : html`<a href="${operationPath(operation)}">${operation}</a>`}</dd>
<dt>Time</dt><dd>${Layout.timestamp(at)}${durationMillis === null ? ", waiting for its response" : `, took ${took(durationMillis)}`}</dd>
<dt>Key</dt><dd>${keyId === null ? "none, or unknown" : html`${names.keys.get(keyId)} <span class="soft">${keyId}</span>`}</dd>
<dt>Account</dt><dd>${accountId === null ? "none" : html`${names.accounts.get(accountId)} <span class="soft">${accountId}</span>`}</dd>
</dl>
<div class="actions">${
    obstacle === undefined
      ? Form.button({
        action: Layout.paths.request,
        values: { do: "replay", request: id, ...(filter === undefined ? {} : { beside: "yes", filter }) },
        text: "Send again"
      })
      : html`<p class="soft">It can't be sent again. ${obstacle}</p>`
  }</div>
</section>
${attempts(data, link)}
${messages(detail, filter !== undefined)}
${influences(detail)}
<section aria-labelledby="as-curl"><h2 id="as-curl">As curl</h2>
${Layout.snippet("curl", "the curl command", Curl.format(baseUrl, detail))}
</section>`
}

export const page = (data: RequestData, { next, previous }: Neighbours, message: Html | undefined): HttpServerResponse => {
  const link = (id: string) => `${Layout.paths.request}?id=${id}`
  const neighbour = (id: string | undefined, text: string) =>
    id === undefined ? html`<span class="soft">${text}</span>` : html`<a href="${link(id)}">${text}</a>`
  return Layout.page({
    path: Layout.paths.request,
    title: `Request ${data.detail.id}`,
    message,
    body: html`<p class="actions"><a href="${Layout.paths.console}">All requests</a> ${neighbour(previous, "Previous")} ${
      neighbour(next, "Next")
    }</p>
${content(data, { link })}`
  })
}
