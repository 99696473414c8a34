/**
 * The backoff while the database is unavailable. Logs a long outage once.
 *
 * @since 0.1.0
 */
import type { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { MonotonicMillis } from "../../Compat.ts"
import { delays, monotonicNow, wholeMillis } from "../../Compat.ts"

// SQLite rejects statements for a short time while another process writes. Only a longer outage is logged.
const longOutage = Duration.toMillis("5 seconds")

const schedule = Schedule.exponential("5 millis").pipe(
  Schedule.either(Schedule.spaced("1 second")),
  Schedule.jitteredWith({ min: 0.5, max: 1.5 }),
  wholeMillis
)

const reasonOf = (error: SqlError): string => {
  const cause: unknown = error.cause
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message
}

/** @since 0.1.0 @category models */
export class DbBackoff {
  private readonly delays = delays(schedule)
  private since: MonotonicMillis | undefined
  private isLogged = false
  private reason: string | undefined

  /** The reason that no request gets a slot, while the database is unavailable. */
  get outage(): string | undefined {
    return this.reason === undefined
      ? undefined
      : `the database of the key's allowance is unavailable (${this.reason})`
  }

  /** Records a failed statement. Returns the moment of the next try. */
  failed(error: SqlError): Effect.Effect<MonotonicMillis> {
    return Effect.gen(this, function*() {
      const at = yield* monotonicNow
      this.reason = reasonOf(error)
      this.since ??= at
      if (!this.isLogged && at >= this.since + longOutage) {
        this.isLogged = true
        yield* Effect.logWarning(this.outage)
      }
      return at + Duration.toMillis(yield* this.delays.next)
    })
  }

  /** Records a successful statement. */
  readonly reset: Effect.Effect<void> = Effect.suspend(() => {
    this.since = undefined
    this.isLogged = false
    this.reason = undefined
    return this.delays.reset
  })
}
