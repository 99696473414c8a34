/** `report`: what happened since some time, and whether the store is in sync now. Works beside a running worker and from cron. */
import { Output } from "@plaza/cli-kit/Output"
import * as Text from "@plaza/cli-kit/Text"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Setting from "../config/Setting.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { type Commands, LedgerCommands } from "../ledger/LedgerCommands.ts"
import * as Headline from "../observability/Headline.ts"
import * as Report from "../observability/Report.ts"
import * as ReportText from "../observability/ReportText.ts"
import * as StatusText from "../observability/StatusText.ts"
import * as Format from "./Format.ts"
import type { Options } from "./ReportOptions.ts"

const subjectOf = ({ account }: Report.Report): string | undefined =>
  account === undefined ? undefined : account.id === undefined ? account.baseUrl : `${account.id} at ${account.baseUrl}`

const itemJson = ({ due, helps, since, state, subject, wrong }: Headline.Item) => ({
  subject,
  state,
  wrong,
  since: Format.isoTime(since),
  retriedAt: Format.isoTime(due),
  helps: StatusText.plain(helps)
})

const seconds = (duration: Duration.Duration): number => Math.round(Duration.toMillis(duration)) / 1_000

interface Shown {
  readonly report: Report.Report
  /** What keeps the store from being in sync. */
  readonly conditions: ReadonlyArray<Report.Condition>
  readonly commands: Commands
}

const json = ({ commands, conditions, report }: Shown) => {
  const { account, completeFrom, now, outages, products, requests, sample, since, snapshot, snapshots, soldOut } = report
  const numbers = Headline.numbers(sample)
  return {
    at: Format.isoTime(now),
    since: Format.isoTime(since),
    completeFrom: { requests: Format.isoTime(completeFrom.requests), events: Format.isoTime(completeFrom.events) },
    account: account === undefined ? null : { baseUrl: account.baseUrl, id: account.id ?? null },
    now: {
      headline: Headline.sentence(numbers),
      ...numbers,
      conditions: conditions.map(({ action, description, label, lead }) => ({
        label,
        lead: lead ?? null,
        description: StatusText.plain(description),
        action: StatusText.plain(action)
      })),
      items: Headline.items(sample, commands).map(itemJson),
      heldSnapshot: Option.getOrNull(Option.map(snapshot.held, (held) => held.number)),
      snapshotAcceptedAt: Format.isoTime(snapshot.takenAt)
    },
    products,
    soldOutSeconds: soldOut === undefined ? null : {
      count: soldOut.count,
      median: seconds(soldOut.median),
      p95: seconds(soldOut.most),
      longest: seconds(soldOut.longest),
      longestProduct: soldOut.longestProduct
    },
    requests: {
      total: requests.total,
      confirmed: requests.confirmed,
      lastAt: Format.isoTime(requests.lastAt),
      busiestMinute: requests.busiest === undefined
        ? null
        : { from: Format.isoTime(requests.busiest.from), requests: requests.busiest.requests },
      failures: requests.failures.map((failure) => ({ ...failure, lastAt: Format.isoTime(failure.lastAt) }))
    },
    snapshots,
    outages: outages.map((outage) => ({ ...outage, from: Format.isoTime(outage.from), to: Format.isoTime(outage.to) }))
  }
}

const text = ({ commands, conditions, report }: Shown) =>
  Effect.gen(function*() {
    const output = yield* Output
    const { now, outages, requests, sample, snapshot } = report
    const numbers = Headline.numbers(sample)
    const sentences = conditions.map(({ action, description, lead }) =>
      [lead === undefined ? "" : `${lead}.`, StatusText.plain(description), StatusText.plain(action)].filter((part) => part !== "").join(
        " "
      )
    )
    yield* output.text(Text.visible([...sentences, Headline.sentence(numbers)].join("\n")))
    yield* Format.titled(
      "Needs you",
      [{ head: "product" }, { head: "what is wrong", overflow: "wrap" }, { head: "what helps", overflow: "wrap" }],
      Headline.items(sample, commands).map(({ helps, subject, wrong }) => [subject, wrong, StatusText.plain(helps)])
    )
    const more = numbers.needing - Headline.items(sample, commands).length
    if (more > 0) yield* output.text(`… and ${StatusText.grouped(more)} more: \`${commands.statusJson}\` lists all of them`)
    yield* output.text(`\nSince ${Format.shortTime(report.since)}`)
    for (const gap of ReportText.gaps(report)) yield* output.text(gap)
    yield* output.one({}, [
      ["account", subjectOf(report) ?? "none yet"],
      ...ReportText.facts(report),
      ["last request", Format.shortTime(requests.lastAt) ?? "none"],
      ["last snapshot", Format.shortTime(snapshot.takenAt) ?? "none yet"]
    ])
    yield* Format.titled(
      "Outages",
      [{ head: "what" }, { head: "from" }, { head: "lasted" }, { head: "why", overflow: "wrap" }],
      outages.map((outage) => [
        ReportText.outageName(outage),
        Format.shortTime(outage.from),
        ReportText.outageLength(outage, now),
        ReportText.reason(outage)
      ])
    )
    yield* Format.titled(
      "Requests that were not confirmed",
      [
        { head: "code" },
        { head: "requests", align: "right" },
        { head: "products", align: "right" },
        { head: "last message", overflow: "wrap" }
      ],
      requests.failures.map(({ code, message, products, requests }) => [code, requests, products, message])
    )
  })

/** `recorded`: what keeps an account of a fleet from being in sync, beside its ledger. */
export const run = Effect.fnUntraced(function*({ format, since }: Options, recorded?: ReadonlyArray<Report.Condition>) {
  const output = yield* Output
  const ledger = yield* Ledger
  const commands = yield* LedgerCommands
  const from = "at" in since ? since.at : DateTime.subtractDuration(yield* DateTime.now, since.before)
  if (DateTime.isGreaterThan(from, yield* DateTime.now)) return yield* Setting.usageError("--since must not be in the future")
  const report = yield* Report.read(ledger, from)
  const conditions = Report.conditions(report, commands, recorded)
  if (output.json || format === "json") return yield* output.value(json({ report, conditions, commands }))
  if (format === "text") return yield* text({ report, conditions, commands })
  const { render } = yield* Effect.promise(() => import("../observability/ReportPage.ts"))
  yield* output.text(render(report, { subject: subjectOf(report), conditions, commands }).trimEnd())
})
