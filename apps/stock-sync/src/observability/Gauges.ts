/** Sets the gauges from a monitor snapshot, and initialises the counters. */
import { Metrics as ClientMeasures } from "@plaza/client"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type { Counts } from "../ledger/Ledger.js"
import { type AccountState, outcomes } from "../sync/SyncStatus.js"
import { version } from "../version.js"
import * as Measures from "./Metrics.js"
import type { Figures, Look, Options } from "./StatusSampler.js"

const accounts: ReadonlyArray<readonly [tag: AccountState["_tag"], name: string]> = [
  ["Starting", "starting"],
  ["Running", "running"],
  ["Paused", "paused"],
  ["Quota", "quota"],
  ["Trouble", "trouble"]
]

const classes = ["soldOut", "falling", "backInStock", "rest", "doubtful"] as const
const states = ["settled", "pending", "sending", "doubtful", "quarantined"] as const satisfies ReadonlyArray<keyof Counts>

type Setting = Effect.Effect<void>

const set = (gauge: Metric.Metric.Gauge<number>, value: number | undefined): Setting =>
  value === undefined ? Effect.void : Metric.set(gauge, value)

const seconds = (millis: number | undefined) => millis === undefined ? undefined : millis / 1_000

const ofFigures = ({ backlog, counts }: Figures, now: number): ReadonlyArray<Setting> => {
  const age = (since: number | undefined) => since === undefined ? 0 : Math.max(0, now - since) / 1_000
  return [
    ...classes.flatMap((urgency) => [
      set(Metric.tagged(Measures.backlog, "priority", urgency), backlog.waiting[urgency]),
      set(Metric.tagged(Measures.oldestWaiting, "priority", urgency), age(backlog.longest[urgency]))
    ]),
    ...states.map((state) => set(Metric.tagged(Measures.products, "state", state), counts[state])),
    set(Measures.rejectedRows, counts.rejectedRows),
    set(Measures.negativeRows, counts.negativeRows),
    set(Measures.missing, counts.missing),
    set(Measures.oldestConfirmation, age(Option.getOrUndefined(backlog.oldestConfirmation)))
  ]
}

export const update = ({ figures, now, rateInUse, reasons, state: { account, source } }: Look, options: Options): Effect.Effect<void> =>
  Effect.all([
    ...accounts.map(([tag, name]) => set(Metric.tagged(Measures.account, "state", name), tag === account._tag ? 1 : 0)),
    ...(figures === undefined ? [] : ofFigures(figures, now)),
    set(Measures.ready, reasons.length === 0 ? 1 : 0),
    set(Measures.sourceRead, seconds(source.readAt)),
    set(Measures.sourceFailed, seconds(source.failing?.failure.at)),
    set(Measures.sourceStaleAfter, options.sourcePatience === undefined ? undefined : Duration.toSeconds(options.sourcePatience)),
    set(Measures.sourceRows, source.rows),
    set(Measures.held, source.held === undefined ? 0 : 1),
    set(Measures.rateInUse, rateInUse),
    set(Measures.rateLimit, options.rateLimit),
    set(Metric.tagged(Measures.build, "version", version), 1)
  ], { discard: true })

/** Has every counter stand at zero: an alert on its growth would miss the first event else. */
export const announce: Effect.Effect<void> = Effect.all([
  ...outcomes.map((outcome) => Metric.value(Metric.tagged(Measures.sends, "outcome", outcome))),
  ...classes.map((urgency) => Metric.value(Metric.tagged(Measures.timeToShelf, "priority", urgency))),
  Metric.value(Measures.ledgerFaults),
  Metric.value(Measures.mismatches),
  Metric.value(Measures.drift),
  ...Measures.webhookOutcomes.map((outcome) => Metric.value(Metric.tagged(Measures.webhookDeliveries, "outcome", outcome))),
  Metric.value(ClientMeasures.requests),
  Metric.value(ClientMeasures.retries),
  Metric.value(ClientMeasures.rateLimited),
  Metric.value(ClientMeasures.waits)
], { discard: true })
