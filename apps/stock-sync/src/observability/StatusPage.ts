/**
 * The status page: the state of the worker, waiting and refused products, and actions for an operator. Rendered on the server; it works
 * without scripts.
 */
import { version } from "../version.js"
import { html } from "./Html.js"
import type { StatusSnapshot } from "./StatusSampler.js"
import * as Sections from "./StatusSections.js"

export const paths = { page: "/", style: "/assets/status.css", script: "/assets/status.js", icon: "/assets/icon.svg" } as const

export const render = (snapshot: StatusSnapshot, options: Sections.RateOptions): string => {
  const { ledger, now, reasons, state: { owner, startedAt } } = snapshot
  // Interpolated, because the bundler would replace a template that contains the end tag by a helper that is missing at run time.
  const end = "script"
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${reasons.length > 0 && "Not ready: "}plaza-stock-sync</title>
<link rel="icon" href="${paths.icon}">
<link rel="stylesheet" href="${paths.style}">
<script src="${paths.script}" defer></${end}>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><h1>plaza-stock-sync</h1>
<p class="soft" id="owner" data-live>${
    owner === undefined ? "Account not known yet" : html`Account <strong>${owner.id ?? "of this key"}</strong> at ${owner.baseUrl}`
  }</p></header>
<main id="content" tabindex="-1">
<div class="toolbar"><span class="soft" id="as-of" data-live>As of ${Sections.time(now)}${
    ledger !== undefined && ledger.at !== now && html`, ledger as of ${Sections.time(ledger.at)}`
  }</span> <span id="notice" role="status"></span> <a href="${paths.page}">Refresh</a> <button type="button" id="live" hidden>Live</button></div>
${Sections.status(snapshot)}
${Sections.held(snapshot)}
<div class="columns">${Sections.waiting(snapshot)}${Sections.overview(snapshot, options)}</div>
${Sections.lastHour(snapshot)}
${Sections.quarantined(snapshot)}
${Sections.rowIssues(snapshot)}
${Sections.errors(snapshot)}
</main>
<footer><p>Version ${version}, started ${
    Sections.time(startedAt)
  }. For programs: <a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>, <a href="/metrics">/metrics</a></p></footer>
</body>
</html>
`.toString()
}
