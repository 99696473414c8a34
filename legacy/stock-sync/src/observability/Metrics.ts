/**
 * The metrics of a running worker, for exporters of Effect's metrics. Durations are in seconds, instants in seconds
 * since the epoch. `Metrics` of `@plaza-legacy/client` has the client's own.
 */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"

const named = (name: string) => `plaza_stock_sync_${name}`
const gauge = (name: string, description: string) => Metric.gauge(named(name), { description })
const counter = (name: string, description: string) => Metric.counter(named(name), { description, incremental: true })

/** By `priority`. */
export const backlog = gauge("backlog", "Products that wait to be sent")
/** By `priority`; 0 where nothing waits. */
export const oldestWaiting = gauge("oldest_waiting_seconds", "Age of the product that waits longest")
/** By `state`. */
export const products = gauge("products", "Products by state")
export const rejectedRows = gauge("rejected_rows", "Rejected rows of the last snapshot")
export const negativeRows = gauge("negative_rows", "Rows of the last snapshot with a negative stock, taken as 0")
export const missing = gauge("missing_products", "Products that the last snapshot did not name")
export const drift = gauge("drifted_products",
  "Products whose stock in the store differed from the confirmed stock at the last reconciliation")
export const mismatches = counter("stock_mismatches", "Responses with another stock than the one sent")
export const oldestConfirmation = gauge("oldest_confirmation_age_seconds", "Age of the oldest confirmation of a settled product")
export const rateInUse = gauge("rate_in_use", "Requests in the last window of the rate limit")
export const rateLimit = gauge("rate_limit", "Requests that the rate limit allows in a window")
/** By `state`. */
export const account = gauge("account_state", "1 for the current state of the account, else 0")
export const ready = gauge("ready", "1 if /readyz responds with 200")
export const sourceRead = gauge("source_last_read_timestamp_seconds", "Time of the last successful read of the source")
export const sourceFailed = gauge("source_last_failed_timestamp_seconds", "Time of the last failed read of the source")
export const sourceStaleAfter = gauge("source_stale_after_seconds", "Age at which the source counts as stale")
export const sourceRows = gauge("source_rows", "Rows of the last snapshot that was read to its end")
export const held = gauge("snapshot_held", "1 while a snapshot is held")
/** By `version`. */
export const build = gauge("build_info", "1, with the version as a label")
/** By `outcome`. */
export const sends = counter("sends", "Requests that ended, by outcome")
export const ledgerFaults = counter("ledger_faults", "Failures to open, read or write the ledger")

export const webhookOutcomes = ["delivered", "failed", "dropped"] as const
export type WebhookOutcome = (typeof webhookOutcomes)[number]
/** By `outcome`. */
export const webhookDeliveries = counter("webhook_deliveries", "Webhook deliveries that ended, by outcome")

/** By `priority`. */
export const timeToShelf = Metric.histogram(
  named("time_to_shelf_seconds"),
  // From the wait for the next slot to the wait for the quota of the next day.
  MetricBoundaries.fromIterable([0.25, 1, 2.5, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400]),
  "Time from the snapshot with a new stock to its confirmation"
)
