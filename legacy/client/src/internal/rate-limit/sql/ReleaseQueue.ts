/**
 * Background writes to the database: completed requests, released slots, pauses. A write is retried until it succeeds or the lease has
 * ended.
 *
 * @since 0.1.0
 */
import type { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { MonotonicMillis } from "../../Compat.ts"
import { monotonicElapsed, monotonicWith, wholeMillis } from "../../Compat.ts"
import type { Claim, SqlSlots } from "./SqlSlots.ts"

interface Completion {
  readonly claim: Claim
  readonly at: MonotonicMillis
}

/** @since 0.1.0 @category models */
export interface ReleaseQueue {
  /** Records that the request in a slot has ended now. */
  readonly complete: (claim: Claim) => Effect.Effect<void>
  /** Frees an unused slot. */
  readonly release: (claim: Claim) => Effect.Effect<void>
  /** Runs a statement in the background until it succeeds or the lease has ended. */
  readonly run: (statement: Effect.Effect<void, SqlError>) => Effect.Effect<void>
  /** Waits for all writes. */
  readonly drained: Effect.Effect<void>
}

interface ReleaseQueueOptions {
  readonly slots: SqlSlots
  readonly lease: Duration.Duration
  readonly window: Duration.Duration
  /** Receives the moment from which a slot is free, after the write. */
  readonly onFree: (moment: MonotonicMillis) => void
}

// SQLite rejects a statement while another process writes, which takes a fraction of a millisecond.
const backoff = Schedule.exponential("5 millis").pipe(
  Schedule.either(Schedule.spaced("1 second")),
  Schedule.jittered,
  wholeMillis
)

/** @since 0.1.0 @category constructors */
export const make = ({ lease, onFree, slots, window }: ReleaseQueueOptions): Effect.Effect<ReleaseQueue, never, Scope.Scope> =>
  Effect.map(FiberSet.make(), (background) => {
    const untilLeaseEnds = Schedule.intersect(backoff, Schedule.whileOutput(monotonicElapsed, Duration.lessThan(lease)))

    /** Retries a statement. After the end of the lease it would have no effect. */
    const retried = (statement: Effect.Effect<void, SqlError>, onSuccess: () => void = () => undefined): Effect.Effect<void> =>
      Effect.ignore(Effect.andThen(Effect.retry(statement, untilLeaseEnds), Effect.sync(onSuccess)))

    const inBackground = (write: Effect.Effect<void>): Effect.Effect<void> =>
      Effect.asVoid(FiberSet.run(background, Effect.interruptible(write)))

    const run = (statement: Effect.Effect<void, SqlError>, onSuccess?: () => void): Effect.Effect<void> =>
      inBackground(retried(statement, onSuccess))

    // Requests that complete during a write are written together, by the same fiber.
    let pending: Array<Completion> = []
    let isWriting = false
    const writePending: Effect.Effect<void> = Effect.suspend(() => {
      if (pending.length === 0) {
        isWriting = false
        return Effect.void
      }
      const completions = pending
      pending = []
      const endedAt = completions.reduce((last, { at }) => Math.max(last, at), Number.NEGATIVE_INFINITY)
      const written = retried(slots.complete(completions.map(({ claim }) => claim), endedAt), () => {
        onFree(endedAt + Duration.toMillis(window) + 1)
      })
      return Effect.andThen(written, writePending)
    })

    return {
      complete: (claim) =>
        monotonicWith((now) => {
          pending.push({ claim, at: now })
          if (isWriting) {
            return Effect.void
          }
          isWriting = true
          return inBackground(writePending)
        }),
      release: (claim) => run(slots.release(claim), () => onFree(Number.NEGATIVE_INFINITY)),
      run,
      drained: FiberSet.awaitEmpty(background)
    }
  })
