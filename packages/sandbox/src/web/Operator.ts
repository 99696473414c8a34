/**
 * The operator's page: decide on access requests, and suspend, revoke and restore access. On the real service a person does
 * this; here every visitor of the page can.
 *
 * Source: interface v1, "Rules for getting access" and "States and transitions".
 */
import type { AccessTransition } from "@plaza/domain/DeveloperAccess"
import * as DeveloperAccess from "@plaza/domain/DeveloperAccess"
import { ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AccessRequest } from "../access/AccessRequests.ts"
import { AccessRequests } from "../access/AccessRequests.ts"
import type { Account } from "../access/AccountsRepo.ts"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import { shown } from "./SignIn.ts"

const path = Layout.paths.operator

const sentences = {
  approve:
    html`Request approved and access granted. The account now creates keys on <a href="${Layout.paths.developers}">its Developers page</a>.`,
  decline: "Request declined.",
  grant: "Access granted.",
  suspend: "Access suspended: every call is refused.",
  revoke: "Access revoked: every call is refused.",
  restore: "Access restored."
}

const declining: Layout.Question = {
  title: "Decline this request?",
  text: "A decision is final. The account can request access again.",
  button: "Decline"
}
const revoking: Layout.Question = {
  title: "Revoke the access of this account?",
  text: "Every call of its keys is refused from now on. You can restore the access later.",
  button: "Revoke access"
}

const transitions: ReadonlyArray<readonly [AccessTransition, string]> = [
  ["grant", "Grant"],
  ["suspend", "Suspend"],
  ["revoke", "Revoke"],
  ["restore", "Restore"]
]
const isTransition = (name: string): name is AccessTransition => transitions.some(([known]) => known === name)
const isDecision = (decision: string): decision is "approve" | "decline" => decision === "approve" || decision === "decline"

/** The number of decided requests on the page. */
const decidedShown = 20

interface RequestWithUsername {
  readonly request: AccessRequest
  readonly account: string
}

const details = ({ account, request: { createdAt, useCase, website } }: RequestWithUsername): Html =>
  html`<dl class="facts">
<dt>Account</dt><dd>${account}</dd>
<dt>Use case</dt><dd class="kept">${useCase}</dd>
<dt>Website</dt><dd>${website === null ? "none" : html`<a href="${website}" rel="noreferrer nofollow">${website}</a>`}</dd>
<dt>Requested</dt><dd>${Layout.timestamp(createdAt)}</dd>
</dl>`

const decision = (id: string, decided: "approve" | "decline", text: string, botName: string) =>
  Form.button({
    action: path,
    values: { do: "decide", request: id, decision: decided },
    text,
    of: botName,
    ...(decided === "decline" ? { kind: "danger", question: declining } : {})
  })

const pendingRequest = (item: RequestWithUsername): Html => {
  const { botName, id } = item.request
  return html`<article aria-labelledby="${id}">
<h3 id="${id}">${botName}</h3>
${details(item)}
<div class="actions">${decision(id, "approve", "Approve", botName)}${decision(id, "decline", "Decline", botName)}</div>
</article>`
}

const decidedRequest = (item: RequestWithUsername): Html =>
  html`<article aria-labelledby="${item.request.id}">
<h3 id="${item.request.id}">${item.request.botName} ${Layout.badge(item.request.status)}</h3>
<details><summary aria-label="Request of ${item.request.botName}">Request</summary>${details(item)}</details>
</article>`

const accountRow = ({ access, cover, id, name, photo, username }: Account): Html =>
  html`<tr>
<th scope="row">${username}<br><span class="soft">${name}</span></th>
<td>${Layout.badge(access)}</td>
<td>${photo ? "photo" : html`<span class="badge note">no photo</span>`} ${
    cover ? "cover" : html`<span class="badge note">no cover</span>`
  }</td>
<td><div class="actions">${
    transitions.filter(([transition]) => Result.isSuccess(DeveloperAccess.transitionAccess(access, transition))).map(([transition, text]) =>
      Form.button({
        action: path,
        values: { do: "transition", account: id, transition },
        text,
        of: username,
        ...(transition === "revoke" ? { kind: "danger", question: revoking } : { kind: "quiet" })
      })
    )
  }</div></td>
</tr>`

const view = ({ accounts, decided, pending, request, start }: {
  readonly request: Layout.PageRequest
  readonly start: string
  readonly pending: ReadonlyArray<RequestWithUsername>
  readonly decided: ReadonlyArray<RequestWithUsername>
  readonly accounts: ReadonlyArray<Account>
}) =>
  Layout.page({
    path,
    title: "Operator",
    lead: "On the real service a person reviews every request. Here you decide.",
    message: Layout.done(request, sentences),
    body: html`<section aria-labelledby="pending">
<h2 id="pending">Pending requests</h2>
${
      pending.length === 0
        ? html`<p class="empty">No pending requests. An account requests access on <a href="${Layout.paths.developers}">its Developers page</a>.</p>`
        : pending.map(pendingRequest)
    }
</section>
<section aria-labelledby="accounts">
<h2 id="accounts">Developer access by account</h2>
<form method="get" action="${path}" class="filters" role="search" aria-label="Filter accounts">
<div class="field wide"><label for="start">Username starts with</label><input id="start" name="start" type="search" value="${start}"></div>
<div class="actions"><button type="submit" class="quiet">Filter</button></div>
</form>
${
      accounts.length === 0
        ? html`<p class="empty">No username starts with this text. <a href="${path}">Show all accounts</a></p>`
        : Layout.table("Accounts", ["Account", "Access", "Profile", "Action"], accounts.map(accountRow), { kind: "stack" })
    }
</section>
${
      decided.length > 0 && html`<section aria-labelledby="decided">
<h2 id="decided">Recent decisions</h2>
${decided.map(decidedRequest)}
</section>`
    }
${accounts.length === shown && html`<p class="soft small">The list shows the first ${shown} accounts.</p>`}`
  })

export const routes = Effect.gen(function*() {
  const accounts = yield* AccountsRepo
  const requests = yield* AccessRequests

  const named = (request: AccessRequest): RequestWithUsername => ({
    request,
    account: accounts.find(request.accountId)?.username ?? request.accountId
  })

  return [
    {
      method: "GET",
      path,
      handle: (request) =>
        Effect.sync(() => {
          const start = (request.query.get("start") ?? "").trim()
          const all = requests.list()
          return view({
            request,
            start,
            pending: all.filter(({ status }) => status === "pending").map(named),
            decided: all.filter(({ status }) => status !== "pending").slice(0, decidedShown).map(named),
            accounts: accounts.findByPrefix(start, shown)
          })
        })
    },
    {
      method: "POST",
      path,
      handle: Layout.byAction({
        decide: (request) => {
          const decision = request.form.get("decision") ?? ""
          const decide: Layout.Route["handle"] = ({ form }) =>
            isDecision(decision)
              ? Effect.as(requests.decide(form.get("request") ?? "", decision), Layout.seeOther(path, decision))
              : Effect.fail(new ValidationError({ message: "the decision must be approve or decline" }))
          return (decision === "decline" ? Layout.confirmed(path, declining, decide) : decide)(request)
        },
        transition: (request) => {
          const transition = request.form.get("transition") ?? ""
          const apply: Layout.Route["handle"] = ({ form }) =>
            isTransition(transition)
              ? Effect.as(requests.transition(form.get("account") ?? "", transition), Layout.seeOther(path, transition))
              : Effect.fail(new ValidationError({ message: "the transition must be grant, suspend, revoke or restore" }))
          return (transition === "revoke" ? Layout.confirmed(path, revoking, apply) : apply)(request)
        }
      })
    }
  ] satisfies ReadonlyArray<Layout.Route>
})
