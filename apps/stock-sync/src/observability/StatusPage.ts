/**
 * The status page: the state of the worker, pending and refused products, and what an operator has to do. Rendered on
 * the server, it works without scripts.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Format from "../commands/Format.js"
import type { Waiting } from "../ledger/Entry.js"
import { outcomes } from "../sync/SyncStatus.js"
import { version } from "../version.js"
import * as Chart from "./Chart.js"
import * as History from "./History.js"
import { type Html, html, type Piece } from "./Html.js"
import { type Figures, heldListed, listed, type Look } from "./StatusSampler.js"
import * as StatusText from "./StatusText.js"

export const paths = { page: "/", style: "/assets/status.css", script: "/assets/status.js", icon: "/assets/icon.svg" } as const

const moment = (at: number): Html => html`<time datetime="${StatusText.iso(at)}">${StatusText.moment(at)}</time>`

interface Column {
  readonly head: string
  readonly kind?: "number" | "long"
}

/** A table that scrolls by itself where it is too wide, by keyboard as well. The first cell of a row is its head. */
const table = (id: string, name: string, columns: ReadonlyArray<Column>, rows: ReadonlyArray<ReadonlyArray<Piece>>, empty: string): Html =>
  html`<div class="scroll" role="region" tabindex="0" aria-label="${name}, table"><table>
<thead><tr>${columns.map(({ head, kind }) => html`<th scope="col"${kind === "number" && html` class="number"`}>${head}</th>`)}</tr></thead>
<tbody id="${id}" data-follow>${
    rows.length === 0 ?
      html`<tr><td colspan="${columns.length}" class="soft">${empty}</td></tr>` :
      rows.map((row) =>
        html`<tr>${
          row.map((cell, index) => {
            const kind = columns[index]?.kind
            const classes = kind !== undefined && html` class="${kind}"`
            return index === 0 ? html`<th scope="row"${classes}>${cell}</th>` : html`<td${classes}>${cell}</td>`
          })
        }</tr>`
      )
  }</tbody>
</table></div>`

const state = (about: string, { name, todo, tone, what }: StatusText.StateText): Html =>
  html`<div class="state ${tone}"><h3>${about} <span class="badge ${tone}">${name}</span></h3>
<p>${what}</p>${todo !== "" && html`<p class="todo">${todo}</p>`}</div>`

const status = ({ reasons, state: now }: Look): Html =>
  html`<section aria-labelledby="status"><h2 id="status">Status</h2>
<div role="status" id="readiness" data-follow>${
    reasons.length === 0
      ? html`<p><span class="badge good">Ready</span> It does its work.</p>`
      : html`<p><span class="badge bad">Not ready</span> because</p><ul>${reasons.map(({ message }) => html`<li>${message}</li>`)}</ul>`
  }</div>
<div class="states" id="states" data-follow>${state("Account", StatusText.account(now.account))}${state("Source", StatusText.source(now))}${
    state("Ledger", StatusText.ledger(now))
  }</div></section>`

const urgencies: ReadonlyArray<readonly [urgency: Waiting, name: string]> = [
  ["soldOut", "Sold out"],
  ["falling", "Falling"],
  ["backInStock", "Back in stock"],
  ["rest", "Rising or new"],
  ["doubtful", "May have arrived"]
]

const waiting = (figures: Figures | undefined, now: number): Html =>
  html`<section aria-labelledby="waiting"><h2 id="waiting">Waiting</h2>
${
    table(
      "waiting-rows",
      "Waiting",
      [{ head: "Why" }, { head: "Products", kind: "number" }, { head: "Longest", kind: "number" }],
      figures === undefined ? [] : urgencies.map(([urgency, name]) => {
        const since = figures.backlog.longest[urgency]
        return [name, figures.backlog.waiting[urgency], since === undefined ? "–" : StatusText.lasting(now - since)]
      }),
      "The ledger has not been open yet."
    )
  }
<p id="oldest" data-follow>${
    figures === undefined ? "" : Option.match(figures.backlog.oldest, {
      onNone: () => "Nothing waits.",
      onSome: ({ productId, since }) => html`<strong>${productId}</strong> waits longest, since ${moment(since)}.`
    })
  }</p></section>`

const numbers = ({ figures, now, rateInUse, state: { sends, source } }: Look, rateLimit: number, rateWindow: Duration.Duration): Html => {
  const counts = figures?.counts
  const confirmed = figures === undefined ? Option.none<number>() : figures.backlog.oldestConfirmation
  const entries: ReadonlyArray<readonly [string, Piece]> = [
    ["Settled", counts?.settled ?? "–"],
    ["Pending", counts?.pending ?? "–"],
    ["Being sent", counts?.sending ?? "–"],
    ["Doubtful", counts?.doubtful ?? "–"],
    ["Quarantined", counts?.quarantined ?? "–"],
    ["Rows rejected", counts?.rejectedRows ?? "–"],
    ["Negative, taken as 0", counts?.negativeRows ?? "–"],
    ["Not named by the source", counts?.missing ?? "–"],
    ["Rate in use", `${rateInUse} of ${rateLimit} requests in ${StatusText.lasting(Duration.toMillis(rateWindow))}`],
    ["Sends since the start", html`${outcomes.map((outcome, index) => html`${index > 0 && ", "}${sends[outcome].count} ${outcome}`)}`],
    ["Rows of the last source", source.rows ?? "–"],
    ["Oldest confirmation", Option.match(confirmed, { onNone: () => "–", onSome: (at) => `${StatusText.lasting(now - at)} ago` })]
  ]
  return html`<section aria-labelledby="numbers"><h2 id="numbers">In numbers</h2>
<dl id="number-list" data-follow>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></section>`
}

const figure = (chart: Omit<Chart.Chart, "from" | "to">, now: number): Html =>
  html`<figure><figcaption>${chart.title}</figcaption>${
    Chart.svg({ ...chart, from: now - Duration.toMillis(History.span), to: now })
  }</figure>`

const hour = ({ history, now }: Look): Html => {
  const rates = History.rates(history)
  const steps = History.steps(history)
  const last = history.at(-1)
  return html`<section aria-labelledby="hour"><h2 id="hour">The last hour</h2>
<div id="charts" class="columns" data-follow>${
    figure({
      id: "backlog",
      title: "Products that wait",
      description: last === undefined ? "Nothing was seen yet." : `${last.backlog} now. The table below has the numbers.`,
      points: history.map(({ at, backlog }) => ({ at, value: backlog })),
      least: 10
    }, now)
  }${
    figure({
      id: "sends",
      title: "Sends a minute",
      description: rates.length === 0
        ? "Nothing was seen yet."
        : `${Math.round(rates.at(-1)?.perMinute ?? 0)} now. The table below has the numbers.`,
      points: rates.map(({ at, perMinute }) => ({ at, value: perMinute })),
      least: 10
    }, now)
  }</div>
<details><summary>The same as a table</summary>${
    table(
      "hour-rows",
      "The last hour",
      [{ head: "Five minutes until" }, { head: "Waiting then", kind: "number" }, { head: "Sent in them", kind: "number" }],
      steps.map(({ at, backlog, sends }) => [moment(at), backlog, sends]),
      "Nothing was seen yet."
    )
  }</details></section>`
}

const more = (shown: number, all: number): Html | false =>
  all > shown && html`<p class="soft">The first ${shown} of ${all}; <code>plaza-stock-sync status --json</code> lists them all.</p>`

const quarantined = (figures: Figures | undefined): Html =>
  html`<section aria-labelledby="quarantined"><h2 id="quarantined">Quarantined products</h2>
<p class="soft">The service refuses them. Each is sent again at growing intervals, when the source has another stock for it, or after <code>plaza-stock-sync retry</code>.</p>
${
    table(
      "quarantined-rows",
      "Quarantined products",
      [{ head: "Product" }, { head: "Wanted", kind: "number" }, { head: "Attempts", kind: "number" }, { head: "Sent again" }, {
        head: "Reason",
        kind: "long"
      }],
      (figures?.quarantined ?? []).map((
        entry
      ) => [
        entry.productId,
        entry.wanted,
        entry.attempts,
        entry.dueAt === undefined ? "now" : moment(entry.dueAt),
        Format.refusalText(entry.refusal)
      ]),
      "None."
    )
  }<div id="quarantined-more" data-follow>${more(listed, figures?.counts.quarantined ?? 0)}</div></section>`

const rowIssues = (figures: Figures | undefined): Html =>
  html`<section aria-labelledby="rows"><h2 id="rows">Rows rejected or changed</h2>
<p class="soft">Rows of the last snapshot. The product of a rejected row keeps its stock until the source is corrected.</p>
${
    table(
      "issue-rows",
      "Rows rejected or changed",
      [{ head: "Where" }, { head: "Product" }, { head: "Reason", kind: "long" }],
      (figures?.rowIssues ?? []).map(({ line, productId, reason }) => [`${figures?.unit ?? "line"} ${line}`, productId ?? "–", reason]),
      "None."
    )
  }<div id="issue-more" data-follow>${
    more(listed, (figures?.counts.rejectedRows ?? 0) + (figures?.counts.negativeRows ?? 0))
  }</div></section>`

/** The implausible changes of a held snapshot; nothing where none is held. */
const held = ({ figures, state: { source } }: Look): Html =>
  html`<div id="held" data-follow>${
    source.held !== undefined && html`<section aria-labelledby="held-title"><h2 id="held-title">Held snapshot ${source.held.number}</h2>
<p class="soft">What it would change. If that is right, run <code>plaza-stock-sync confirm ${source.held.number}</code>.</p>
${
      table(
        "held-rows",
        "Held snapshot",
        [{ head: "Product" }, { head: "From", kind: "number" }, { head: "To", kind: "number" }, { head: "Why" }],
        (figures?.heldChanges ?? []).map(({ from, kind, productId, to }) => [productId, from, to, Format.kinds[kind]]),
        "Not read yet."
      )
    }${
      (figures?.heldChanges.length ?? 0) >= heldListed &&
      html`<p class="soft">The first ${heldListed}; <code>plaza-stock-sync status --json</code> lists them all.</p>`
    }</section>`
  }</div>`

const errors = ({ state: { errors: kept } }: Look): Html =>
  html`<section aria-labelledby="errors"><h2 id="errors">Last errors</h2>
${
    table(
      "error-rows",
      "Last errors",
      [{ head: "When" }, { head: "About" }, { head: "What", kind: "long" }],
      kept.slice(0, 20).map((failure) => [moment(failure.at), failure.productId ?? failure.about, StatusText.told(failure)]),
      "None since the start."
    )
  }</section>`

/** The whole page. */
export const page = (look: Look, options: { readonly rateLimit: number; readonly rateWindow: Duration.Duration }): string => {
  const { figures, now, reasons, state: { owner, startedAt } } = look
  // A bundler would rewrite a template that has this end tag in it, by a helper that the program then lacks.
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
<p class="soft" id="owner" data-follow>${
    owner === undefined ? "Account not known yet" : html`Account <strong>${owner.id ?? "of this key"}</strong> at ${owner.baseUrl}`
  }</p></header>
<main id="content" tabindex="-1">
<p class="soft"><span id="as-of" data-follow>As of ${moment(now)}${
    figures !== undefined && figures.at !== now && html`, the ledger's figures as of ${moment(figures.at)}`
  }.</span> <a href="${paths.page}">Refresh</a> <button type="button" id="follow" hidden>Follow</button> <span id="told" role="status"></span></p>
${status(look)}
${held(look)}
<div class="columns">${waiting(figures, now)}${numbers(look, options.rateLimit, options.rateWindow)}</div>
${hour(look)}
${quarantined(figures)}
${rowIssues(figures)}
${errors(look)}
</main>
<footer><p>Version ${version}, started ${
    moment(startedAt)
  }. For programs: <a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a>, <a href="/metrics">/metrics</a>.</p></footer>
</body>
</html>
`.toString()
}
