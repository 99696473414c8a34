/**
 * What a database that doesn't answer leads to: it is asked again later and later, and an outage that lasts is told of
 * once. Knows nothing of what it is asked.
 *
 * @since 0.1.0
 */
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { now } from "../../MonotonicTime.js"

// Being turned away for moments is how SQLite works; a database that is away for longer is worth telling of.
const worthTelling = 5_000

const reasonOf = (error: SqlError): string => {
  const cause: unknown = error.cause
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message
}

/** @since 0.1.0 @category models */
export class Outage {
  private failures = 0
  private since = 0
  private told = false
  private reason: string | undefined

  /** Why nobody gets a slot, while the database doesn't answer. */
  get why(): string | undefined {
    return this.reason === undefined
      ? undefined
      : `the database that holds the key's allowance does not answer (${this.reason})`
  }

  /** A statement failed; gives the moment from which on to ask again. */
  failed(error: SqlError): Effect.Effect<number> {
    return Effect.gen(this, function*() {
      const at = yield* now
      this.reason = reasonOf(error)
      const delay = Math.min(1_000, 5 * 2 ** this.failures++) * (0.5 + (yield* Random.next))
      if (this.failures === 1) {
        this.since = at
      }
      if (!this.told && at >= this.since + worthTelling) {
        this.told = true
        yield* Effect.logWarning(this.why)
      }
      return at + Math.ceil(delay)
    })
  }

  ended(): void {
    this.failures = 0
    this.told = false
    this.reason = undefined
  }
}
