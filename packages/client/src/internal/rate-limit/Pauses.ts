/**
 * What pauses an allowance, and who hears of it: the operations whose quota is used up, and one log line for each pause
 * and each long wait.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Metrics from "../../Metrics.js"
import type { PausedOperation } from "../../RateLimit.js"

// A shorter wait for the allowance is how it works.
const longWait = 5_000

const seconds = (now: number, until: number): number => Math.ceil((until - now) / 1_000)

/** @since 0.1.0 @category models */
export class Pauses {
  private readonly operations = new Map<string, number>()
  private waitLoggedUntil = Number.NEGATIVE_INFINITY

  /** Until when the operation is paused, where it is. */
  until(operation: string | undefined, now: number): number | undefined {
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

  /** Pauses an operation, and says whether it was not paused for as long already. */
  add(operation: string, until: number): boolean {
    const longer = until > (this.operations.get(operation) ?? Number.NEGATIVE_INFINITY)
    if (longer) {
      this.operations.set(operation, until)
    }
    return longer
  }

  /** How many are paused. */
  count(now: number): number {
    return [...this.operations.values()].filter((until) => until > now).length
  }

  /** Those that are paused, with the moments at which they go on. */
  list(now: number): Effect.Effect<ReadonlyArray<PausedOperation>> {
    return Effect.map(DateTime.now, (wallNow) =>
      [...this.operations].flatMap(([operation, until]) =>
        until > now ? [{ operation, until: DateTime.add(wallNow, { millis: Math.ceil(until - now) }) }] : []))
  }

  /** Reports that the key, or an operation of it, is paused. */
  report(operation: string | undefined, now: number, until: number): Effect.Effect<void> {
    const event = operation === undefined
      ? Effect.logInfo("rate_limit.key_paused")
      : Effect.annotateLogs(Effect.logWarning("rate_limit.operation_paused"), { operation })
    return Effect.annotateLogs(event, { seconds: seconds(now, until) }).pipe(
      Effect.zipRight(Metric.increment(Metric.tagged(Metrics.pauses, "scope", operation === undefined ? "key" : "operation")))
    )
  }

  /** Reports a wait for the allowance, once until those who wait can go. */
  reportWait(now: number, until: number): Effect.Effect<void> {
    if (until <= now + longWait || now < this.waitLoggedUntil) {
      return Effect.void
    }
    this.waitLoggedUntil = until
    return Effect.annotateLogs(Effect.logInfo("rate_limit.waiting"), { seconds: seconds(now, until) })
  }
}
