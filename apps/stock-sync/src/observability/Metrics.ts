/**
 * The metrics of a running worker, for exporters of Effect's metrics. Durations are in seconds, instants in seconds since the epoch.
 * `Metrics` of `@plaza/client` has the client's own.
 */
import * as ClientMetrics from "@plaza/client/Metrics"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import { mismatchTag, states } from "../ledger/Entry.ts"
import { priorities, type Waiting } from "../ledger/StockPriority.ts"
import { type AccountState, outcomes } from "../sync/SyncStatus.ts"
import { version } from "../version.ts"
import { age, type Change, type Status } from "./Status.ts"

const named = (name: string) => `plaza_stock_sync_${name}`
const gauge = (name: string, description: string) => Metric.gauge(named(name), { description })
const counter = (name: string, description: string) => Metric.counter(named(name), { description, incremental: true })

/** By `priority`. */
export const backlog = gauge("backlog", "Products that wait to be sent")
/** By `priority`; 0 where nothing waits. */
export const oldestWaiting = gauge("oldest_waiting_seconds", "Age of the product that waits longest")
/** By `state`. */
export const products = gauge("products", "Products by state")
export const ready = gauge("ready", "1 if /readyz responds with 200")
/** By `version`. */
export const build = gauge("build_info", "1, with the version as a label")
export const drift = gauge("drifted_products",
  "Products whose stock in the store differed from the confirmed stock at the last reconciliation")
/** By `state`. */
const account = gauge("account_state", "1 for the current state of the account, else 0")

export const ledgerFaults = counter("ledger_faults", "Failures to open, read or write the ledger")
const mismatches = counter("stock_mismatches", "Responses with another stock than the one sent")
/** By `outcome`. */
const sends = counter("sends", "Requests that ended, by outcome")
const webhookDeliveries = counter("webhook_deliveries", "Webhook deliveries that ended, by outcome")
const webhookOutcomes = ["delivered", "failed", "dropped"] as const
export type WebhookOutcome = (typeof webhookOutcomes)[number]
export const webhook = (outcome: WebhookOutcome) => Metric.withAttributes(webhookDeliveries, { outcome })

const chatMessages = counter("notifications", "Messages to the chat that ended, by outcome")
const messageOutcomes = ["delivered", "failed"] as const
export const messages = (outcome: (typeof messageOutcomes)[number]) => Metric.withAttributes(chatMessages, { outcome })

/** By `priority`. */
const timeToShelf = Metric.histogram(named("time_to_shelf_seconds"), {
  description: "Time from the snapshot with a new stock to its confirmation",
  // From the wait for the next slot to the wait for the quota of the next day.
  boundaries: [0.25, 1, 2.5, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400]
})

const accounts: ReadonlyArray<AccountState["_tag"]> = ["Starting", "Running", "Paused", "Quota", "Trouble"]
const waiting = priorities.filter((priority): priority is Waiting => priority !== "assertion")

const seconds = (at: DateTime.Utc | undefined) => at && DateTime.toEpochMillis(at) / 1_000
const secondsSince = (since: DateTime.Utc | undefined, now: DateTime.Utc) => since === undefined ? 0 : Duration.toSeconds(age(since, now))

/** An undefined value is not exported, or stays as it was. */
type Gauge = readonly [gauge: Metric.Metric<number, unknown>, value: (status: Status) => number | undefined]

const gauges: ReadonlyArray<Gauge> = [
  ...accounts.map((tag): Gauge => [
    Metric.withAttributes(account, { state: tag.toLowerCase() }),
    ({ state }) => state.account._tag === tag ? 1 : 0
  ]),
  ...waiting.map((priority): Gauge => [Metric.withAttributes(backlog, { priority }), ({ ledger }) => ledger?.backlog.waiting[priority]]),
  ...waiting.map((priority): Gauge => [
    Metric.withAttributes(oldestWaiting, { priority }),
    ({ ledger, now }) => ledger && secondsSince(ledger.backlog.longest[priority], now)
  ]),
  ...states.map((state): Gauge => [Metric.withAttributes(products, { state }), ({ ledger }) => ledger?.counts[state]]),
  [gauge("rejected_rows", "Rejected rows of the last snapshot"), ({ ledger }) => ledger?.counts.rejectedRows],
  [gauge("negative_rows", "Rows of the last snapshot with a negative stock, taken as 0"), ({ ledger }) => ledger?.counts.negativeRows],
  [gauge("missing_products", "Products that the last snapshot did not name"), ({ ledger }) => ledger?.counts.missing],
  [
    gauge("oldest_confirmation_age_seconds", "Age of the oldest confirmation of a settled product"),
    ({ ledger, now }) => ledger && secondsSince(Option.getOrUndefined(ledger.backlog.oldestConfirmation), now)
  ],
  [ready, ({ reasons }) => reasons.length === 0 ? 1 : 0],
  [
    gauge("source_last_read_timestamp_seconds", "Time of the last successful read of the source"),
    ({ state }) => seconds(state.source.readAt)
  ],
  [
    gauge("source_last_failed_timestamp_seconds", "Time of the last failed read of the source"),
    ({ state }) => seconds(state.source.failing?.failure.at)
  ],
  [
    gauge("source_stale_after_seconds", "Age at which the source counts as stale"),
    ({ sourceStaleAfter }) => sourceStaleAfter && Duration.toSeconds(sourceStaleAfter)
  ],
  [gauge("source_rows", "Rows of the last snapshot that was read to its end"), ({ state }) => state.source.rows],
  [gauge("snapshot_held", "1 while a snapshot is held"), ({ state }) => state.source.held === undefined ? 0 : 1],
  [gauge("rate_in_use", "Requests in the last window of the rate limit"), ({ rateInUse }) => rateInUse],
  [gauge("rate_limit", "Requests that the rate limit allows in a window"), ({ rateLimit }) => rateLimit],
  [Metric.withAttributes(build, { version }), () => 1]
]

/** Sets the gauges. */
export const update = (status: Status): Effect.Effect<void> =>
  Effect.forEach(gauges, ([gauge, valueOf]) => {
    const value = valueOf(status)
    return value === undefined ? Effect.void : Metric.update(gauge, value)
  }, { discard: true })

/** Counts an event. */
export const count = ({ event }: Change): Effect.Effect<void> => {
  if (event._tag === "LedgerChanged") return event.ledger._tag === "Failing" ? Metric.update(ledgerFaults, 1) : Effect.void
  if (event._tag !== "Sent") return Effect.void
  const { at, failure, outcome, priority, since } = event
  return Effect.all([
    Metric.update(Metric.withAttributes(sends, { outcome }), 1),
    ...failure?.tag === mismatchTag ? [Metric.update(mismatches, 1)] : [],
    ...outcome === "confirmed" && priority !== "assertion"
      ? [Metric.update(Metric.withAttributes(timeToShelf, { priority }), Duration.toSeconds(age(since, at)))]
      : []
  ], { discard: true })
}

/** Creates every counter with the value 0. Otherwise an alert on an increase would miss the first event. */
export const initializeCounters: Effect.Effect<void> = Effect.all([
  ...outcomes.map((outcome) => Metric.value(Metric.withAttributes(sends, { outcome }))),
  ...waiting.map((priority) => Metric.value(Metric.withAttributes(timeToShelf, { priority }))),
  ...webhookOutcomes.map((outcome) => Metric.value(webhook(outcome))),
  ...messageOutcomes.map((outcome) => Metric.value(messages(outcome))),
  ...[ledgerFaults, mismatches, ClientMetrics.requests, ClientMetrics.retries, ClientMetrics.rateLimited].map(Metric.value),
  Metric.value(ClientMetrics.waits)
], { discard: true })
