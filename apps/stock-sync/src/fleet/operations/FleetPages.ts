/** The pages of a fleet: its accounts and runners, one account, and failures. Rendered on the server; they work without scripts. */
import * as Text from "@plaza/cli-kit/Text"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { ofFleet, resume } from "../../ledger/LedgerCommands.ts"
import * as Conditions from "../../observability/Conditions.ts"
import * as Headline from "../../observability/Headline.ts"
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

const { badge, long, number, section } = Sections

const title = "plaza-stock-sync fleet"

const filterNames: Readonly<Record<FleetStatus.Filter, string>> = {
  all: "All accounts",
  troubled: "Need you",
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

/** The readiness of the runner that serves the page. */
const readiness = ({ name, reasons }: ThisRunner): Html =>
  reasons.length === 0
    ? html`${badge("good", "Ready")} ${FleetText.isolated(name)} works on its share of the accounts.`
    : html`${badge("bad", "Not ready")} ${FleetText.isolated(name)}`

const runnerBlock = ({ reasons }: ThisRunner, now: DateTime.Utc): Piece =>
  reasons.length > 0 &&
  Sections.state("This runner", {
    tone: "bad",
    label: "Not ready",
    description: [reasons.map(({ message }) => `${StatusText.capitalized(message)}.`).join(" ")],
    action: []
  }, now)

/** The accounts by what a person has to do, as a sentence without its full stop. */
const sentence = ({ paused, pending, running, total, troubled }: FleetStatus.Standing): string => {
  if (total === 0) return "No accounts yet"
  if (running === total) return `${total === 1 ? "1 account" : `All ${StatusText.grouped(total)} accounts`} running without trouble`
  const part = (number: number, text: string) => number > 0 ? [`${StatusText.grouped(number)} ${text}`] : []
  return [
    `${StatusText.grouped(running)} of ${StatusText.counted(total, "account")} running without trouble`,
    ...part(troubled, troubled === 1 ? "needs you" : "need you"),
    ...part(paused, "paused"),
    ...part(pending, "pending")
  ].join(", ")
}

/** What is wrong with an account and what helps, a paragraph for each trouble. */
const troubles = (account: FleetStatus.TroubledAccount): ReadonlyArray<Html> => {
  const commands = ofFleet(account.id)
  const one = (label: string, text: Piece) => html`<p>${badge("bad", label)} ${text}</p>`
  return [
    ...(account.problem === null ? [] : [one("problem", html`${FleetText.isolated(account.problem)}.`)]),
    ...(account.held === null ? [] : [one(
      `snapshot ${account.held} held`,
      html`Correct the source. If it is right, run <code>${commands.confirm(account.held)}</code>.`
    )]),
    ...(account.products === 0 ? [] : [one(
      `${StatusText.counted(account.products, "product")} refused or uncertain`,
      html`<a href="${FleetText.accountPath(account.id)}">The page of the account</a> says what helps.`
    )]),
    ...(account.rejectedRows === 0 ? [] : [one(
      `${StatusText.counted(account.rejectedRows, "row")} rejected`,
      html`Correct the source. <code>${commands.status}</code> lists them.`
    )])
  ]
}

const since = ({ heldSince, problemAt, productsSince }: FleetStatus.TroubledAccount, now: DateTime.Utc): Piece => {
  const [first] = [problemAt, heldSince, productsSince].filter((at) => at !== null).toSorted(DateTime.Order)
  return first === undefined ? Sections.none : Sections.time(first, now)
}

/** The accounts that need a person, with what helps. */
const needing = ({ standing, troubled }: Pick<FleetStatus.Overview, "standing" | "troubled">, now: DateTime.Utc): Html => {
  const more = standing.troubled - troubled.length
  const rows = troubled.map((account) => [FleetText.accountLink(account.id), troubles(account), since(account, now)])
  return html`<div id="needing" data-shown${troubled.length === 0 && html` hidden`}>${
    Sections.table("needing-rows", "Accounts that need you", ["Account", long("What is wrong, and what helps"), "Since"], rows, "")
  }
<p class="soft" id="needing-more" data-live>${
    more > 0 &&
    html`<a href="${queryOf({ filter: "troubled", prefix: "", from: Option.none() })}#accounts">And ${StatusText.grouped(more)} more</a>`
  }</p></div>`
}

const headline = (runner: ThisRunner, overview: FleetStatus.Overview, now: DateTime.Utc): Html => {
  const { standing } = overview
  const isServed = overview.runners.some(({ alive }) => alive)
  return Sections.top({
    leads: standing.total > 0 && !isServed ? ["Nothing is sent: no runner is alive"] : [],
    sentence: Sections.parted(sentence(standing)),
    otherwise: "",
    parts: { good: standing.running, rest: standing.paused + standing.pending, needing: standing.troubled },
    blocks: runnerBlock(runner, now),
    needing: needing(overview, now),
    rest: [readiness(runner)]
  })
}

/** A number of accounts that leads to them. */
const count = (number: number, filter: FleetStatus.Filter): Piece =>
  number === 0 ? 0 : html`<a href="${queryOf({ filter, prefix: "", from: Option.none() })}#accounts">${StatusText.grouped(number)}</a>`

const overview = ({ accounts, backlog, products, runners, standing }: FleetStatus.Overview): Html =>
  section("overview", "Overview", Sections.facts("overview-list", [
    ["Accounts", count(accounts.total, "all")],
    ["Need you", count(standing.troubled, "troubled")],
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

const oldest = ({ oldestSoldOut }: FleetStatus.FleetBacklog, now: DateTime.Utc): Html =>
  Option.match(oldestSoldOut, {
    onNone: () => html`No sold-out product waits.`,
    onSome: ({ account, productId, since }) =>
      html`The sold-out product ${FleetText.isolated(productId)} of ${FleetText.accountLink(account)} waits longest: its stock changed ${
        Sections.time(since, now)
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
  return section("worst", title, Sections.table("worst-rows", title, columns, rows, "No product waits."), rows.length > 0)
}

const runners = (rows: ReadonlyArray<FleetStatus.Runner>, now: DateTime.Utc): Html =>
  section("runners", "Runners", Sections.table(
    "runner-rows",
    "Runners",
    [
      "Runner",
      long("State"),
      number("Shards"),
      number("Accounts"),
      number("Active"),
      number("Reading"),
      number("Waiting to read"),
      "Started"
    ],
    rows.map((runner) => [
      html`${FleetText.isolated(runner.name)} <span class="soft">${runner.version}</span>`,
      runner.alive
        ? runner.reasons.length === 0
          ? badge("good", "Ready")
          : html`${badge("bad", "Not ready")} ${runner.reasons.map(({ message }) => message).join("; ")}`
        : html`${badge("bad", "Lost")} last seen ${Sections.time(runner.lastSeen, now)}`,
      runner.shards,
      runner.accounts,
      runner.active,
      runner.reading,
      runner.waitingToRead,
      Sections.time(runner.startedAt, now)
    ]),
    "No runner has been alive within the last hour."
  ))

const tones = { running: "good", paused: "note", pending: "bad" } as const

const stateBadge = (state: FleetStatus.AccountRow["state"], isTroubled: boolean): Html =>
  isTroubled && state === "running" ? badge("bad", "Needs you") : badge(tones[state], filterNames[state])

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

const accounts = (query: FleetStatus.AccountQuery, page: FleetStatus.AccountPage, now: DateTime.Utc): Html => {
  const rows = page.accounts.map((account) => [
    FleetText.accountLink(account.id),
    stateBadge(account.state, account.troubled),
    counted(account.waiting),
    counted(account.soldOut),
    account.runner === null ? Sections.none : FleetText.isolated(account.runner),
    [
      account.problem === null ? "" : FleetText.isolated(account.problem),
      account.heldSince !== null && html`${account.problem !== null && "; "}snapshot held ${Sections.time(account.heldSince, now)}`
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

const unread = (runner: ThisRunner, message: string, now: DateTime.Utc): Html =>
  Sections.top({
    leads: [],
    sentence: undefined,
    otherwise: "No data from the fleet's database",
    parts: undefined,
    blocks: [html`<p>${StatusText.capitalized(message)}.</p>`, runnerBlock(runner, now)],
    needing: html``,
    rest: [readiness(runner)]
  })

const aboutRunner = ({ name, startedAt }: ThisRunner, now: DateTime.Utc): Html =>
  html`, runner ${FleetText.isolated(name)}, started ${Sections.time(startedAt, now)}`

/** Begins with what a person should see in the title of a tab. */
const fleetTitle = ({ reasons }: ThisRunner, found: FleetView["found"]): string => {
  const troubled = Result.isSuccess(found) ? found.success.overview.standing.troubled : 0
  return reasons.length > 0
    ? `Not ready: ${title}`
    : troubled > 0
    ? `${StatusText.grouped(troubled)} ${troubled === 1 ? "needs" : "need"} you: ${title}`
    : title
}

/** The page of the fleet. */
export const fleet = ({ found, now, query, runner }: FleetView): string =>
  Page.render({
    title: fleetTitle(runner, found),
    subject: subject(html`Served by ${FleetText.isolated(runner.name)}`),
    toolbar: {
      asOf: Result.isSuccess(found) ? html`Database read ${Sections.time(found.success.at, now)}` : html``,
      refresh: queryOf(query)
    },
    main: Result.match(found, {
      onFailure: (message) => unread(runner, message, now),
      onSuccess: ({ accounts: page, overview: fleet }) =>
        html`${headline(runner, fleet, now)}
<div class="columns">${Sections.waiting(fleet.backlog, oldest(fleet.backlog, now), now)}${overview(fleet)}</div>
${worst(fleet.backlog, now)}
${runners(fleet.runners, now)}
${accounts(query, page, now)}`
    }),
    about: aboutRunner(runner, now)
  })

const accountState = (account: FleetStatus.AccountRow): Html =>
  section("state", "State", Sections.list("state-list", [
    ["State", filterNames[account.state]],
    ["Runner", account.runner === null ? Sections.none : FleetText.isolated(account.runner)],
    ["Epoch", account.epoch],
    ["Service", FleetText.isolated(account.baseUrl)],
    ["Source", FleetText.isolated(SourceReference.display(account.source))]
  ]))

const next = (at: MonotonicClock.MonotonicMillis, now: AccountWork.Now): Piece => {
  const date = AccountWork.dateOf(at, now)
  return date === undefined ? Sections.none : Sections.due(date, now.wall)
}

const ownWork = (activity: AccountActivity, now: AccountWork.Now): Html => {
  const { active, nextDue, nextPoll, paused, status } = activity
  const entries: ReadonlyArray<readonly [string, Piece]> = [
    ["Source last read", status?.source.readAt === undefined ? Sections.none : Sections.time(status.source.readAt, now.wall)],
    ["Source read next", paused ? Sections.none : next(nextPoll, now)],
    // A running worker reads it from the ledger each time.
    ...(active ? [] : [["Next product due", paused ? Sections.none : next(nextDue, now)] as const]),
    ...(status === undefined ? [] : [["Requests of this runner", Sections.requests(status.sends)] as const])
  ]
  return html`${Sections.state("Worker", AccountWork.owned(activity, now), now.wall)}
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
      onSome: ({ active, status }) =>
        active && status !== undefined && status.errors.length > 0 && Sections.errors({ state: status }, now.wall)
    })
  }</div>`

interface AccountView {
  readonly now: AccountWork.Now
  readonly runner: ThisRunner
  readonly report: AccountReport
  /** None if this runner does not own the account. */
  readonly activity: Option.Option<AccountActivity>
}

/** What keeps an account from being sent or read, which has to be known before its numbers. */
const accountLeads = ({ account, snapshot }: AccountReport, activity: Option.Option<AccountActivity>): ReadonlyArray<string> => {
  if (account.state === "paused") return ["Nothing is sent: an operator paused the account"]
  const worker = Option.getOrUndefined(Option.flatMapNullishOr(activity, ({ active, status }) => active ? status : undefined))
  const refused = worker === undefined ? undefined : Conditions.account(worker.account).lead
  const held = Option.getOrUndefined(snapshot.held)
  return [
    ...(account.state === "pending" ? ["Nothing is sent: no live runner works on the account"] : []),
    ...(refused !== undefined ? [refused] : account.problem !== null ? ["The account has a problem"] : []),
    ...(held === undefined ? [] : [`Snapshot ${held.number} of the source is held`])
  ]
}

/** Whether the account needs a person, as the page of the fleet counts it. */
const isTroubled = ({ account, sample, snapshot }: AccountReport): boolean =>
  account.state !== "paused" &&
  (account.problem !== null || Option.exists(snapshot.held, ({ confirmed }) => !confirmed) || Headline.numbers(sample).needing > 0)

/** The headline of an account: that of a single store, after what its fleet knows. */
const accountHeadline = ({ activity, now: { wall }, report }: AccountView): Html => {
  const { account, sample, snapshot } = report
  const commands = ofFleet(account.id)
  const { acceptedAt } = sample
  const held = Option.getOrUndefined(snapshot.held)
  return Sections.top({
    ...Sections.inSync(sample, commands, wall, {
      of: Sections.numbersOf(sample, { hasLedger: true, hasSource: held === undefined }, wall),
      isSending: account.state === "running" && account.problem === null
    }),
    leads: accountLeads(report, activity),
    blocks: [
      account.state === "paused" &&
      Sections.state("Account", {
        tone: "note",
        label: "Paused",
        description: ["The source is not read, and nothing is sent."],
        action: ["To resume it, run ", { code: resume(account.id) }, "."]
      }, wall),
      account.problem !== null &&
      Sections.state("Account", {
        tone: "bad",
        label: "Problem",
        description: [`${Text.visible(account.problem)}.`, ...(account.problemAt === null ? [] : [" It began ", account.problemAt, "."])],
        action: []
      }, wall),
      held !== undefined && Sections.state("Source", Conditions.heldCondition(held, commands), wall)
    ],
    rest: [
      stateBadge(account.state, isTroubled(report)),
      acceptedAt !== undefined && html`Last snapshot accepted ${Sections.time(acceptedAt, wall)}.`
    ]
  })
}

/** The page of an account. */
export const account = (view: AccountView): string => {
  const { activity, now, report, runner } = view
  const { account, sample, snapshot } = report
  const commands = ofFleet(account.id)
  return Page.render({
    title: `${isTroubled(report) ? "Needs you: " : ""}${Text.visible(account.id)}, ${title}`,
    subject: subject(html`Account <strong>${FleetText.isolated(account.id)}</strong> of the <a href="/">fleet</a>`),
    toolbar: {
      asOf: html`Ledger read ${Sections.time(sample.at, now.wall)}`,
      refresh: FleetText.accountPath(account.id)
    },
    main: html`${accountHeadline(view)}
${Sections.held(Option.getOrUndefined(snapshot.held), sample, commands)}
${work(report, runner, activity, now)}
<div class="columns">${Sections.waiting(sample.backlog, Sections.longestWait(sample.backlog, now.wall), now.wall)}${
      Sections.ledgerOverview(sample, snapshot.rows, now.wall)
    }</div>
${accountState(account)}
${Sections.uncertain(sample, commands, now.wall)}
${Sections.quarantined(sample, commands, now.wall)}
${Sections.rowIssues(sample, commands)}`,
    about: aboutRunner(runner, now.wall)
  })
}

/** A page with one message. */
export const message = (heading: string, text: string): string =>
  Page.render({
    title: `${heading}, ${title}`,
    subject: subject(html`<a href="/">The page of the fleet</a>`),
    main: section("message", heading, html`<p>${text}.</p>`)
  })
