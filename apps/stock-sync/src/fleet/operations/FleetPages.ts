/** The pages of a fleet: its accounts and runners, one account, and failures. Rendered on the server; they work without scripts. */
import * as Text from "@plaza/cli-kit/Text"
import type * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { ofFleet } from "../../ledger/LedgerCommands.ts"
import type { StateText } from "../../observability/Conditions.ts"
import { type Html, html, type Piece } from "../../observability/Html.ts"
import * as Page from "../../observability/Page.ts"
import { age } from "../../observability/Status.ts"
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

const { long, number, section } = Sections

const title = "plaza-stock-sync fleet"

const badge = (tone: StateText["tone"], label: string): Html => html`<span class="badge ${tone}">${label}</span>`

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

const runnerStatus = ({ name, reasons }: ThisRunner): Html =>
  section("status", "This runner", html`<div role="status" id="readiness" data-live>${
    reasons.length === 0
      ? html`<p>${badge("good", "Ready")} ${FleetText.isolated(name)} works on its share of the accounts.</p>`
      : html`<p>${badge("bad", "Not ready")} ${FleetText.isolated(name)}</p><ul>${
        reasons.map(({ message }) => html`<li>${message}</li>`)
      }</ul>`
  }</div>`)

/** A number of accounts that leads to them. */
const count = (number: number, filter: FleetStatus.Filter): Piece =>
  number === 0 ? 0 : html`<a href="${queryOf({ filter, prefix: "", from: Option.none() })}#accounts">${number}</a>`

const overview = ({ accounts, backlog, products, runners }: FleetStatus.Overview): Html =>
  section("overview", "Overview", Sections.list("overview-list", [
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
  ]))

const oldest = ({ oldestSoldOut }: FleetStatus.FleetBacklog): Html =>
  Option.match(oldestSoldOut, {
    onNone: () => html`No sold-out product waits.`,
    onSome: ({ account, productId, since }) =>
      html`The sold-out product ${FleetText.isolated(productId)} of ${FleetText.accountLink(account)} waits longest, since ${
        Sections.time(since)
      }.`
  })

const worst = ({ worst }: FleetStatus.FleetBacklog, now: DateTime.Utc): Html => {
  const rows = worst.map(({ account, products, since, soldOut }) => [
    FleetText.accountLink(account),
    products,
    soldOut,
    StatusText.duration(age(since, now))
  ])
  const title = "Longest backlogs"
  const columns = ["Account", number("Waiting"), number("Sold out"), number("Longest wait")]
  return section("worst", title, Sections.table("worst-rows", title, columns, rows, "No product waits."))
}

const runners = (rows: ReadonlyArray<FleetStatus.Runner>, now: DateTime.Utc): Html =>
  section("runners", "Runners", Sections.table(
    "runner-rows",
    "Runners",
    [
      "Runner",
      "State",
      long("Problem"),
      number("Shards"),
      number("Accounts"),
      number("Active"),
      number("Reading"),
      number("Waiting to read"),
      "Version",
      "Started"
    ],
    rows.map((runner) => [
      FleetText.isolated(runner.name),
      runner.alive
        ? runner.reasons.length === 0 ? badge("good", "Ready") : badge("bad", "Not ready")
        : badge("bad", "Lost"),
      runner.alive
        ? runner.reasons.map(({ message }) => message).join("; ")
        : `last seen ${StatusText.duration(age(runner.lastSeen, now))} ago`,
      runner.shards,
      runner.accounts,
      runner.active,
      runner.reading,
      runner.waitingToRead,
      runner.version,
      Sections.time(runner.startedAt)
    ]),
    "No runner has been alive within the last hour."
  ))

const tones = { running: "good", paused: "note", pending: "bad" } as const

const stateBadge = ({ problem, state }: Pick<FleetStatus.AccountRow, "problem" | "state">): Html =>
  state === "running" && problem !== null ? badge("bad", "Problem") : badge(tones[state], filterNames[state])

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

const accounts = (query: FleetStatus.AccountQuery, page: FleetStatus.AccountPage): Html => {
  const rows = page.accounts.map((account) => [
    FleetText.accountLink(account.id),
    stateBadge(account),
    counted(account.waiting),
    counted(account.soldOut),
    account.runner === null ? Sections.none : FleetText.isolated(account.runner),
    [
      account.problem === null ? "" : FleetText.isolated(account.problem),
      account.heldSince !== null && html`${account.problem !== null && "; "}snapshot held since ${Sections.time(account.heldSince)}`
    ]
  ])
  const columns = ["Account", "State", number("Waiting"), number("Sold out"), "Runner", long("Problem")]
  return section("accounts", "Accounts", html`${search(query)}
${Sections.table("account-rows", "Accounts", columns, rows, "No account matches.")}${pages(query, page)}`)
}

interface FleetView {
  readonly now: DateTime.Utc
  readonly runner: ThisRunner
  readonly query: FleetStatus.AccountQuery
  /** The state of the fleet with its time, or why the database can't be read. */
  readonly found: Result.Result<
    { readonly at: DateTime.Utc; readonly overview: FleetStatus.Overview; readonly accounts: FleetStatus.AccountPage },
    string
  >
}

const subject = (below: Html): Html =>
  html`<h1>${title}</h1>
<p class="soft">${below}</p>`

const unread = (message: string): Html => section("unread", "No data", html`<p>${message}.</p>`)

const aboutRunner = ({ name, startedAt }: ThisRunner): Html =>
  html`, runner ${FleetText.isolated(name)}, started ${Sections.time(startedAt)}`

/** The page of the fleet. */
export const fleet = ({ found, now, query, runner }: FleetView): string =>
  Page.render({
    title: `${runner.reasons.length > 0 ? "Not ready: " : ""}${title}`,
    subject: subject(html`Served by ${FleetText.isolated(runner.name)}`),
    toolbar: {
      asOf: html`As of ${Sections.time(Result.isSuccess(found) ? found.success.at : now)}`,
      refresh: queryOf(query)
    },
    main: Result.match(found, {
      onFailure: (message) => html`${runnerStatus(runner)}${unread(message)}`,
      onSuccess: ({ accounts: page, overview: fleet }) =>
        html`${runnerStatus(runner)}
<div class="columns">${overview(fleet)}${Sections.waiting(fleet.backlog, oldest(fleet.backlog), now)}</div>
${worst(fleet.backlog, now)}
${runners(fleet.runners, now)}
${accounts(query, page)}`
    }),
    about: aboutRunner(runner)
  })

const accountState = (account: FleetStatus.AccountRow): Html =>
  section("state", "State", Sections.list("state-list", [
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
  ]))

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
  html`${
    section("work", "Live state", html`<div id="work-now" data-live>${
      Option.match(activity, {
        onNone: () => html`<p>${AccountWork.elsewhere(account, name)}</p>`,
        onSome: (own) => ownWork(own, now)
      })
    }</div>`)
  }
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
  const commands = ofFleet(account.id)
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
    main: section("message", heading, html`<p>${text}.</p>`)
  })
