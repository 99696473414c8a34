/**
 * The paused operations of an allowance. Logs each pause and each long wait once.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Metrics from "../../Metrics.ts"
import type { PausedOperation } from "../../RateLimit.ts"
import type { MonotonicMillis } from "../Compat.ts"

// A shorter wait for the allowance is normal.
const longWait = Duration.toMillis("5 seconds")

const seconds = (now: MonotonicMillis, until: MonotonicMillis): number => Math.ceil((until - now) / 1_000)

/** @since 0.1.0 @category models */
export class Pauses {
  private readonly operations = new Map<string, MonotonicMillis>()
  private waitLoggedUntil: MonotonicMillis = Number.NEGATIVE_INFINITY
  private waiters = 0

  /** The number of requests of this process that wait for the end of an operation's pause. */
  get waiting(): number {
    return this.waiters
  }

  /** Counts a request as waiting while it waits for the end of a pause. */
  during<A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const add = (count: number) =>
      Effect.sync(() => {
        this.waiters += count
      })
    return Effect.acquireUseRelease(add(1), () => wait, () => add(-1))
  }

  /** The end of the operation's pause; undefined if it is not paused. */
  until(operation: string | undefined, now: MonotonicMillis): MonotonicMillis | undefined {
    if (operation === undefined || this.operations.size === 0) {
      return undefined
    }
    const until = this.operations.get(operation)
    if (until !== undefined && until <= now) {
      this.operations.delete(operation)
      return undefined
    }
    return until
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
  list(now: MonotonicMillis): Effect.Effect<ReadonlyArray<PausedOperation>> {
    return Effect.map(DateTime.now,
      (wallNow) =>
        [...this.operations].flatMap(([operation, until]) =>
          until > now ? [{ operation, until: DateTime.add(wallNow, { millis: Math.ceil(until - now) }) }] : []
        ))
  }

  /** Logs and counts a pause of the key, or of one operation. */
  report(operation: string | undefined, now: MonotonicMillis, until: MonotonicMillis): Effect.Effect<void> {
    const event = operation === undefined
      ? Effect.logInfo("rate_limit.key_paused")
      : Effect.annotateLogs(Effect.logWarning("rate_limit.operation_paused"), { operation })
    return Effect.annotateLogs(event, { seconds: seconds(now, until) }).pipe(
      Effect.andThen(Metric.increment(Metric.tagged(Metrics.pauses, "scope", operation === undefined ? "key" : "operation")))
    )
  }

  /** Logs a long wait for the allowance, once until the wait ends. */
  reportWait(now: MonotonicMillis, until: MonotonicMillis): Effect.Effect<void> {
    if (until <= now + longWait || now < this.waitLoggedUntil) {
      return Effect.void
    }
    this.waitLoggedUntil = until
    return Effect.annotateLogs(Effect.logInfo("rate_limit.waiting"), { seconds: seconds(now, until) })
  }
}
