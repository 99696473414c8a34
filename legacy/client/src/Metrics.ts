/**
 * The client's metrics, for any exporter of Effect's metrics.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"

/**
 * Requests sent, retries included.
 *
 * @since 0.1.0
 * @category metrics
 */
export const requests = Metric.counter("plaza_client_requests", {
  description: "Requests sent, retries included",
  incremental: true
})

/**
 * Attempts beyond the first of a call.
 *
 * @since 0.1.0
 * @category metrics
 */
export const retries = Metric.counter("plaza_client_retries", {
  description: "Requests sent again after a failure",
  incremental: true
})

/**
 * Responses with status 429.
 *
 * @since 0.1.0
 * @category metrics
 */
export const rateLimited = Metric.counter("plaza_client_rate_limited", {
  description: "Responses with status 429",
  incremental: true
})

/**
 * Pauses after a `Retry-After` or a 429, with the tag `scope`: `key` or `operation`.
 *
 * @since 0.1.0
 * @category metrics
 */
export const pauses = Metric.counter("plaza_client_rate_pauses", {
  description: "Pauses of the key, or of an operation with an exhausted quota",
  incremental: true
})

/**
 * The time that a request waited for a slot of the key's allowance, in seconds. Requests that waited for less than a millisecond are
 * not counted.
 *
 * @since 0.1.0
 * @category metrics
 */
export const waits = Metric.histogram(
  "plaza_client_rate_wait_seconds",
  MetricBoundaries.fromIterable([0.01, 0.1, 1, 5, 15, 30, 60, 300]),
  "Seconds that requests waited for the key's allowance"
)
