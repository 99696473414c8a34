/**
 * The home page: the base URL and the seeded key, settings for a shell, a first request, and links to all pages.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Keys from "../access/Keys.ts"
import { RequestLog } from "../http/RequestLog.ts"
import type { RequestDetail } from "../http/RequestLog.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { Seeding } from "../seeding/Seeding.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Page from "./Page.ts"
import * as Replay from "./Replay.ts"
import { delivery, took } from "./RequestsView.ts"
import { body } from "./RequestView.ts"

const path = Page.paths.home

const next: ReadonlyArray<readonly [path: string, name: string, text: string]> = [
  [Page.paths.console, "Console", "Every request with its rule, headers and bodies. Send it again, or export it."],
  [Page.paths.state, "State", "Accounts, posts, products, orders and conversations. Change stock and profiles."],
  [Page.paths.faults, "Faults", "Make calls fail, hang or break off, before or after the commit."],
  [Page.paths.behaviour, "Behaviour", "Advance the clock. Vary what the document lets a service choose."],
  [Page.paths.snapshots, "Snapshots", "Save the data under a name, restore it, or reset the sandbox."],
  [Page.paths.developers, "Developers", "Request access, and create and revoke keys, as on the real service."],
  [Page.paths.operator, "Operator", "Decide on requests for access. Suspend, revoke and restore access."],
  [Page.paths.reference, "Reference", "Every operation with parameters, responses, errors and examples."],
  [Page.paths.openApi, "openapi.json", "The reference as an OpenAPI document."]
]

const shells = (baseUrl: string, key: string): Html =>
  html`<details name="shell" open><summary>sh, bash, zsh</summary>${
    Page.snippet("sh", "the lines for sh", `export PLAZA_BASE_URL=${baseUrl}\nexport PLAZA_API_KEY=${key}`)
  }</details>
<details name="shell"><summary>fish</summary>${
    Page.snippet("fish", "the lines for fish", `set -gx PLAZA_BASE_URL ${baseUrl}\nset -gx PLAZA_API_KEY ${key}`)
  }</details>
<details name="shell"><summary>PowerShell</summary>${
    Page.snippet("powershell", "the lines for PowerShell", `$env:PLAZA_BASE_URL = "${baseUrl}"\n$env:PLAZA_API_KEY = "${key}"`)
  }</details>`

const result = (detail: RequestDetail): Html =>
  html`<div class="result" role="region" aria-label="Response">
<p><span class="method">${detail.method}</span> <code>${detail.path}</code> ${delivery(detail)} <span class="soft">${
    took(detail.durationMillis)
  }</span> <a href="${Page.paths.request}?id=${detail.id}">Headers and details</a></p>
${
    detail.messages?.response === null || detail.messages === null
      ? html`<p>The caller received no response: the connection was closed.</p>`
      : body("first-body", detail.messages.response.body)
  }
</div>`

const view = ({ addresses, key, origin, tried }: {
  readonly addresses: { readonly interface: string; readonly control: string }
  readonly origin: string
  readonly key: string
  readonly tried: RequestDetail | undefined
}) => {
  const baseUrl = `${origin}${addresses.interface}`
  return Page.page({
    path,
    title: Page.site,
    lead: "The whole interface as a local service, with the document's rules enforced and faults on request.",
    body: html`<div class="columns">
<section aria-labelledby="connect">
<h2 id="connect">Connect</h2>
<h3>Base URL</h3>
${Page.copyable("base-url", "the base URL", baseUrl)}
<h3>API key</h3>
${Page.copyable("key", "the API key", key)}
<p class="soft small">The key of the seeded shop <strong>corner-shop</strong>, with all scopes. It is derived from the seed, so it is public. It is no key of the real service.</p>
<h3>Environment variables</h3>
${shells(baseUrl, key)}
<h3>Control API</h3>
${Page.copyable("control-url", "the address of the control API", `${origin}${addresses.control}`)}
</section>
<section aria-labelledby="first">
<h2 id="first">First request</h2>
<p>Read the shop's own account:</p>
${Page.snippet("curl", "the curl command", `curl -H "Authorization: Bearer $PLAZA_API_KEY" "$PLAZA_BASE_URL/me"`)}
${Form.button({ action: path, values: { do: "try" }, text: tried === undefined ? "Send it from here" : "Send it once more" })}
${tried !== undefined && result(tried)}
<h3>With the command-line program</h3>
${Page.snippet("plaza", "the plaza commands", "plaza me\nplaza posts list --limit 3")}
</section>
</div>
<h2>What comes next</h2>
<ul class="cards">${next.map(([to, name, text]) => html`<li><a href="${to}">${name}</a><p>${text}</p></li>`)}</ul>`
  })
}

/** @since 0.1.0 @category pages */
export const routes = (addresses: { readonly interface: string; readonly control: string }) =>
  Effect.gen(function*() {
    const { seed } = yield* Seeding
    const latitude = yield* CurrentLatitude
    const log = yield* RequestLog
    const replay = yield* Replay.make
    const seededKey = Effect.map(seed, (seed) => Redacted.value(Keys.withPrefix(Keys.seeded(seed), latitude.value.keyPrefix)))

    return [
      {
        method: "GET",
        path,
        handle: ({ origin, query }) =>
          Effect.gen(function*() {
            return view({ addresses, origin, key: yield* seededKey, tried: yield* log.detail(query.get("tried") ?? "") })
          })
      },
      {
        method: "POST",
        path,
        handle: Page.byAction({
          try: () =>
            Effect.gen(function*() {
              const id = yield* replay.send({
                method: "GET",
                url: `${addresses.interface}/me`,
                headers: { authorization: `Bearer ${yield* seededKey}`, accept: "application/json" },
                hasBody: false,
                body: undefined
              })
              return Page.seeOther(`${path}?tried=${id}#first`)
            })
        })
      }
    ] satisfies ReadonlyArray<Page.Route>
  })
