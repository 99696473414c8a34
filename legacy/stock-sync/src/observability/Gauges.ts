/** Sets the gauges from a status snapshot, and initialises the counters. */
import { Metrics as ClientMetrics } from "@plaza-legacy/client"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type { Counts } from "../ledger/Ledger.ts"
import { type AccountState, outcomes } from "../sync/SyncStatus.ts"
import { version } from "../version.ts"
import * as Metrics from "./Metrics.ts"
import type { LedgerSample, Options, StatusSnapshot } from "./StatusSampler.ts"

const accounts: ReadonlyArray<readonly [tag: AccountState["_tag"], name: string]> = [
  ["Starting", "starting"],
  ["Running", "running"],
  ["Paused", "paused"],
  ["Quota", "quota"],
  ["Trouble", "trouble"]
]

const priorities = ["soldOut", "falling", "backInStock", "rest", "doubtful"] as const
const states = ["settled", "pending", "sending", "doubtful", "uncertain", "quarantined"] as const satisfies ReadonlyArray<keyof Counts>

const set = (gauge: Metric.Metric.Gauge<number>, value: number | undefined): Effect.Effect<void> =>
  value === undefined ? Effect.void : Metric.set(gauge, value)

const seconds = (at: DateTime.Utc | undefined) => at === undefined ? undefined : DateTime.toEpochMillis(at) / 1_000

const updateLedger = ({ backlog, counts }: LedgerSample, now: DateTime.Utc): ReadonlyArray<Effect.Effect<void>> => {
  const age = (since: DateTime.Utc | undefined) => since === undefined ? 0 : Math.max(0, DateTime.distance(since, now)) / 1_000
  return [
    ...priorities.flatMap((priority) => [
      set(Metric.tagged(Metrics.backlog, "priority", priority), backlog.waiting[priority]),
      set(Metric.tagged(Metrics.oldestWaiting, "priority", priority), age(backlog.longest[priority]))
    ]),
    ...states.map((state) => set(Metric.tagged(Metrics.products, "state", state), counts[state])),
    set(Metrics.rejectedRows, counts.rejectedRows),
    set(Metrics.negativeRows, counts.negativeRows),
    set(Metrics.missing, counts.missing),
    set(Metrics.oldestConfirmation, age(Option.getOrUndefined(backlog.oldestConfirmation)))
  ]
}

export const update = (
  { ledger, now, rateInUse, reasons, state: { account, source } }: StatusSnapshot,
  options: Options
): Effect.Effect<void> =>
  Effect.all([
    ...accounts.map(([tag, name]) => set(Metric.tagged(Metrics.account, "state", name), tag === account._tag ? 1 : 0)),
    ...(ledger === undefined ? [] : updateLedger(ledger, now)),
    set(Metrics.ready, reasons.length === 0 ? 1 : 0),
    set(Metrics.sourceRead, seconds(source.readAt)),
    set(Metrics.sourceFailed, seconds(source.failing?.failure.at)),
    set(Metrics.sourceStaleAfter, options.sourceStaleAfter === undefined ? undefined : Duration.toSeconds(options.sourceStaleAfter)),
    set(Metrics.sourceRows, source.rows),
    set(Metrics.held, source.held === undefined ? 0 : 1),
    set(Metrics.rateInUse, rateInUse),
    set(Metrics.rateLimit, options.rateLimit),
    set(Metric.tagged(Metrics.build, "version", version), 1)
  ], { discard: true })

/** Creates every counter with the value 0. Otherwise an alert on an increase would miss the first event. */
export const initializeCounters: Effect.Effect<void> = Effect.all([
  ...outcomes.map((outcome) => Metric.value(Metric.tagged(Metrics.sends, "outcome", outcome))),
  ...priorities.map((priority) => Metric.value(Metric.tagged(Metrics.timeToShelf, "priority", priority))),
  Metric.value(Metrics.ledgerFaults),
  Metric.value(Metrics.mismatches),
  ...Metrics.webhookOutcomes.map((outcome) => Metric.value(Metric.tagged(Metrics.webhookDeliveries, "outcome", outcome))),
  Metric.value(ClientMetrics.requests),
  Metric.value(ClientMetrics.retries),
  Metric.value(ClientMetrics.rateLimited),
  Metric.value(ClientMetrics.waits)
], { discard: true })
