/**
 * What every allowance does in the same way, wherever it keeps its slots: a slot serves one request or is released unused, a
 * paused operation waits apart from the others, and a refusal pauses the key or the operation.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { ClientClosed, RateLimitWaitExceeded } from "../../ClientError.js"
import type { RateLimit, Refusal, RequestOptions, Slot, WaitOptions } from "../../RateLimit.js"
import type { MonotonicMillis } from "../Compat.js"
import { monotonicWith, sleepUntil } from "../Compat.js"
import type { Shutdown } from "../delivery/Shutdown.js"
import { clientClosed } from "../delivery/Shutdown.js"
import type { Pace } from "./Pace.js"
import type { Pauses } from "./Pauses.js"
import type { Granted } from "./WaitQueue.js"
import { waitExceeded } from "./WaitQueue.js"

/** Makes an effect as interruptible as the caller that asks for the slot. @since 0.1.0 @category models */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Where slots come from. The effects are uninterruptible but for what they restore themselves.
 *
 * @since 0.1.0
 * @category models
 */
export interface SlotSource<S> {
  readonly window: Duration.Duration
  readonly pace: Pace
  readonly pauses: Pauses
  readonly shutdown: Shutdown
  /** Waits for a slot until the deadline. */
  readonly acquire: (
    deadline: MonotonicMillis,
    options: WaitOptions,
    restore: Restore
  ) => Effect.Effect<Granted<S>, RateLimitWaitExceeded | ClientClosed>
  /** A request goes out in the slot. Acquires another slot where that one is lost. */
  readonly send: <E>(slot: S, acquireOther: Effect.Effect<S, E>) => Effect.Effect<S, E>
  /** The request in the slot ended. The service may have counted it until now. */
  readonly complete: (slot: S) => Effect.Effect<void>
  /** The service did not count the request in the slot. */
  readonly discard: (slot: S) => Effect.Effect<void>
  /** Nothing was sent from the slot. */
  readonly release: (slot: S) => Effect.Effect<void>
  /** Requests that the service accepted within the last window, as far as this process knows. */
  readonly recent: (now: MonotonicMillis) => number
  /** Until when no request of the key may go. */
  readonly pausedUntil: () => MonotonicMillis
  /** Lets no request of the key go for this time, which ends later than a pause that runs. */
  readonly pauseKey: (now: MonotonicMillis, time: Duration.Duration) => Effect.Effect<void>
  /** Makes the waiters for an operation ask again, now that it is paused for this time. */
  readonly pauseOperation: (operation: string, time: Duration.Duration) => Effect.Effect<void>
}

/** @since 0.1.0 @category constructors */
export const from = <S>(source: SlotSource<S>): Pick<RateLimit["Type"], "reserve" | "withSlot" | "pauseFor"> => {
  const { pace, pauses, shutdown } = source

  const acquireBy = (
    deadline: MonotonicMillis,
    options: WaitOptions,
    restore: Restore
  ): Effect.Effect<S, RateLimitWaitExceeded | ClientClosed> =>
    monotonicWith((now) => {
      if (shutdown.isShutDown || options.shutdown?.isShutDown === true) {
        return Effect.fail(clientClosed())
      }
      const until = pauses.until(options.operation, now)
      if (until === undefined) {
        return Effect.flatMap(
          source.acquire(deadline, options, restore),
          Option.match({ onNone: () => acquireBy(deadline, options, restore), onSome: Effect.succeed })
        )
      }
      if (until > deadline) {
        return waitExceeded(now, until, `the service asked for a pause of ${options.operation}`)
      }
      const ended = options.shutdown === undefined
        ? shutdown.failed
        : Effect.raceFirst(shutdown.failed, options.shutdown.failed)
      return Effect.andThen(restore(Effect.raceFirst(sleepUntil(until), ended)), acquireBy(deadline, options, restore))
    })

  const deadlineAfter = (now: MonotonicMillis, maxWait: Duration.Duration): MonotonicMillis => now + Duration.toMillis(maxWait)

  const pauseKey = (now: MonotonicMillis, time: Duration.Duration): Effect.Effect<void> =>
    Effect.suspend(() => {
      const before = source.pausedUntil()
      const until = now + Duration.toMillis(time)
      if (until <= before) {
        return Effect.void
      }
      const report = before <= now && until > now ? pauses.report(undefined, now, until) : Effect.void
      return Effect.andThen(report, source.pauseKey(now, time))
    })

  const pauseOperation = (now: MonotonicMillis, operation: string, time: Duration.Duration): Effect.Effect<void> =>
    Effect.suspend(() => {
      const until = now + Duration.toMillis(time)
      const wasOpen = pauses.until(operation, now) === undefined
      if (!pauses.add(operation, until)) {
        return Effect.void
      }
      const report = wasOpen ? pauses.report(operation, now, until) : Effect.void
      return Effect.andThen(report, source.pauseOperation(operation, time))
    })

  const afterRefusal = (
    slot: S,
    { counted, retryAfter = Duration.zero }: Refusal,
    sentAt: MonotonicMillis,
    operation: string | undefined
  ): Effect.Effect<void> =>
    monotonicWith((now) => {
      if (Duration.greaterThan(retryAfter, source.window) && operation !== undefined) {
        return Effect.andThen(pauseOperation(now, operation, retryAfter), source.complete(slot))
      }
      if (counted) {
        return Effect.andThen(pauseKey(now, retryAfter), source.complete(slot))
      }
      // A refused request is not counted here, so a shorter pause could exceed the limit by refusals alone.
      const pause = Duration.greaterThan(retryAfter, Duration.zero)
        ? Duration.max(retryAfter, Duration.millis(pace.interval))
        : pace.backoff(now, sentAt)
      pace.refused(now, sentAt, source.recent(now), now + Duration.toMillis(pause))
      return Effect.andThen(pauseKey(now, pause), source.discard(slot))
    })

  const sendIn = <A, E, R, E2>(
    slot: S,
    request: Effect.Effect<A, E, R>,
    options: RequestOptions<E>,
    restore: Restore,
    acquireOther: Effect.Effect<S, E2>
  ) =>
    Effect.flatMap(source.send(slot, acquireOther), (current) =>
      monotonicWith((sentAt) =>
        Effect.onExit(restore(request), (exit) => {
          const refusal = options.refusal === undefined || Exit.isSuccess(exit)
            ? undefined
            : Option.getOrUndefined(Option.map(Cause.failureOption(exit.cause), options.refusal))
          if (refusal !== undefined) {
            return afterRefusal(current, refusal, sentAt, options.operation)
          }
          pace.accepted(sentAt)
          return source.complete(current)
        })
      ))

  return {
    reserve: (maxWait, waitOptions = {}) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(monotonicWith((now) => acquireBy(deadlineAfter(now, maxWait), waitOptions, restore)), (acquired) => {
          let isUsed = false
          const slot: Slot = {
            use: (request, options = {}) =>
              Effect.uninterruptibleMask((restore) => {
                if (isUsed) {
                  return Effect.dieMessage("a slot of the allowance serves one request, as long as its scope is open")
                }
                isUsed = true
                // The maximum wait was for the reservation: a request that loses the slot later waits without a deadline.
                const operation = options.operation ?? waitOptions.operation
                const acquireOther = Effect.catchTag(
                  acquireBy(Number.POSITIVE_INFINITY, { ...waitOptions, operation }, restore),
                  "RateLimitWaitExceeded",
                  (error) => Effect.die(error)
                )
                return sendIn(acquired, request, options, restore, acquireOther)
              })
          }
          const releaseUnused = Effect.suspend(() => {
            if (isUsed) {
              return Effect.void
            }
            isUsed = true
            return source.release(acquired)
          })
          return Effect.as(Effect.addFinalizer(() => releaseUnused), slot)
        })
      ),
    withSlot: (maxWait, request, options = {}) =>
      Effect.uninterruptibleMask((restore) =>
        monotonicWith((now) => {
          const acquireSlot = acquireBy(deadlineAfter(now, maxWait), options, restore)
          return Effect.flatMap(acquireSlot, (acquired) => sendIn(acquired, request, options, restore, acquireSlot))
        })
      ),
    pauseFor: (time, operation) =>
      monotonicWith((now) => operation === undefined ? pauseKey(now, time) : pauseOperation(now, operation, time))
  }
}
