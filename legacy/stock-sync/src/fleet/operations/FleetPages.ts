/** The pages of a fleet: its accounts and runners, one account, and failures. Rendered on the server; they work without scripts. */
import * as Text from "@plaza-legacy/cli-kit/Text"
import * as DateTime from "effect/DateTime"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as LedgerCommands from "../../ledger/LedgerCommands.ts"
import { type Html, html, type Piece } from "../../observability/Html.ts"
import * as Page from "../../observability/Page.ts"
import * as Sections from "../../observability/StatusSections.ts"
import * as StatusText from "../../observability/StatusText.ts"
import type * as MonotonicClock from "../../sync/MonotonicClock.ts"
import type { AccountActivity } from "../FleetRunner.ts"
import * as SourceReference from "../SourceReference.ts"
import type { AccountReport } from "./AccountReport.ts"
import * as AccountWork from "./AccountWork.ts"
import type { Reason } from "./FleetReadiness.ts"
import * as FleetStatus from "./FleetStatus.ts"
import * as FleetText from "./FleetText.ts"

const title = "plaza-stock-sync fleet"

const badge = (tone: StatusText.StateText["tone"], label: string): Html => html`<span class="badge ${tone}">${label}</span>`

const filterNames: Readonly<Record<FleetStatus.Filter, string>> = {
  all: "All accounts",
  running: "Running",
  paused: "Paused",
  pending: "Pending",
  failing: "With a problem",
  held: "With a held snapshot",
  waiting: "With waiting products"
}

/** This runner, which serves the page. */
export interface ThisRunner {
  readonly name: string
  readonly startedAt: DateTime.Utc
  /** Why it is not ready. */
  readonly reasons: ReadonlyArray<Reason>
}

const queryOf = ({ filter, from, prefix }: FleetStatus.AccountQuery): string => {
  const query = new URLSearchParams({
    ...(prefix === "" ? {} : { prefix }),
    ...(filter === "all" ? {} : { state: filter }),
    ...Option.match(from, { onNone: () => ({}), onSome: ({ direction, id }) => ({ [direction]: id }) })
  }).toString()
  return query === "" ? "/" : `/?${query}`
}

const filtered = (filter: FleetStatus.Filter, text: Piece): Html =>
  html`<a href="${queryOf({ filter, prefix: "", from: Option.none() })}#accounts">${text}</a>`

const runnerStatus = ({ name, reasons }: ThisRunner): Html =>
  html`<section aria-labelledby="status"><h2 id="status">This runner</h2>
<div role="status" id="readiness" data-live>${
    reasons.length === 0
      ? html`<p>${badge("good", "Ready")} ${FleetText.isolated(name)} works on its share of the accounts.</p>`
      : html`<p>${badge("bad", "Not ready")} ${FleetText.isolated(name)}</p><ul>${
        reasons.map(({ message }) => html`<li>${message}</li>`)
      }</ul>`
  }</div></section>`

const count = (number: number, filter: FleetStatus.Filter): Piece => number === 0 ? 0 : filtered(filter, number)

const overview = ({ accounts, backlog, products, runners }: FleetStatus.Overview): Html => {
  const entries: ReadonlyArray<readonly [string, Piece]> = [
    ["Accounts", count(accounts.total, "all")],
    ["Running", count(accounts.running, "running")],
    ["Paused by an operator", count(accounts.paused, "paused")],
    ["Pending, without a live runner", count(accounts.pending, "pending")],
    ["With a problem", count(accounts.failing, "failing")],
    ["With a held snapshot", count(accounts.held, "held")],
    ["With waiting products", count(backlog.accounts, "waiting")],
    ["Products being sent", products.sending],
    ["Doubtful products", products.doubtful],
    ["Uncertain products", products.uncertain],
    ["Quarantined products", products.quarantined],
    ["Live runners", runners.filter(({ alive }) => alive).length]
  ]
  return html`<section aria-labelledby="overview"><h2 id="overview">Overview</h2>
<dl id="overview-list" data-live>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></section>`
}

const oldest = ({ oldestSoldOut }: FleetStatus.FleetBacklog): Html =>
  Option.match(oldestSoldOut, {
    onNone: () => html`No sold-out product waits.`,
    onSome: ({ account, productId, since }) =>
      html`The sold-out product ${FleetText.isolated(productId)} of ${FleetText.accountLink(account)} waits longest, since ${
        Sections.time(since)
      }.`
  })

const worst = ({ worst }: FleetStatus.FleetBacklog, now: DateTime.Utc): Html =>
  html`<section aria-labelledby="worst"><h2 id="worst">Longest backlogs</h2>
${
    Sections.table(
      "worst-rows",
      "Longest backlogs",
      [{ head: "Account" }, { head: "Waiting", kind: "number" }, { head: "Sold out", kind: "number" }, {
        head: "Longest wait",
        kind: "number"
      }],
      worst.map(({ account, products, since, soldOut }) => [
        FleetText.accountLink(account),
        products,
        soldOut,
        StatusText.duration(DateTime.distance(since, now))
      ]),
      "No product waits."
    )
  }</section>`

const runners = (rows: ReadonlyArray<FleetStatus.Runner>, now: DateTime.Utc): Html =>
  html`<section aria-labelledby="runners"><h2 id="runners">Runners</h2>
${
    Sections.table(
      "runner-rows",
      "Runners",
      [
        { head: "Runner" },
        { head: "State" },
        { head: "Problem", kind: "long" },
        { head: "Shards", kind: "number" },
        { head: "Accounts", kind: "number" },
        { head: "Active", kind: "number" },
        { head: "Reading", kind: "number" },
        { head: "Waiting to read", kind: "number" },
        { head: "Version" },
        { head: "Started" }
      ],
      rows.map((runner) => [
        FleetText.isolated(runner.name),
        runner.alive
          ? runner.reasons.length === 0 ? badge("good", "Ready") : badge("bad", "Not ready")
          : badge("bad", "Lost"),
        runner.alive
          ? runner.reasons.map(({ message }) => message).join("; ")
          : `last seen ${StatusText.duration(DateTime.distance(runner.lastSeen, now))} ago`,
        runner.shards,
        runner.accounts,
        runner.active,
        runner.reading,
        runner.waitingToRead,
        runner.version,
        Sections.time(runner.startedAt)
      ]),
      "No runner has been alive within the last hour."
    )
  }</section>`

const tones = { running: "good", paused: "note", pending: "bad" } as const
const labels = { running: "Running", paused: "Paused", pending: "Pending" } as const

const stateBadge = ({ problem, state }: { readonly problem: string | null; readonly state: keyof typeof labels }): Html =>
  state === "running" && problem !== null ? badge("bad", "Problem") : badge(tones[state], labels[state])

const counted = (number: number): string => number >= FleetStatus.maxCounted ? `${FleetStatus.maxCounted} or more` : String(number)

const search = ({ filter, prefix }: FleetStatus.AccountQuery): Html =>
  html`<form class="search" role="search" method="get" action="/#accounts">
<label for="prefix">Id begins with</label> <input id="prefix" name="prefix" type="search" value="${prefix}" maxlength="200">
<label for="state">State</label> <select id="state" name="state">${
    FleetStatus.filters.map((each) => html`<option value="${each}"${each === filter && html` selected`}>${filterNames[each]}</option>`)
  }</select>
<button type="submit">Show</button></form>`

const pages = (query: FleetStatus.AccountQuery, { accounts, hasNext, hasPrevious }: FleetStatus.AccountPage): Html => {
  const link = (name: string, from: FleetStatus.AccountQuery["from"]) =>
    html`<a href="${queryOf({ ...query, from })}#accounts">${name}</a> `
  const first = accounts.at(0)
  const last = accounts.at(-1)
  return html`<nav class="pages" aria-label="Pages of accounts" id="account-pages" data-live>${
    Option.isSome(query.from) && link("First page", Option.none())
  }${hasPrevious && first !== undefined && link("Previous page", Option.some({ direction: "before", id: first.id }))}${
    hasNext && last !== undefined && link("Next page", Option.some({ direction: "after", id: last.id }))
  }</nav>`
}

const accounts = (query: FleetStatus.AccountQuery, page: FleetStatus.AccountPage): Html =>
  html`<section aria-labelledby="accounts"><h2 id="accounts">Accounts</h2>
${search(query)}
${
    Sections.table(
      "account-rows",
      "Accounts",
      [
        { head: "Account" },
        { head: "State" },
        { head: "Waiting", kind: "number" },
        { head: "Sold out", kind: "number" },
        { head: "Runner" },
        { head: "Problem", kind: "long" }
      ],
      page.accounts.map((account) => [
        FleetText.accountLink(account.id),
        stateBadge(account),
        counted(account.waiting),
        counted(account.soldOut),
        account.runner === null ? Sections.none : FleetText.isolated(account.runner),
        [
          account.problem === null ? "" : FleetText.isolated(account.problem),
          account.heldSince !== null && html`${account.problem !== null && "; "}snapshot held since ${Sections.time(account.heldSince)}`
        ]
      ]),
      "No account matches."
    )
  }${pages(query, page)}</section>`

interface FleetView {
  readonly now: DateTime.Utc
  readonly runner: ThisRunner
  readonly query: FleetStatus.AccountQuery
  /** The state of the fleet with its time, or why the database can't be read. */
  readonly found: Either.Either<
    { readonly at: DateTime.Utc; readonly overview: FleetStatus.Overview; readonly accounts: FleetStatus.AccountPage },
    string
  >
}

const subject = (below: Html): Html =>
  html`<h1>${title}</h1>
<p class="soft">${below}</p>`

const unread = (message: string): Html => html`<section aria-labelledby="unread"><h2 id="unread">No data</h2><p>${message}.</p></section>`

const aboutRunner = ({ name, startedAt }: ThisRunner): Html =>
  html`, runner ${FleetText.isolated(name)}, started ${Sections.time(startedAt)}`

/** The page of the fleet. */
export const fleet = ({ found, now, query, runner }: FleetView): string =>
  Page.render({
    title: `${runner.reasons.length > 0 ? "Not ready: " : ""}${title}`,
    subject: subject(html`Served by ${FleetText.isolated(runner.name)}`),
    toolbar: {
      asOf: html`As of ${Sections.time(Either.match(found, { onLeft: () => now, onRight: ({ at }) => at }))}`,
      refresh: queryOf(query)
    },
    main: Either.match(found, {
      onLeft: (message) => html`${runnerStatus(runner)}${unread(message)}`,
      onRight: ({ accounts: page, overview: fleet }) =>
        html`${runnerStatus(runner)}
<div class="columns">${overview(fleet)}${Sections.waiting(fleet.backlog, oldest(fleet.backlog), now)}</div>
${worst(fleet.backlog, now)}
${runners(fleet.runners, now)}
${accounts(query, page)}`
    }),
    about: aboutRunner(runner)
  })

const accountState = (account: FleetStatus.AccountRow): Html => {
  const entries: ReadonlyArray<readonly [string, Piece]> = [
    ["State", stateBadge(account)],
    ["Runner", account.runner === null ? Sections.none : FleetText.isolated(account.runner)],
    ["Epoch", account.epoch],
    ["Service", FleetText.isolated(account.baseUrl)],
    ["Source", FleetText.isolated(SourceReference.display(account.source))],
    [
      "Problem",
      account.problem === null
        ? "None"
        : html`${FleetText.isolated(account.problem)}${account.problemAt !== null && html`, since ${Sections.time(account.problemAt)}`}`
    ]
  ]
  return html`<section aria-labelledby="state"><h2 id="state">State</h2>
<dl id="state-list" data-live>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></section>`
}

const next = (at: MonotonicClock.MonotonicMillis, now: AccountWork.Now): Piece => {
  const date = AccountWork.dateOf(at, now)
  return date === undefined ? Sections.none : at <= now.monotonic ? "now" : Sections.time(date)
}

const ownWork = (activity: AccountActivity, now: AccountWork.Now): Html => {
  const { active, nextDue, nextPoll, paused, status } = activity
  const entries: ReadonlyArray<readonly [string, Piece]> = [
    ["Source last read", status?.source.readAt === undefined ? Sections.none : Sections.time(status.source.readAt)],
    ["Source read next", paused ? Sections.none : next(nextPoll, now)],
    // A running worker reads it from the ledger each time.
    ...(active ? [] : [["Next product due", paused ? Sections.none : next(nextDue, now)] as const]),
    ...(status === undefined ? [] : [["Requests of this runner", Sections.requests(status.sends)] as const])
  ]
  return html`${Sections.state("Worker", AccountWork.owned(activity, now))}
<dl>${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

/** What this runner does for the account, with the latest failures of its worker, or who works on it otherwise. */
const work = ({ account }: AccountReport, { name }: ThisRunner, activity: Option.Option<AccountActivity>, now: AccountWork.Now): Html =>
  html`<section aria-labelledby="work"><h2 id="work">Live state</h2>
<div id="work-now" data-live>${
    Option.match(activity, {
      onNone: () => html`<p>${AccountWork.elsewhere(account, name)}</p>`,
      onSome: (own) => ownWork(own, now)
    })
  }</div></section>
<div id="work-errors" data-live>${
    Option.match(activity, {
      onNone: () => false,
      onSome: ({ active, status }) => active && status !== undefined && status.errors.length > 0 && Sections.errors({ state: status })
    })
  }</div>`

interface AccountView {
  readonly now: AccountWork.Now
  readonly runner: ThisRunner
  readonly report: AccountReport
  /** None if this runner does not own the account. */
  readonly activity: Option.Option<AccountActivity>
}

/** The page of an account. */
export const account = ({ activity, now, report, runner }: AccountView): string => {
  const { account, sample, snapshot } = report
  const commands = LedgerCommands.ofFleet(account.id)
  return Page.render({
    title: `${account.problem !== null ? "Problem: " : ""}${Text.visible(account.id)}, ${title}`,
    subject: subject(html`Account <strong>${FleetText.isolated(account.id)}</strong> of the <a href="/">fleet</a>`),
    toolbar: {
      asOf: html`As of ${Sections.time(sample.at)}${
        snapshot.takenAt !== undefined && html`, last change of the source accepted ${Sections.time(snapshot.takenAt)}`
      }`,
      refresh: FleetText.accountPath(account.id)
    },
    main: html`${accountState(account)}
${work(report, runner, activity, now)}
${Sections.held(Option.getOrUndefined(snapshot.held), sample, commands)}
<div class="columns">${Sections.waiting(sample.backlog, Sections.longestWait(sample.backlog), now.wall)}${
      Sections.ledgerOverview(sample, snapshot.rows, now.wall)
    }</div>
${Sections.uncertain(sample, commands)}
${Sections.quarantined(sample, commands)}
${Sections.rowIssues(sample, commands)}`,
    about: aboutRunner(runner)
  })
}

/** A page with one message. */
export const message = (heading: string, text: string): string =>
  Page.render({
    title: `${heading}, ${title}`,
    subject: subject(html`<a href="/">The page of the fleet</a>`),
    main: html`<section aria-labelledby="message"><h2 id="message">${heading}</h2><p>${text}.</p></section>`
  })
