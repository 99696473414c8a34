/**
 * The common base of all pages: the request and response types, the layout and shared parts.
 *
 * @since 0.1.0
 */
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import type { DocumentedError } from "@plaza/domain/Errors"
import { ValidationError } from "@plaza/domain/Errors"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Envelope from "../http/Envelope.js"
import type { Html, Piece } from "./Html.js"
import { html } from "./Html.js"

// A bundler rewrites a template with this end tag and calls a helper that isn't bundled.
const scriptEnd = "script"

/**
 * A request for a page.
 *
 * @since 0.1.0
 * @category models
 */
export interface PageRequest {
  readonly query: URLSearchParams
  /** The submitted inputs; empty for GET. */
  readonly form: URLSearchParams
  /** The account that the visitor acts for. */
  readonly accountId: Option.Option<string>
}

/** @since 0.1.0 @category models */
export interface Route {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly handle: (request: PageRequest) => Effect.Effect<HttpServerResponse, DocumentedError>
}

/** @since 0.1.0 @category constants */
export const paths = {
  home: "/",
  signIn: "/sign-in",
  developers: "/settings/developers",
  operator: "/operator",
  console: "/console",
  reference: "/reference",
  openApi: "/openapi.json",
  style: "/assets/plaza.css",
  script: "/assets/plaza.js",
  icon: "/assets/icon.svg"
} as const

/** @since 0.1.0 @category constants */
export const site = "Plaza sandbox"

const navigation: ReadonlyArray<readonly [path: string, name: string]> = [
  [paths.developers, "Developers"],
  [paths.operator, "Operator"],
  [paths.console, "Console"],
  [paths.reference, "Reference"]
]

/**
 * A whole page. A screen reader announces the message above the content.
 *
 * @since 0.1.0
 * @category responses
 */
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
<link rel="icon" href="${paths.icon}">
<link rel="stylesheet" href="${paths.style}">
<script src="${paths.script}" defer></${scriptEnd}>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="name" href="${paths.home}">${site}</a>
<nav aria-label="Pages"><ul>${
      navigation.map(([to, name]) => html`<li><a href="${to}"${to === path && html` aria-current="page"`}>${name}</a></li>`)
    }</ul></nav>
</header>
<main id="content" tabindex="-1">
<h1>${title}</h1>
${lead !== undefined && html`<p class="soft">${lead}</p>`}
${message}
${body}
</main>
<footer><p>A local service for development and tests. It never contacts the real service.</p></footer>
</body>
</html>
`.toString(),
    "text/html; charset=utf-8"
  )

/**
 * Redirects to a page after a submitted form, so that reloading doesn't submit it again.
 *
 * @since 0.1.0
 * @category responses
 */
export const seeOther = (location: string): HttpServerResponse => Envelope.withHeader(Envelope.empty(303), "location", location)

/** @since 0.1.0 @category parts */
export const success = (...pieces: ReadonlyArray<Piece>): Html => html`<div class="message good" role="status"><p>${pieces}</p></div>`

/** @since 0.1.0 @category parts */
export const problem = (...pieces: ReadonlyArray<Piece>): Html => html`<div class="message bad" role="alert"><p>${pieces}</p></div>`

/** @since 0.1.0 @category parts */
export const note = (...pieces: ReadonlyArray<Piece>): Html => html`<div class="message note"><p>${pieces}</p></div>`

/**
 * The success message for the `done` parameter of a URL of {@link seeOther}; undefined for an unknown one.
 *
 * @since 0.1.0
 * @category parts
 */
export const done = (request: PageRequest, sentences: Readonly<Record<string, string>>): Html | undefined => {
  const word = request.query.get("done") ?? ""
  return Object.hasOwn(sentences, word) ? success(sentences[word]) : undefined
}

/** @since 0.1.0 @category parts */
export const timestamp = (at: DateTime.Utc): Html => {
  const iso = DateTime.formatIso(at)
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC</time>`
}

/**
 * A table that scrolls horizontally if it is too wide, also by keyboard. With an `id` the script can update its rows.
 *
 * @since 0.1.0
 * @category parts
 */
export const table = (
  name: string,
  heads: ReadonlyArray<string>,
  rows: ReadonlyArray<Html>,
  { empty = "No entries.", id }: { readonly id?: string; readonly empty?: string } = {}
): Html =>
  html`<div class="scroll" role="region" tabindex="0" aria-label="${name}, table"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody${id !== undefined && html` id="${id}"`}>${
    rows.length > 0 ? rows : html`<tr><td colspan="${heads.length}">${empty}</td></tr>`
  }</tbody>
</table></div>`

const tones: Readonly<Record<string, string>> = {
  pending: "note",
  suspended: "note",
  approved: "good",
  granted: "good",
  active: "good",
  declined: "bad",
  revoked: "bad"
}

/**
 * The name of a state as a coloured badge.
 *
 * @since 0.1.0
 * @category parts
 */
export const badge = (state: string): Html => html`<span class="badge ${tones[state] ?? ""}">${state}</span>`

/**
 * The handler for the forms of a page, chosen by their input `do`.
 *
 * @since 0.1.0
 * @category handlers
 */
export const byAction = (handlers: Readonly<Record<string, Route["handle"]>>): Route["handle"] => (request) => {
  const action = request.form.get("do") ?? ""
  const handler = Object.hasOwn(handlers, action) ? handlers[action] : undefined
  return handler === undefined
    ? Effect.fail(new ValidationError({ message: "the form has no valid action (input \"do\")" }))
    : handler(request)
}
