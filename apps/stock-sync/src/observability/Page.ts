/** The frame of the status pages, and the files that they load. Rendered on the server; the pages work without scripts. */
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { version } from "../version.ts"
import { type Html, html } from "./Html.ts"
import * as Responses from "./HttpResponses.ts"
import { icon, script, style } from "./Style.ts"

export const paths = { page: "/", style: "/assets/status.css", script: "/assets/status.js", icon: "/assets/icon.svg" } as const

const assets = new Map<string, HttpServerResponse.HttpServerResponse>([
  [paths.style, Responses.text(style, "text/css; charset=utf-8")],
  [paths.script, Responses.text(script, "text/javascript; charset=utf-8")],
  [paths.icon, Responses.text(icon, "image/svg+xml")]
])

/** The response with a file of the pages; undefined for another path. */
export const asset = (path: string): HttpServerResponse.HttpServerResponse | undefined => assets.get(path)

export interface Parts {
  readonly title: string
  /** Below the name of the program. */
  readonly subject: Html
  /** The time of the data and the address of the page. A page with it updates itself, if scripts run. */
  readonly toolbar?: { readonly asOf: Html; readonly refresh: string }
  readonly main: Html
  /** After the version in the footer. */
  readonly about?: Html
}

// The script shows its button.
const bar = ({ asOf, refresh }: Required<Parts>["toolbar"]): Html =>
  html`<div class="toolbar"><span class="soft" id="as-of" data-live>${asOf}</span> <span id="notice" role="status"></span> <a href="${refresh}">Refresh</a> <button type="button" id="live" hidden>Live</button></div>`

export const render = ({ about, main, subject, title, toolbar }: Parts): string => {
  // Interpolated, because the bundler would replace a template that contains the end tag by a helper that is missing at run time.
  const end = "script"
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${paths.icon}">
<link rel="stylesheet" href="${paths.style}">
${toolbar !== undefined && html`<script src="${paths.script}" defer></${end}>`}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>${subject}</header>
<main id="content" tabindex="-1">
${toolbar !== undefined && bar(toolbar)}
${main}
</main>
<footer><p>Version ${version}<span id="about" data-live>${
    about ?? ""
  }</span>. For programs: <a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>, <a href="/metrics">/metrics</a></p></footer>
</body>
</html>
`.toString()
}
