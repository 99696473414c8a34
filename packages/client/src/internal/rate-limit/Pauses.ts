/**
 * How an allowance responds to refusals: paused operations, and requests spaced evenly after a 429.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Metrics from "../../Metrics.ts"
import type { MonotonicMillis } from "../Time.ts"
import type { PausedOperation } from "./Models.ts"

/** Converts an instant of the monotonic clock. @since 0.1.0 @category conversions */
export const toWallClock = (until: MonotonicMillis, now: MonotonicMillis, wallNow: DateTime.Utc): DateTime.Utc =>
  DateTime.add(wallNow, { milliseconds: Math.ceil(until - now) })

/** The paused operations of an allowance. @since 0.1.0 @category models */
export class Pauses {
  private readonly operations = new Map<string, MonotonicMillis>()

  /** The end of the operation's pause; undefined if it is not paused. */
  until(operation: string | undefined, now: MonotonicMillis): MonotonicMillis | undefined {
    const until = operation === undefined ? undefined : this.operations.get(operation)
    return until !== undefined && until > now ? until : undefined
  }

  /** Pauses an operation. Returns false if its current pause ends no earlier. */
  add(operation: string, until: MonotonicMillis): boolean {
    const longer = until > (this.operations.get(operation) ?? Number.NEGATIVE_INFINITY)
    if (longer) {
      this.operations.set(operation, until)
    }
    return longer
  }

  /** The number of paused operations. */
  count(now: MonotonicMillis): number {
    return [...this.operations.values()].filter((until) => until > now).length
  }

  /** The paused operations, with the ends of their pauses. */
  list(now: MonotonicMillis, wallNow: DateTime.Utc): ReadonlyArray<PausedOperation> {
    return [...this.operations].flatMap(([operation, until]) => until > now ? [{ operation, until: toWallClock(until, now, wallNow) }] : [])
  }

  /** Logs and counts a pause of the key, or of one operation. */
  report(operation: string | undefined, now: MonotonicMillis, until: MonotonicMillis): Effect.Effect<void> {
    const event = operation === undefined
      ? Effect.logInfo("rate_limit.key_paused")
      : Effect.annotateLogs(Effect.logWarning("rate_limit.operation_paused"), { operation })
    const scope = operation === undefined ? "key" : "operation"
    return Effect.andThen(
      Effect.annotateLogs(event, { seconds: Math.ceil((until - now) / 1_000) }),
      Metric.update(Metric.withAttributes(Metrics.pauses, { scope }), 1)
    )
  }
}

// Long enough to outlast the idle time between two batches of a program.
const pacedWindows = 10

/**
 * Spaces requests evenly after a 429, until ten windows have passed without one. A service may allow the rate and still refuse a burst,
 * such as a token bucket with fewer tokens than the limit. Without a 429 it delays no request.
 *
 * @since 0.1.0
 * @category models
 */
export class Pacing {
  private readonly windowMillis: number
  /** The window divided by the limit, in milliseconds. */
  private readonly interval: number
  private nextAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  private endsAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  private refusedAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  private refusals = 0

  constructor(limit: number, window: Duration.Duration) {
    this.windowMillis = Duration.toMillis(window)
    this.interval = this.windowMillis / limit
  }

  /** The earliest moment for the request of a waiter with this many others ahead of it. */
  earliest(ahead: number): MonotonicMillis {
    return Math.min(this.nextAt + ahead * this.interval, Math.max(this.nextAt, this.endsAt))
  }

  /** The number of requests that can be sent at this moment. */
  free(at: MonotonicMillis): number {
    return at >= this.endsAt ? Number.POSITIVE_INFINITY : at >= this.nextAt ? 1 : 0
  }

  /** Counts a request. */
  acquire(at: MonotonicMillis): void {
    this.nextAt = at >= this.endsAt ? Number.NEGATIVE_INFINITY : Math.max(this.nextAt, at) + this.interval
  }

  /** Uncounts a request that was not sent. */
  release(): void {
    this.nextAt -= this.interval
  }

  /** Records a request that the service accepted. */
  accepted(sentAt: MonotonicMillis): void {
    if (sentAt >= this.refusedAt) {
      this.refusals = 0
    }
  }

  /**
   * Records a 429. Returns how long to pause the key: the time of `Retry-After`, but at least an interval, because the allowance doesn't
   * count refused requests. Without `Retry-After`, the pause is longer after each refusal in a row, up to a window.
   */
  refused(at: MonotonicMillis, sentAt: MonotonicMillis, retryAfter: Duration.Duration | undefined): Duration.Duration {
    // Requests that were in flight together are refused together.
    if (sentAt >= this.refusedAt) {
      this.refusedAt = at
      this.refusals++
    }
    const retryMillis = retryAfter === undefined ? 0 : Duration.toMillis(retryAfter)
    const pause = retryMillis > 0
      ? Math.max(retryMillis, this.interval)
      : Math.min(this.windowMillis, this.interval * 2 ** Math.max(0, this.refusals - 1))
    this.nextAt = Math.max(this.nextAt, at + pause)
    this.endsAt = at + pause + pacedWindows * this.windowMillis
    return Duration.millis(pause)
  }
}
