/** The home page: a demonstration, the base URL and the seeded key, settings for a shell, a first request, and links to all pages. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Keys from "../access/Keys.ts"
import { RequestLog } from "../http/RequestLog.ts"
import type { RequestDetail } from "../http/RequestLog.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { Seeding } from "../seeding/Seeding.ts"
import * as Curl from "./Curl.ts"
import * as Demonstration from "./Demonstration.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import type * as Replay from "./Replay.ts"
import { body } from "./RequestDetails.ts"
import { delivery, took } from "./RequestList.ts"
import * as Shells from "./Shells.ts"

const path = Layout.paths.home

const sentences = {
  arm: "The next POST /posts fails with 503 after it is stored. Run your program, then look at its requests in the console."
}

const next: ReadonlyArray<readonly [path: string, name: string, text: string]> = [
  [Layout.paths.console, "Console", "Every request with its rule, headers and bodies. Send it again, or export it."],
  [Layout.paths.state, "State", "Accounts, posts, products, orders and conversations. Change stock and profiles."],
  [Layout.paths.faults, "Faults", "Make calls fail, hang or break off, before or after the commit."],
  [Layout.paths.behaviour, "Behaviour", "Advance the clock. Vary what the document lets a service choose."],
  [Layout.paths.snapshots, "Snapshots", "Save the data under a name, restore it, or reset the sandbox."],
  [Layout.paths.developers, "Developers", "Request access, and create and revoke keys, as on the real service."],
  [Layout.paths.operator, "Operator", "Decide on requests for access. Suspend, revoke and restore access."],
  [Layout.paths.reference, "Reference", "Every operation with parameters, responses, errors and examples."],
  [Layout.paths.openApi, "openapi.json", "The reference as an OpenAPI document."]
]

const result = (detail: RequestDetail): Html =>
  html`<div class="result" role="region" aria-label="Response">
<p>${Layout.method(detail.method)} <code>${detail.path}</code> ${delivery(detail)} <span class="soft">${
    took(detail.durationMillis)
  }</span> <a href="${Layout.paths.request}?id=${detail.id}">Headers and details</a></p>
${
    detail.messages?.response === null || detail.messages === null
      ? html`<p>The caller received no response: the connection was closed.</p>`
      : body("first-body", "Body", detail.messages.response.body)
  }
</div>`

const view = ({ addresses, key, message, origin, shown, tried }: {
  readonly message: Html | undefined
  readonly shown: Parameters<typeof Demonstration.view>[0]["shown"]
  readonly addresses: { readonly interface: string; readonly control: string }
  readonly origin: string
  readonly key: string
  readonly tried: RequestDetail | undefined
}) => {
  const baseUrl = `${origin}${addresses.interface}`
  return Layout.page({
    path,
    title: Layout.site,
    lead: "The whole interface as a local service, with the document's rules enforced and faults on request.",
    message,
    body: html`${Demonstration.view({ path, controlUrl: `${origin}${addresses.control}`, shown })}
<div class="columns">
<section aria-labelledby="connect">
<h2 id="connect">Connect</h2>
<h3>Base URL</h3>
${Layout.copyable("base-url", "the base URL", baseUrl)}
<h3>API key</h3>
${Layout.copyable("key", "the API key", key)}
<p class="soft small">The key of the seeded shop <strong>corner-shop</strong>, with all scopes. It is derived from the seed, so it is public. It is no key of the real service.</p>
<h3>Environment variables</h3>
${Shells.view(baseUrl, key)}
<h3>Control API</h3>
${Layout.copyable("control-url", "the address of the control API", `${origin}${addresses.control}`)}
</section>
<section aria-labelledby="first">
<h2 id="first">First request</h2>
<p>Read the shop's own account:</p>
${Layout.snippet("curl", "the curl command", `curl ${Curl.quote(`${baseUrl}/me`)} \\\n  -H ${Curl.quote(`Authorization: Bearer ${key}`)}`)}
${
      Form.button({
        action: path,
        values: { do: "try" },
        text: tried === undefined ? "Send it from here" : "Send it once more",
        kind: "quiet"
      })
    }
${tried !== undefined && result(tried)}
<h3>With the command-line program</h3>
<p>Set the environment variables first.</p>
${Layout.snippet("plaza", "the plaza commands", "plaza me\nplaza posts list --limit 3")}
</section>
</div>
<h2>What comes next</h2>
<ul class="cards">${next.map(([to, name, text]) => html`<li><a href="${to}">${name}</a><p>${text}</p></li>`)}</ul>`
  })
}

export const routes = (addresses: { readonly interface: string; readonly control: string }, replay: Replay.Replay) =>
  Effect.gen(function*() {
    const { seed } = yield* Seeding
    const latitude = yield* CurrentLatitude
    const log = yield* RequestLog
    const demonstration = yield* Demonstration.make(replay)
    const seededKey = () => Redacted.value(Keys.withPrefix(Keys.seeded(seed), latitude.value.keyPrefix))

    return [
      {
        method: "GET",
        path,
        handle: (request) =>
          Effect.sync(() => {
            const { origin, query } = request
            return view({
              addresses,
              origin,
              key: seededKey(),
              message: Layout.done(request, sentences),
              shown: demonstration.read((query.get("shown") ?? "").split(" ")),
              tried: log.detail(query.get("tried") ?? "")
            })
          })
      },
      {
        method: "POST",
        path,
        handle: Layout.byAction({
          demonstrate: () =>
            Effect.map(
              demonstration.run(addresses.interface, seededKey()),
              (ids) => Layout.seeOther(`${path}?shown=${ids.join("+")}#demonstration`)
            ),
          arm: () => Effect.as(demonstration.arm, Layout.seeOther(path, "arm")),
          try: () =>
            Effect.gen(function*() {
              const id = yield* replay.send({
                method: "GET",
                url: `${addresses.interface}/me`,
                headers: { authorization: `Bearer ${seededKey()}`, accept: "application/json" },
                body: undefined
              })
              return Layout.seeOther(`${path}?tried=${id}#first`)
            })
        })
      }
    ] satisfies ReadonlyArray<Layout.Route>
  })
