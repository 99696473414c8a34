/** The common base of all pages: the request and response types, the layout and shared parts. */
import type { DocumentedError } from "@plaza/domain/Errors"
import { ValidationError } from "@plaza/domain/Errors"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Envelope from "../http/Envelope.ts"
import type { Html, Piece } from "./Html.ts"
import { html } from "./Html.ts"

/** The paths of all pages and of their files. */
export const paths = {
  home: "/",
  signIn: "/sign-in",
  developers: "/settings/developers",
  operator: "/operator",
  console: "/console",
  request: "/console/request",
  har: "/console/requests.har",
  state: "/console/state",
  faults: "/console/faults",
  behaviour: "/console/behaviour",
  snapshots: "/console/snapshots",
  worlds: "/console/worlds",
  reference: "/reference",
  schemas: "/reference/schemas",
  openApi: "/openapi.json",
  style: "/assets/plaza.css",
  script: "/assets/plaza.js",
  icon: "/assets/icon.svg",
  favicon: "/favicon.ico"
} as const

/** A page of the reference is one area of the interface. */
export type Path = typeof paths[keyof typeof paths] | `${typeof paths.reference}/${string}`

const isReference = (path: string): boolean => path.startsWith(`${paths.reference}/`)

const withForms: ReadonlySet<string> = new Set([
  paths.home,
  paths.signIn,
  paths.developers,
  paths.operator,
  paths.request,
  paths.state,
  paths.faults,
  paths.behaviour,
  paths.snapshots,
  paths.worlds
])

/** Whether the page at a path accepts forms. */
export const acceptsForms = (path: string): boolean => withForms.has(path) || (isReference(path) && path !== paths.schemas)

// A bundler rewrites a template with this end tag and calls a helper that isn't bundled.
const scriptEnd = "script"

/** A request for a page. */
export interface PageRequest {
  readonly query: URLSearchParams
  /** The submitted inputs; empty for GET. */
  readonly form: URLSearchParams
  /** The account that the visitor acts for. */
  readonly accountId: string | undefined
  /** The action that the visitor's last form carried out; empty if its message was shown. */
  readonly done: string
  /** The visitor's cookies. */
  readonly cookies: string | undefined
  /** Where the interface and the control API of this sandbox or world start. Without a trailing slash. */
  readonly origin: string
}

export interface Route {
  readonly method: "GET" | "POST"
  readonly path: Path
  readonly handle: (request: PageRequest) => Effect.Effect<HttpServerResponse, DocumentedError>
}

export const site = "Plaza sandbox"

type Links = ReadonlyArray<readonly [path: string, name: string]>

const navigation: Links = [
  [paths.console, "Console"],
  [paths.developers, "Developers"],
  [paths.operator, "Operator"],
  [paths.reference, "Reference"]
]

const consolePages: Links = [
  [paths.console, "Requests"],
  [paths.state, "State"],
  [paths.faults, "Faults"],
  [paths.behaviour, "Behaviour"],
  [paths.snapshots, "Snapshots"],
  [paths.worlds, "Worlds"]
]

const isConsole = (path: string): boolean => path === paths.console || path.startsWith(`${paths.console}/`)

const links = (list: Links, current: string): ReadonlyArray<Html> =>
  list.map(([to, name]) => html`<li><a href="${to}"${to === current && html` aria-current="page"`}>${name}</a></li>`)

/** Where the header of a page names the world that it shows. A page does not know it. */
export const worldMark = html`<span id="world"></span>`

/** A whole page. A screen reader announces the message above the content. */
export const page = ({ body, lead, message, path, status = 200, title }: {
  readonly path: string
  readonly title: string
  readonly lead?: Piece
  readonly message?: Html | undefined
  readonly body: Piece
  readonly status?: number
}): HttpServerResponse =>
  Envelope.raw(
    status,
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${status >= 400 && "Error: "}${title}${title !== site && ` · ${site}`}</title>
<link rel="icon" href="${paths.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${paths.style}">
<script src="${paths.script}" defer></${scriptEnd}>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><div class="bar">
<a class="name" href="${paths.home}"><img src="${paths.icon}" alt="">${site}</a>
<nav aria-label="Pages"><ul>${links(navigation, isConsole(path) ? paths.console : isReference(path) ? paths.reference : path)}</ul></nav>
${worldMark}</div></header>
<main id="content" tabindex="-1">
<h1>${title}</h1>
${lead !== undefined && html`<p class="lead">${lead}</p>`}
${
      isConsole(path) &&
      html`<nav class="tabs" aria-label="Console"><ul>${links(consolePages, path === paths.request ? paths.console : path)}</ul></nav>`
    }
${message}
${body}
</main>
<footer><p>A local service for development and tests. It never contacts the real service.</p></footer>
<p id="announcements" role="status"></p>
</body>
</html>
`.toString(),
    "text/html; charset=utf-8"
  )

const doneCookie = "plaza_done"

/** Redirects to a page after a submitted form, so that reloading doesn't submit it again. */
const redirect = (location: string): HttpServerResponse => Envelope.withHeader(Envelope.empty(303), "location", location)

/**
 * Redirects to a page after a submitted form, so that reloading doesn't submit it again. The page shows the message of the
 * action once; see {@link done}.
 */
export const seeOther = (location: string, action?: string): HttpServerResponse =>
  action === undefined
    ? redirect(location)
    : Envelope.withHeader(redirect(location), "set-cookie", `${doneCookie}=${action}; Path=/; HttpOnly; SameSite=Strict; Max-Age=60`)

/** Reads the cookie of {@link seeOther}. */
export const doneFromCookie = (header: string | undefined): string =>
  new RegExp(`(?:^|;\\s*)${doneCookie}=([\\w-]*)`).exec(header ?? "")?.[1] ?? ""

/** Deletes the cookie of {@link seeOther}, whose message this page shows. */
export const forgetDone = (response: HttpServerResponse): HttpServerResponse =>
  Envelope.withHeader(response, "set-cookie", `${doneCookie}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`)

/** Renders backticks as code. Texts use no other Markdown. */
export const withCode = (text: string): ReadonlyArray<Piece> =>
  text.split("`").map((part, index) => index % 2 === 1 ? html`<code>${part}</code>` : part)

export const success = (...pieces: ReadonlyArray<Piece>): Html => html`<div class="message good" role="status"><p>${pieces}</p></div>`

export const problem = (...pieces: ReadonlyArray<Piece>): Html => html`<div class="message bad" role="alert"><p>${pieces}</p></div>`

export const note = (...pieces: ReadonlyArray<Piece>): Html => html`<div class="message note"><p>${pieces}</p></div>`

/** The success message of the last action; undefined for an unknown one. */
export const done = (request: PageRequest, sentences: Readonly<Record<string, Piece>>): Html | undefined =>
  Object.hasOwn(sentences, request.done) ? success(sentences[request.done]) : undefined

export const timestamp = (at: DateTime.Utc): Html => {
  const iso = DateTime.formatIso(at)
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`
}

/**
 * A table that scrolls horizontally if it is too wide, also by keyboard. With an `id` the script can update its rows. Of `log`
 * the rows are dense; of `stack` each row is a block on a narrow screen.
 */
export const table = (
  name: string,
  heads: ReadonlyArray<string>,
  rows: ReadonlyArray<Html>,
  { empty = "No entries.", id, kind }: { readonly id?: string; readonly empty?: Piece; readonly kind?: "log" | "stack" | "log stack" } = {}
): Html =>
  html`<div class="scroll" role="region" tabindex="0" aria-label="${name}, table"><table${kind !== undefined && html` class="${kind}"`}>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody${id !== undefined && html` id="${id}"`}>${
    rows.length > 0 ? rows : html`<tr><td class="empty" colspan="${heads.length}">${empty}</td></tr>`
  }</tbody>
</table></div>`

/** Text in a read-only field with a button that copies it. */
export const copyable = (id: string, label: string, value: string): Html =>
  html`<div class="copyable"><input id="${id}" aria-label="${label}" readonly value="${value}" autocomplete="off" spellcheck="false">
<button type="button" class="quiet" data-copy="${id}" aria-label="Copy ${label}" hidden>Copy</button></div>`

/** Lines of code with a button that copies them. */
export const snippet = (id: string, label: string, code: Piece): Html =>
  html`<div class="snippet"><pre id="${id}" role="region" tabindex="0" aria-label="${label}">${code}</pre>
<button type="button" class="quiet" data-copy="${id}" aria-label="Copy ${label}" hidden>Copy</button></div>`

/** The status of a response, coloured by its class. */
export const status = (code: number | null): Html =>
  code === null
    ? html`<span class="status lost">none</span>`
    : html`<span class="status s${Math.floor(code / 100)}">${code}</span>`

/** The method of a request, in its colour. */
export const method = (name: string): Html => html`<span class="method ${name.toLowerCase()}">${name}</span>`

const tones: Readonly<Record<string, string>> = {
  pending: "note",
  suspended: "note",
  approved: "good",
  granted: "good",
  active: "good",
  declined: "bad",
  revoked: "bad"
}

/** The name of a state as a coloured badge. */
export const badge = (state: string): Html => html`<span class="badge ${tones[state] ?? ""}">${state}</span>`

/** The handler for the forms of a page, chosen by their input `do`. */
export const byAction = (handlers: Readonly<Record<string, Route["handle"]>>): Route["handle"] => (request) => {
  const action = request.form.get("do") ?? ""
  const handler = Object.hasOwn(handlers, action) ? handlers[action] : undefined
  return handler === undefined
    ? Effect.fail(new ValidationError({ message: "the form has no valid action (input \"do\")" }))
    : handler(request)
}

/** The question before an action that can't be undone. */
export interface Question {
  readonly title: string
  readonly text: string
  /** The text of the button that confirms. */
  readonly button: string
}

/**
 * A handler that asks first, on a page of its own. With scripts a dialog asks on the page of the form, and submits `confirmed`
 * right away; see `Form.button`.
 */
export const confirmed = (path: string, question: Question, handle: Route["handle"]): Route["handle"] => (request) => {
  if (request.form.get("confirmed") === "yes") {
    return handle(request)
  }
  const subject = request.form.get("subject") ?? ""
  return Effect.succeed(page({
    path,
    title: question.title,
    body: html`<section>
${subject !== "" && html`<p><strong>${subject}</strong></p>`}
<p>${question.text}</p>
<form method="post" action="${path}" class="actions">
${[...request.form].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<input type="hidden" name="confirmed" value="yes">
<button type="submit" class="danger">${question.button}</button>
<a class="button quiet" href="${path}">Cancel</a>
</form>
</section>`
  }))
}
