/** The words of a report, for its text and its page. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import type { Outage, Report } from "./Report.ts"
import { counted, duration, grouped, moment } from "./StatusText.ts"

/** A duration. Below ten seconds it has a fraction. */
export const length = (time: Duration.Duration): string => {
  const seconds = Duration.toSeconds(time)
  const digits = seconds < 1 ? 100 : 10
  return seconds < 10 ? `${Math.round(seconds * digits) / digits} s` : duration(time)
}

/** What of the period the ledger no longer has, in sentences. */
export const gaps = ({ completeFrom, since }: Report): ReadonlyArray<string> => [
  ...DateTime.isGreaterThan(completeFrom.requests, since)
    ? [
      `Requests before ${
        moment(completeFrom.requests)
      } are not counted: the ledger no longer has them. --history of the worker sets how many it keeps.`
    ]
    : [],
  ...DateTime.isGreaterThan(completeFrom.events, since)
    ? [`Snapshots and outages before ${moment(completeFrom.events)} are not counted: the ledger no longer has them.`]
    : []
]

type Facts = ReadonlyArray<readonly [name: string, value: string]>

/** What happened, by name: numbers, then what needs more words. */
export const facts = (report: Report): Facts => [...numbers(report), ...details(report)]

export const numbers = ({ products }: Report): Facts => [
  ["products sent", grouped(products.sent)],
  ["products confirmed", grouped(products.confirmed)],
  ["products refused", grouped(products.refused)],
  ["sold out", grouped(products.soldOut)],
  ["back in stock", grouped(products.backInStock)]
]

export const details = ({ requests, snapshots, soldOut }: Report): Facts => {
  const failed = requests.total - requests.confirmed
  return [
    [
      "sold out, to the confirmation",
      soldOut === undefined
        ? "none"
        : `median ${length(soldOut.median)}, 95% within ${length(soldOut.most)}, longest ${
          length(soldOut.longest)
        } (${soldOut.longestProduct})`
    ],
    ["requests", `${grouped(requests.total)}${failed === 0 ? "" : `, ${grouped(failed)} not confirmed`}`],
    [
      "busiest minute",
      requests.busiest === undefined ? "none" : `${counted(requests.busiest.requests, "request")}, at ${moment(requests.busiest.from)}`
    ],
    [
      "snapshots",
      `${grouped(snapshots.accepted)} with changes, ${grouped(snapshots.held)} held, ${
        snapshots.reverted === 0 ? "" : `${grouped(snapshots.reverted)} reverted, `
      }${grouped(snapshots.failed)} unreadable or refused`
    ]
  ]
}

const outageNames: Readonly<Record<Outage["kind"], string>> = {
  paused: "account paused",
  quota: "out of quota",
  unavailable: "service unavailable",
  source: "source unreadable"
}

export const outageName = ({ kind }: Outage): string => outageNames[kind]

/** How long an outage lasted. */
export const outageLength = ({ from, to }: Outage, now: DateTime.Utc): string =>
  to === undefined ? `${length(DateTime.distance(from, now))}, no end known` : length(DateTime.distance(from, to))

export const reason = ({ code, detail, kind }: Outage): string =>
  kind === "source" ? detail : [code, detail].filter((part) => part !== "").join(": ")
