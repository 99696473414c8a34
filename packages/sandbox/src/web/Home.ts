/**
 * The home page: links to all pages.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { html } from "./Html.js"
import * as Page from "./Page.js"

/** @since 0.1.0 @category pages */
export const routes = (addresses: { readonly interface: string; readonly control: string }) =>
  [{
    method: "GET",
    path: Page.paths.home,
    handle: () =>
      Effect.succeed(Page.page({
        path: Page.paths.home,
        title: Page.site,
        lead: "The whole interface as a local service.",
        body: html`<section>
<h2>Pages</h2>
<dl>
<dt><a href="${Page.paths.developers}">Settings, Developers</a></dt><dd>Request access, and create and revoke keys once it is granted.</dd>
<dt><a href="${Page.paths.operator}">Operator</a></dt><dd>Approve and decline requests; suspend, revoke and restore access.</dd>
<dt><a href="${Page.paths.console}">Console</a></dt><dd>See requests and state; add faults; advance the clock.</dd>
<dt><a href="${Page.paths.reference}">Reference</a></dt><dd>Every operation with its parameters, responses and errors.</dd>
<dt><a href="${Page.paths.openApi}">openapi.json</a></dt><dd>The reference as an OpenAPI document.</dd>
</dl>
</section>
<section>
<h2>Addresses</h2>
<dl>
<dt><code>${addresses.interface}</code></dt><dd>The interface. The base URL ends with this path.</dd>
<dt><code>${addresses.control}</code></dt><dd>The control API: state, requests, faults, clock, accounts.</dd>
</dl>
</section>`
      }))
  }] satisfies ReadonlyArray<Page.Route>
