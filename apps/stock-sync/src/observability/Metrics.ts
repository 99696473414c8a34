/**
 * The metrics of a running worker, for exporters of Effect's metrics. Durations are in seconds, instants in seconds
 * since the epoch. `Metrics` of `@plaza/client` has the client's own.
 */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"

const named = (name: string) => `plaza_stock_sync_${name}`
const gauge = (name: string, description: string) => Metric.gauge(named(name), { description })
const counter = (name: string, description: string) => Metric.counter(named(name), { description, incremental: true })

/** By `priority`. */
export const backlog = gauge("backlog", "Products that wait to be sent")
/** By `priority`; 0 where nothing waits. */
export const oldestWaiting = gauge("oldest_waiting_seconds", "For how long the product waits that waits longest")
/** By `state`. */
export const products = gauge("products", "Products by state")
export const rejectedRows = gauge("rejected_rows", "Rejected rows of the last snapshot")
export const negativeRows = gauge("negative_rows", "Rows of the last snapshot with a negative stock, taken as 0")
export const missing = gauge("missing_products", "Products that the last snapshot did not name")
export const drift = gauge("drifted_products", "Products whose stock differed from the confirmed one when the store was last read")
export const mismatches = counter("stock_mismatches", "Responses that showed another stock than the one sent")
export const oldestConfirmation = gauge("oldest_confirmation_age_seconds", "Age of the oldest confirmation that still holds")
export const rateInUse = gauge("rate_in_use", "Requests in the last window of the rate limit")
export const rateLimit = gauge("rate_limit", "Requests that the rate limit allows in a window")
/** By `state`: 1 for the one it is in. */
export const account = gauge("account_state", "State of the account, 1 for the one it is in")
export const ready = gauge("ready", "1 if /readyz answers 200")
export const sourceRead = gauge("source_last_read_timestamp_seconds", "When the source was last read or found unchanged")
export const sourceFailed = gauge("source_last_failed_timestamp_seconds", "When the source last could not be read")
export const sourceStaleAfter = gauge("source_stale_after_seconds", "For how long the source may go unread before it counts as stale")
export const sourceRows = gauge("source_rows", "Rows of the last snapshot that was read to its end")
export const held = gauge("snapshot_held", "1 while a snapshot is held")
/** By `version`. */
export const build = gauge("build_info", "1, with the version of the program")
/** By `outcome`. */
export const sends = counter("sends", "Requests that ended, by outcome")
export const ledgerFaults = counter("ledger_faults", "How often the ledger could not be opened, read or written")

export const webhookOutcomes = ["delivered", "failed", "dropped"] as const
export type WebhookOutcome = (typeof webhookOutcomes)[number]
/** By `outcome`. */
export const webhookDeliveries = counter("webhook_deliveries", "Deliveries of the webhook that ended, by outcome")

/** By `priority`. */
export const timeToShelf = Metric.histogram(
  named("time_to_shelf_seconds"),
  // From what goes out with the next slot to what waited out a day's quota.
  MetricBoundaries.fromIterable([0.25, 1, 2.5, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400]),
  "From the snapshot with a new stock to its confirmation"
)
