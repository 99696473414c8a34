/** The HTML of the Developers page. */
import { maxActiveKeys } from "@plaza/domain/Limits"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import type { AccessRequest } from "../access/AccessRequests.ts"
import type { Account } from "../access/AccountsRepo.ts"
import type { CreatedKey, ListedKey } from "../access/Keys.ts"
import type { Assumptions } from "../Assumptions.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import * as Shells from "./Shells.ts"
import * as SignIn from "./SignIn.ts"

/** A scope with the calls that it allows. */
export interface ScopeUse {
  readonly scope: string
  /** Method and path of each call. */
  readonly calls: ReadonlyArray<string>
}

/** The data on the page. */
interface DevelopersData {
  readonly account: Account
  /** Newest first. */
  readonly requests: ReadonlyArray<AccessRequest>
  /** Newest first. */
  readonly keys: ReadonlyArray<ListedKey>
  readonly scopes: ReadonlyArray<ScopeUse>
  readonly assumed: Assumptions
  /** Of the interface. */
  readonly baseUrl: string
}

/** The result of a submitted form, if any. */
export interface FormResult {
  readonly message?: Html | undefined
  readonly request?: Form.Submission
  readonly key?: Form.Submission
  /** The new key. Its value is shown only this time. */
  readonly created?: CreatedKey
}

const decide = (text: string): Html => html`<a href="${Layout.paths.operator}">${text} on the Operator page</a>`

export const sentences = {
  created: "Key created.",
  requested: html`Request sent. On the real service a person reviews it, here that is you: ${decide("decide")}.`,
  revoked: "Key revoked. Every later call with it is refused."
}

const requestFields = (assumed: Assumptions): ReadonlyArray<Form.Field> => [
  {
    name: "useCase",
    label: "Use case",
    hint: "Describe what the integration does.",
    required: true,
    long: true,
    max: assumed.maxUseCaseLength
  },
  {
    name: "website",
    label: "Website",
    hint: "An address that starts with http:// or https://.",
    type: "url",
    max: assumed.maxWebsiteLength
  },
  {
    name: "botName",
    label: "Bot name",
    hint: "Shown to the operator and in the list of keys.",
    required: true,
    max: assumed.maxBotNameLength
  }
]
const keyName = (assumed: Assumptions): Form.Field => ({
  name: "name",
  label: "Name",
  hint: "Use one key for each integration, and name it after the integration.",
  required: true,
  max: assumed.maxKeyNameLength
})
export const revoking: Layout.Question = {
  title: "Revoke this key?",
  text: "This can't be undone. Integrations with this key stop working.",
  button: "Revoke key"
}
const scopesField = { name: "scopes", label: "Scopes" }

const requestForm = (assumed: Assumptions, submission: Form.Submission): Html =>
  html`<form method="post" action="${Layout.paths.developers}">
<input type="hidden" name="do" value="request">
${requestFields(assumed).map((field) => Form.field(submission, field))}
<button type="submit">Request access</button>
</form>`

const requestDetails = ({ botName, createdAt, decidedAt, status, useCase, website }: AccessRequest): Html =>
  html`<dl class="facts">
<dt>Status</dt><dd>${Layout.badge(status)}</dd>
<dt>Use case</dt><dd class="kept">${useCase}</dd>
<dt>Website</dt><dd>${website ?? "none"}</dd>
<dt>Bot name</dt><dd>${botName}</dd>
<dt>Requested</dt><dd>${Layout.timestamp(createdAt)}</dd>
${decidedAt !== null && html`<dt>Decided</dt><dd>${Layout.timestamp(decidedAt)}</dd>`}
</dl>`

const accessTexts = {
  none: undefined,
  granted: "This account has developer access.",
  suspended: "The operator has suspended the developer access of this account: every call of its keys is refused.",
  revoked: "The operator has revoked the developer access of this account: every call of its keys is refused."
} as const

const access = ({ account, assumed, requests }: DevelopersData, submission: Form.Submission): Html => {
  const [latest, ...earlier] = requests
  const mayRequest = account.access === "none" && latest?.status !== "pending"
  return html`<section aria-labelledby="access">
<h2 id="access">Access</h2>
${account.access !== "none" && html`<p>${Layout.badge(account.access)} ${accessTexts[account.access]}</p>`}
${latest !== undefined && html`<h3>Your request</h3>${requestDetails(latest)}`}
${latest?.status === "pending" && html`<p>${decide("Decide on it")}. Once it is approved, you can create keys here.</p>`}
${mayRequest && latest !== undefined && html`<h3>Request again</h3>`}
${mayRequest && requestForm(assumed, submission)}
${earlier.length > 0 && html`<details><summary>Earlier requests</summary>${earlier.map(requestDetails)}</details>`}
</section>`
}

const keyRow = ({ createdAt, id, masked, name, scopes, state }: ListedKey, botName: string | undefined): Html =>
  html`<tr>
<th scope="row">${name}${botName !== undefined && html`<br><span class="soft">${botName}</span>`}</th>
<td>${Layout.badge(state)}</td>
<td><code>${masked}</code></td>
<td class="long">${scopes.join(", ")}</td>
<td data-label="Created">${Layout.timestamp(createdAt)}</td>
<td>${
    state === "active" &&
    Form.button({
      action: Layout.paths.developers,
      values: { do: "revoke", key: id },
      text: "Revoke",
      of: `${name}, ${masked}`,
      kind: "danger",
      question: revoking
    })
  }</td>
</tr>`

const keyForm = ({ assumed, scopes }: DevelopersData, submission: Form.Submission): Html =>
  html`<h3>Create a key</h3>
<form method="post" action="${Layout.paths.developers}">
<input type="hidden" name="do" value="create">
${Form.field(submission, keyName(assumed))}
<fieldset id="scopes"><legend>Scopes</legend>
<p class="soft">The key has only the selected scopes. All names except posts:write are <span class="badge note">assumed</span></p>
<div class="all">${Form.checkbox("all", "yes", html`<strong>All ${scopes.length} scopes</strong>`, submission.values.has("all"))}</div>
<div class="choices">${
    scopes.map(({ calls, scope }) =>
      Form.checkbox("scopes", scope, html`${scope} <span class="soft">${calls.join(", ")}</span>`, submission.values.has("scopes", scope))
    )
  }</div>
</fieldset>
<button type="submit">Create key</button>
</form>`

const secret = ({ apiKey }: CreatedKey, baseUrl: string): Html =>
  html`<section aria-labelledby="new-key">
<h2 id="new-key">Your new key</h2>
<p>Copy it now: it is shown only once. After a reload it is gone.</p>
${Layout.copyable("key-value", "the value of the new key", Redacted.value(apiKey))}
<h3>Environment variables</h3>
${Shells.view(baseUrl, Redacted.value(apiKey), "new-key")}
</section>`

const keys = (data: DevelopersData, submission: Form.Submission): Html => {
  const { account, keys, requests } = data
  const active = keys.filter(({ state }) => state === "active").length
  const botName = requests.find(({ status }) => status === "approved")?.botName
  return html`<section aria-labelledby="keys">
<h2 id="keys">Keys</h2>
<p>${active} of at most ${maxActiveKeys} keys are active.</p>
${
    keys.length > 0 &&
    Layout.table("Your keys", ["Name", "State", "Value", "Scopes", "Created", "Action"], keys.map((key) => keyRow(key, botName)), {
      kind: "stack"
    })
  }
${
    account.access === "granted" && (active < maxActiveKeys
      ? keyForm(data, submission)
      : html`<p>Revoke a key before you create another one.</p>`)
  }
</section>`
}

const profile = ({ cover, photo }: Account): Html | false => {
  const missing = [!photo && "photo", !cover && "cover"].filter((part) => part !== false).join(" and no ")
  return missing !== "" && Layout.note(
    html`This account has no ${missing}. Until it has both, every write with its keys is refused with <code>PROFILE_INCOMPLETE</code>. An integration with its own account must have both before it requests access.`
  )
}

export const page = (data: DevelopersData, result: FormResult): HttpServerResponse => {
  const { account } = data
  const { created, key = Form.empty, request = Form.empty } = result
  return Layout.page({
    path: Layout.paths.developers,
    title: "Developers",
    status: (request.error ?? key.error)?.status ?? 200,
    lead: html`Settings of your account on the service.`,
    message: result.message ?? Form.errorMessage(request, requestFields(data.assumed)) ??
      Form.errorMessage(key, [keyName(data.assumed), scopesField]),
    body:
      html`<div class="actions"><span>Signed in as <strong>${account.username}</strong></span> <a href="${Layout.paths.signIn}">Switch account</a> ${SignIn.signOutButton}</div>
${profile(account)}
${created !== undefined && secret(created, data.baseUrl)}
${access(data, request)}
${(account.access !== "none" || data.keys.length > 0) && keys(data, key)}`
  })
}
