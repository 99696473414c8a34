/**
 * What is counted, for whoever exports Effect's metrics. Knows nothing of when.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"

/**
 * Requests that went out, each attempt counted.
 *
 * @since 0.1.0
 * @category metrics
 */
export const requests = Metric.counter("plaza_client_requests", {
  description: "Requests sent, repeats included",
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
 * Answers with status 429.
 *
 * @since 0.1.0
 * @category metrics
 */
export const rateLimited = Metric.counter("plaza_client_rate_limited", {
  description: "Requests that the service refused for the rate or a quota",
  incremental: true
})

/**
 * Pauses that the service asked for, tagged with their `scope`: `key` or `operation`.
 *
 * @since 0.1.0
 * @category metrics
 */
export const pauses = Metric.counter("plaza_client_rate_pauses", {
  description: "Pauses of the key, or of an operation whose quota is used up",
  incremental: true
})

/**
 * Seconds that a request waited for a slot of the allowance.
 *
 * @since 0.1.0
 * @category metrics
 */
export const waits = Metric.histogram(
  "plaza_client_rate_wait_seconds",
  MetricBoundaries.fromIterable([0.01, 0.1, 1, 5, 15, 30, 60, 300]),
  "Seconds that requests waited for the key's allowance"
)
