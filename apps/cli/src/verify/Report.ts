/** The report of a run, as one JSON value. */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import type { VerifyReport } from "../schema/Outputs.ts"
import * as Findings from "./Findings.ts"
import { rules } from "./Rules.ts"
import type { Outcome } from "./Run.ts"

export type CheckedRule = VerifyReport["rules"][number]

type Status = CheckedRule["status"]

export interface Report extends Omit<VerifyReport, "learnt"> {
  readonly learnt: Findings.Findings
}

/** Judges every rule by what was observed. */
export const make = ({ observations, startedAt }: Outcome): Report => ({
  baseUrl: observations.baseUrl,
  startedAt: DateTime.formatIso(DateTime.makeUnsafe(startedAt)),
  requests: observations.sent.length,
  rules: rules.map(({ id, judge, rule, section }) => ({ id, section, rule, ...judge(observations) })),
  learnt: Findings.make(observations)
})

export const contradictions = ({ rules }: Report): ReadonlyArray<CheckedRule> => rules.filter(({ status }) => status === "contradicted")

/** `41 confirmed, 0 contradicted, 23 not observable` */
export const summary = ({ rules }: Report): string => {
  const count = (wanted: Status) => rules.filter(({ status }) => status === wanted).length
  return `${count("confirmed")} confirmed, ${count("contradicted")} contradicted, ${count("notObservable")} not observable`
}

/** A status for people. */
export const words: Readonly<Record<Status, string>> = {
  confirmed: "confirmed",
  contradicted: "contradicted",
  notObservable: "not observable"
}

/** The rules of each section, in the order of the document. */
export const bySection = (
  rules: ReadonlyArray<CheckedRule>
): ReadonlyArray<readonly [section: string, rules: ReadonlyArray<CheckedRule>]> =>
  Object.entries(Arr.groupBy(rules, ({ section }) => section))

/** What was learnt, as names and values for people. */
export const learntEntries = ({ learnt }: Report): ReadonlyArray<readonly [name: string, value: string]> => [
  ...Object.entries({ ...learnt.assumptions, ...learnt.latitude })
    .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)] as const),
  ...Object.entries(learnt.operations).map(([name, value]) => [name, [value, ...(learnt.successStatuses[name] ?? [])].join(" ")] as const),
  ...Object.entries(learnt.defaultPageSizes).map(([name, value]) => [`page size of ${name}`, String(value)] as const),
  ...Object.entries(learnt.fields).map(([name, value]) => [`fields of ${name}`, value.join(", ")] as const)
]
