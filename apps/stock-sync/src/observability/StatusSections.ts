/**
 * The sections of the status page. When the page updates itself, elements with `data-live` are replaced, and those with `data-shown` appear
 * and disappear: a section without content is hidden.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { states } from "../ledger/Entry.ts"
import { type Backlog, issuesOf } from "../ledger/Ledger.ts"
import type { Commands } from "../ledger/LedgerCommands.ts"
import { type HeldSnapshot, placeOf } from "../ledger/Snapshot.ts"
import * as Judge from "../ledger/snapshot/Judge.ts"
import type { Waiting } from "../ledger/StockPriority.ts"
import { outcomes, type State } from "../sync/SyncStatus.ts"
import * as Chart from "./Chart.ts"
import type { StateText } from "./Conditions.ts"
import * as Headline from "./Headline.ts"
import * as History from "./History.ts"
import { type Html, html, type Piece } from "./Html.ts"
import { age, type LedgerSample, maxHeldChanges, maxListed, type Status } from "./Status.ts"
import * as StatusText from "./StatusText.ts"

/** A time relative to now, with the exact one as its title. */
export const time = (at: DateTime.Utc, now: DateTime.Utc): Html =>
  html`<time datetime="${DateTime.formatIso(at)}" title="${StatusText.moment(at)}">${StatusText.relative(at, now)}</time>`

/** When something is due: "now" also if that time has passed. */
export const due = (at: DateTime.Utc, now: DateTime.Utc): Piece => DateTime.isGreaterThan(at, now) ? time(at, now) : "now"

/** A text with its times and commands. */
export const rich = (text: StatusText.Text, now: DateTime.Utc): Piece =>
  text.map((piece) =>
    typeof piece === "string"
      ? piece
      : DateTime.isDateTime(piece)
      ? time(piece, now)
      : "due" in piece
      ? due(piece.due, now)
      : html`<code>${piece.code}</code>`
  )

export const none = "–"

/** A column by its head. */
export type Column = string | { readonly head: string; readonly kind: "number" | "long" }

export const number = (head: string): Column => ({ head, kind: "number" })
export const long = (head: string): Column => ({ head, kind: "long" })

const headOf = (column: Column | undefined): string => typeof column === "object" ? column.head : column ?? ""

const classOf = (column: Column | undefined, kinds: ReadonlyArray<string>): Html | false =>
  typeof column === "object" && kinds.includes(column.kind) && html` class="${column.kind}"`

const hiddenUnless = (isShown: boolean): Html | false => !isShown && html` hidden`

/** A section below a heading with this id. */
export const section = (id: string, title: Piece, body: Html, isShown = true): Html =>
  html`<section id="${id}-section" aria-labelledby="${id}" data-shown${hiddenUnless(isShown)}><h2 id="${id}">${title}</h2>
${body}</section>`

/** A closed section, which says how much it contains. */
const folded = (id: string, title: string, count: number, body: Html): Html =>
  html`<section id="${id}-section" aria-labelledby="${id}" data-shown${hiddenUnless(count > 0)}>
<details><summary><h2 id="${id}">${title} <span class="count" id="${id}-count" data-live>${StatusText.grouped(count)}</span></h2></summary>
${body}</details></section>`

/**
 * A table that scrolls horizontally, also by keyboard. On a narrow screen, its rows are stacked. The first cell of each row is its header.
 */
export const table = (
  id: string,
  name: string,
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<ReadonlyArray<Piece>>,
  empty: string
): Html =>
  html`<div class="scroll" role="region" tabindex="0" aria-label="${name}, table"><table>
<thead><tr>${columns.map((column) => html`<th scope="col"${classOf(column, ["number", "long"])}>${headOf(column)}</th>`)}</tr></thead>
<tbody id="${id}" data-live>${
    rows.length === 0
      ? html`<tr><td colspan="${columns.length}" class="soft">${empty}</td></tr>`
      : rows.map(([head, ...cells]) =>
        html`<tr><th scope="row"${classOf(columns[0], ["number", "long"])}>${head ?? ""}</th>${
          cells.map((cell, index) => {
            const column = columns[index + 1]
            return html`<td${classOf(column, ["number", "long"])} data-head="${headOf(column)}">${cell}</td>`
          })
        }</tr>`
      )
  }</tbody>
</table></div>`

export const badge = (tone: StateText["tone"], label: string): Html => html`<span class="badge ${tone}">${label}</span>`

export const state = (subject: string, { action, description, label, tone }: StateText, now: DateTime.Utc): Html =>
  html`<div class="state ${tone}"><h3>${subject} ${badge(tone, label)}</h3>
<p>${rich(description, now)}</p>${action.length > 0 && html`<p class="action">${rich(action, now)}</p>`}</div>`

/** Parts of a whole as a bar. The headline has the same numbers. */
const bar = ({ good, needing, rest }: Parts): Html | false => {
  const total = good + rest + needing
  const width = (part: number) => String(Math.round(part / total * 10_000) / 100)
  const parts = [["synced", 0, good], ["waits", good, rest], ["needs", good + rest, needing]] as const
  return total > 0 &&
    html`<svg class="bar" viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true">${
      parts.map(([name, from, part]) => part > 0 && html`<rect class="${name}" x="${width(from)}" width="${width(part)}" height="2"/>`)
    }</svg>`
}

interface Parts {
  readonly good: number
  readonly rest: number
  readonly needing: number
}

const itemTones = { uncertain: "note", quarantined: "bad", rejected: "bad" } as const
const itemStates = { uncertain: "uncertain", quarantined: "quarantined", rejected: "row rejected" } as const

const item = (
  { due: retriedAt, helps, since, state, subject, wrong }: Headline.Item,
  isSending: boolean,
  now: DateTime.Utc
): ReadonlyArray<Piece> => [
  subject,
  html`${badge(itemTones[state], itemStates[state])} ${wrong}`,
  since === undefined ? none : time(since, now),
  [
    rich(helps, now),
    isSending && retriedAt !== undefined && DateTime.isGreaterThan(retriedAt, now) &&
    html` <span class="soft">The worker retries it ${time(retriedAt, now)}.</span>`
  ]
]

/** The products and rows that wait for a person, with what helps. */
const needing = (sample: LedgerSample | undefined, commands: Commands, isSending: boolean, now: DateTime.Utc): Html => {
  const items = sample === undefined ? [] : Headline.items(sample, commands)
  const more = (sample === undefined ? 0 : Headline.numbers(sample).needing) - items.length
  const columns = ["Product", long("What is wrong"), "Since", long("What helps")]
  return html`<div id="needing" data-shown${hiddenUnless(items.length > 0)}>${
    table("needing-rows", "Needs you", columns, items.map((each) => item(each, isSending, now)), "")
  }
<p class="soft" id="needing-more" data-live>${
    more > 0 && html`And ${StatusText.grouped(more)} more: <code>${commands.statusJson}</code> lists all of them. `
  }${
    sample !== undefined && sample.counts.quarantined > 1 &&
    html`<code>${commands.retry}</code> sends all quarantined products again.`
  }</p></div>`
}

/** A sentence whose short parts, behind the first, stay together when the line breaks. */
export const parted = (sentence: string): Piece =>
  sentence.split(", ").map((part, index) => index === 0 ? part : html`, <span class="part">${part}</span>`)

/** What the top of a page says. */
interface Top {
  /** What has to be known before the numbers; the first one is the headline. */
  readonly leads: ReadonlyArray<string>
  /** The numbers as a sentence; the headline if nothing leads. */
  readonly sentence: Piece | undefined
  /** The headline without both. */
  readonly otherwise: string
  readonly parts: Parts | undefined
  /** What is not good, as blocks. */
  readonly blocks: Piece
  /** The list of what needs a person. */
  readonly needing: Html
  /** The rest, as sentences. */
  readonly rest: ReadonlyArray<Piece>
}

/** The top of a page: its headline, and what needs a person. */
export const top = ({ blocks, leads, needing, otherwise, parts, rest, sentence }: Top): Html => {
  const [lead = sentence ?? otherwise] = leads
  return html`<section id="headline-section" aria-labelledby="headline"><div role="status" id="readiness" data-live><h2 class="headline" id="headline">${lead}</h2>${
    leads.length > 0 && sentence !== undefined && html`<p class="numbers">${sentence}</p>`
  }</div>
<div id="bar" data-live>${parts !== undefined && bar(parts)}</div>
<div class="states" id="states" data-live>${blocks}</div>
${needing}
<p class="soft" id="conditions" data-live>${rest.flatMap((each) => [each, " "])}</p></section>`
}

/** Of which time the numbers of a ledger are, if it or its source can't be read now. */
export const numbersOf = (
  sample: LedgerSample | undefined,
  { hasLedger, hasSource }: { readonly hasLedger: boolean; readonly hasSource: boolean },
  now: DateTime.Utc
): string | undefined =>
  sample === undefined
    ? undefined
    : !hasLedger
    ? StatusText.capitalized(StatusText.relative(sample.at, now))
    : hasSource || sample.acceptedAt === undefined
    ? undefined
    : `Snapshot of ${StatusText.relative(sample.acceptedAt, now)}`

/** The part of the top that a ledger has. `of`: of which time the numbers are, if not of now. `isSending`: refused products are retried. */
export const inSync = (
  sample: LedgerSample | undefined,
  commands: Commands,
  now: DateTime.Utc,
  { isSending, of }: { readonly of: string | undefined; readonly isSending: boolean }
) => {
  const numbers = sample && Headline.numbers(sample)
  return {
    sentence: numbers && html`${of !== undefined && `${of}: `}${parted(Headline.sentence(numbers))}`,
    otherwise: "The ledger has not been read yet",
    parts: numbers && { good: numbers.inSync, rest: numbers.waiting, needing: numbers.needing },
    needing: needing(sample, commands, isSending, now)
  }
}

// What stops everything comes first.
const conditionNames = [["ledger", "Ledger"], ["account", "Account"], ["source", "Source"]] as const

/** The headline of a worker. */
export const headline = ({ commands, conditions, ledger, now, reasons, state: worker }: Status): Html => {
  const all = conditionNames.map(([key, name]) => ({ name, condition: conditions[key] }))
  const isReady = reasons.length === 0
  return top({
    ...inSync(ledger, commands, now, {
      of: numbersOf(ledger, { hasLedger: worker.ledger._tag === "Open", hasSource: conditions.source.tone === "good" }, now),
      isSending: worker.account._tag === "Running" && worker.ledger._tag === "Open" && !worker.stopping
    }),
    leads: [
      ...(worker.stopping ? ["The worker is stopping"] : []),
      ...all.flatMap(({ condition }) => condition.lead ?? [])
    ],
    blocks: all.flatMap(({ condition, name }) => condition.tone === "good" ? [] : [state(name, condition, now)]),
    rest: [
      badge(isReady ? "good" : "bad", isReady ? "Ready" : "Not ready"),
      isReady && "The worker reads the source and sends changes.",
      ...all.flatMap(({ condition, name }) =>
        condition.tone === "good" && name !== "Account" ? [html`${name}: ${rich(condition.description, now)}`] : []
      ),
      ledger?.acceptedAt !== undefined && html`Last snapshot accepted ${time(ledger.acceptedAt, now)}.`
    ]
  })
}

const priorities: ReadonlyArray<readonly [priority: Waiting, name: string]> = [
  ["soldOut", "Sold out"],
  ["falling", "Falling"],
  ["backInStock", "Back in stock"],
  ["rest", "Rest: rises, or never confirmed"],
  ["doubtful", "Doubtful"]
]

/** The product that waits longest, as a sentence. */
export const longestWait = ({ oldest }: Backlog, now: DateTime.Utc): Html =>
  Option.match(oldest, {
    onNone: () => html`No product waits.`,
    onSome: ({ productId, since }) => html`<strong>${productId}</strong> waits longest: its stock changed ${time(since, now)}.`
  })

/** What waits by priority, with a sentence about the longest wait. */
export const waiting = (backlog: Pick<Backlog, "longest" | "waiting"> | undefined, sentence: Html | undefined, now: DateTime.Utc): Html => {
  const rows = backlog === undefined ? [] : priorities.flatMap(([priority, name]) => {
    const since = backlog.longest[priority]
    return backlog.waiting[priority] === 0
      ? []
      : [[name, StatusText.grouped(backlog.waiting[priority]), since === undefined ? none : StatusText.duration(age(since, now))]]
  })
  const title = "Waiting to be sent"
  return section("waiting", title,
    html`${table("waiting-rows", title, ["Priority", number("Products"), number("Longest wait")], rows, "No product waits.")}
<p id="oldest" data-live>${sentence ?? ""}</p>`, rows.length > 0)
}

type Entries = ReadonlyArray<readonly [name: string, value: Piece]>

/** Names and values. */
export const list = (id: string, entries: Entries): Html =>
  html`<dl id="${id}" data-live>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`

/** Names and short values, side by side where there is space. */
export const facts = (id: string, entries: Entries): Html =>
  html`<dl class="facts" id="${id}" data-live>${entries.map(([name, value]) => html`<div><dt>${name}</dt> <dd>${value}</dd></div>`)}</dl>`

const overviewOf = (
  { backlog, counts }: { readonly [Key in "backlog" | "counts"]: LedgerSample[Key] | undefined },
  rows: number | undefined,
  now: DateTime.Utc,
  more: Entries
): Html => {
  const confirmedAt = Option.getOrUndefined(backlog?.oldestConfirmation ?? Option.none())
  const count = (number: number | undefined) => number === undefined ? none : StatusText.grouped(number)
  const entries: Entries = [
    ...states.map((state) => [StatusText.capitalized(state), count(counts?.[state])] as const),
    ["Missing in the source", count(counts?.missing)],
    ["Rows of the source", count(rows)],
    ["Rows rejected", count(counts?.rejectedRows)],
    ["Negative, accepted as 0", count(counts?.negativeRows)],
    ...more,
    ["Oldest confirmation", confirmedAt === undefined ? none : time(confirmedAt, now)]
  ]
  return section("overview", "Overview", facts("overview-list", entries), counts !== undefined)
}

/** The overview of an account by its ledger alone. */
export const ledgerOverview = (ledger: LedgerSample, rows: number | undefined, now: DateTime.Utc): Html => overviewOf(ledger, rows, now, [])

/** The numbers of requests by outcome. */
export const requests = (sends: State["sends"]): string =>
  outcomes.flatMap((outcome) => sends[outcome].count > 0 ? [`${StatusText.grouped(sends[outcome].count)} ${outcome}`] : []).join(", ") ||
  "0"

export const overview = ({ ledger, now, rateInUse, rateLimit, rateWindow, state: { sends, source } }: Status): Html =>
  overviewOf(ledger ?? { backlog: undefined, counts: undefined }, source.rows, now, [
    ["Rate limit", `${rateInUse} of ${rateLimit} requests in ${StatusText.duration(rateWindow)}`],
    ["Requests since the start", requests(sends)]
  ])

const noData = "No data yet."

const chart = (id: string, title: string, points: Chart.Chart["points"], now: DateTime.Utc): Html => {
  const to = DateTime.toEpochMillis(now)
  const last = points.at(-1)
  const description = last === undefined ? noData : `${Math.round(last.value)} now. The table below has the numbers.`
  return html`<figure><figcaption>${title}</figcaption>${
    Chart.svg({ id, title, description, points, least: 10, from: to - Duration.toMillis(History.span), to })
  }</figure>`
}

export const lastHour = ({ history, now }: Status): Html => {
  const backlog = history.map(({ at, backlog }) => ({ at, value: backlog }))
  const rates = History.rates(history).map(({ at, perMinute }) => ({ at, value: perMinute }))
  const rows = History.steps(history).map(({ at, backlog, sends }) => [time(DateTime.makeUnsafe(at), now), backlog, sends])
  return section("hour", "Last hour",
    html`<div id="charts" class="columns" data-live>${chart("backlog", "Products waiting", backlog, now)}${
      chart("sends", "Stock requests per minute", rates, now)
    }</div>
<details><summary>Show as a table</summary>${
      table("hour-rows", "Last hour", ["Five minutes until", number("Products waiting"), number("Stock requests")], rows, noData)
    }</details>`, [...backlog, ...rates].some(({ value }) => value > 0))
}

const more = (shown: number, all: number, { statusJson }: Commands): Html | false =>
  all > shown && html`<p class="soft">${shown} of ${StatusText.grouped(all)} shown. <code>${statusJson}</code> lists all of them.</p>`

/** All products of a state that may need a person, with their stock. */
const productsIn = (
  state: "quarantined" | "uncertain",
  title: string,
  explanation: Html,
  ledger: LedgerSample | undefined,
  commands: Commands,
  now: DateTime.Utc
): Html => {
  const rows = (ledger?.[state] ?? []).map(({ attempts, confirmed, dueAt, productId, refusal, wanted }) => [
    productId,
    wanted,
    confirmed ?? "?",
    attempts,
    dueAt === undefined ? state === "uncertain" ? none : "now" : due(dueAt, now),
    StatusText.refusal(refusal)
  ])
  const columns = ["Product", number("Wanted"), number("Confirmed"), number("Attempts"), "Due", long("Last response")]
  const count = ledger?.counts[state] ?? 0
  return folded(state, title, count, html`<p class="soft">${explanation}</p>
${table(`${state}-rows`, title, columns, rows, "")}<div id="${state}-more" data-live>${more(maxListed, count, commands)}</div>`)
}

export const quarantined = (ledger: LedgerSample | undefined, commands: Commands, now: DateTime.Utc): Html =>
  productsIn("quarantined", "Quarantined products",
    html`The service refuses their stock. The worker retries each at growing intervals, when the source has another stock for it, or after <code>${commands.retry}</code>.`,
    ledger, commands, now)

export const uncertain = (ledger: LedgerSample | undefined, commands: Commands, now: DateTime.Utc): Html =>
  productsIn("uncertain", "Uncertain products",
    html`The store may have another stock than the source. Compare them with the store. The worker sends each when the source has another stock for it, or after <code>${commands.retry} PRODUCT</code>.`,
    ledger, commands, now)

export const rowIssues = (ledger: LedgerSample | undefined, commands: Commands): Html => {
  const title = "Rows that were rejected or changed"
  const all = ledger === undefined ? 0 : issuesOf(ledger.counts)
  const rows = ledger?.rowIssues.map((issue) => [placeOf(issue, ledger.unit), issue.productId ?? none, issue.reason])
  return folded("rows", title, all,
    html`<p class="soft">Rows of the last snapshot. The product of a rejected row keeps its stock until the source is corrected.</p>
${table("issue-rows", title, ["Where", "Product", long("Reason")], rows ?? [], "")}<div id="issue-more" data-live>${
      more(maxListed, all, commands)
    }</div>`)
}

/** The implausible changes of a held snapshot; hidden if none is held. */
export const held = (snapshot: HeldSnapshot | undefined, ledger: LedgerSample | undefined, { confirm, statusJson }: Commands): Html => {
  const changes = ledger?.heldChanges ?? []
  const rows = changes.map(({ from, kind, productId, to }) => [productId, from, to, Judge.changeTexts[kind]])
  const title = "Implausible changes of the held snapshot"
  return html`<div id="held" data-live>${
    snapshot !== undefined &&
    section("held-title", `Held snapshot ${snapshot.number}`, html`<p>${
      snapshot.confirmed
        ? "It is confirmed, and accepted at the next read of the source."
        : html`If these changes are right, run <code>${confirm(snapshot.number)}</code>; otherwise correct the source.`
    }</p>
${table("held-rows", title, ["Product", number("From"), number("To"), "Why"], rows, "Not read yet")}${
      changes.length >= maxHeldChanges &&
      html`<p class="soft">The first ${maxHeldChanges} are shown. <code>${statusJson}</code> lists all of them.</p>`
    }`)
  }</div>`
}

const maxErrors = 20

export const errors = ({ state }: { readonly state: Pick<State, "errors"> }, now: DateTime.Utc): Html => {
  const rows = state.errors.slice(0, maxErrors).map((failure) => [
    time(failure.at, now),
    failure.productId ?? failure.about,
    StatusText.failure(failure)
  ])
  return folded("errors", "Recent errors", rows.length, table("error-rows", "Recent errors", ["Time", "Subject", long("Error")], rows, ""))
}
