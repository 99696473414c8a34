/**
 * The behaviour that all allowances share, in memory and in a database: a slot serves one request or is released unused, requests of
 * a paused operation wait without blocking others, and a 429 or 503 pauses the key or the operation.
 *
 * @since 0.1.0
 */
import { longestWait } from "@plaza-legacy/domain/ErrorResponse"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ClientClosed, RateLimitWaitExceeded } from "../../ClientError.ts"
import type { PauseRequest, RateLimit, RequestOptions, Slot, WaitOptions } from "../../RateLimit.ts"
import type { MonotonicMillis } from "../Compat.ts"
import { monotonicWith, sleepUntil } from "../Compat.ts"
import type { Shutdown } from "../delivery/Shutdown.ts"
import { clientClosed } from "../delivery/Shutdown.ts"
import type { BurstLimit } from "./BurstLimit.ts"
import type { Pauses } from "./Pauses.ts"
import type { Granted } from "./WaitQueue.ts"
import { waitExceeded } from "./WaitQueue.ts"

/** Restores the interruptibility of the caller that acquires the slot. @since 0.1.0 @category models */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** The storage of slots. Its effects run uninterruptibly, except for parts that they restore. */
interface SlotBackend<S> {
  readonly window: Duration.Duration
  readonly burstLimit: BurstLimit
  readonly pauses: Pauses
  readonly shutdown: Shutdown
  /** Acquires a slot or joins the wait queue, at this moment. The returned effect waits for the slot until the deadline. */
  readonly acquire: (
    now: MonotonicMillis,
    deadline: MonotonicMillis,
    options: WaitOptions,
    restore: Restore
  ) => Effect.Effect<Granted<S>, RateLimitWaitExceeded | ClientClosed>
  /** Marks the slot as used by a request. Acquires another slot if the lease of this slot is lost. */
  readonly send: <E>(slot: S, acquireOther: Effect.Effect<S, E>) => Effect.Effect<S, E>
  /** Records the end of the request in the slot. The service counted the request at some time before now. */
  readonly complete: (slot: S) => Effect.Effect<void>
  /** Frees the slot of a request that the service did not count. */
  readonly discard: (slot: S) => Effect.Effect<void>
  /** Frees an unused slot. */
  readonly release: (slot: S) => Effect.Effect<void>
  /** The number of requests of this process that the service accepted within the last window. */
  readonly recent: (now: MonotonicMillis) => number
  /** The end of the key's pause. */
  readonly pausedUntil: () => MonotonicMillis
  /** Pauses the key for a time that ends after the current pause. */
  readonly pauseKey: (now: MonotonicMillis, time: Duration.Duration) => Effect.Effect<void>
  /** Removes the waiters of an operation from the queue, because the operation is paused for this time. They acquire again. */
  readonly pauseOperation: (operation: string, time: Duration.Duration) => Effect.Effect<void>
}

/** @since 0.1.0 @category constructors */
export const from = <S>(backend: SlotBackend<S>): Pick<RateLimit["Type"], "reserve" | "withSlot" | "pauseFor"> => {
  const { burstLimit, pauses, shutdown } = backend

  const acquireAt = (
    now: MonotonicMillis,
    deadline: MonotonicMillis,
    options: WaitOptions,
    restore: Restore
  ): Effect.Effect<S, RateLimitWaitExceeded | ClientClosed> => {
    if (shutdown.isShutDown || options.shutdown?.isShutDown === true) {
      return Effect.fail(clientClosed())
    }
    const until = pauses.until(options.operation, now)
    if (until === undefined) {
      return Effect.flatMap(backend.acquire(now, deadline, options, restore), (granted) =>
        Option.isSome(granted) ? Effect.succeed(granted.value) : acquireBy(deadline, options, restore))
    }
    if (until > deadline) {
      return waitExceeded(now, until, `${options.operation} is paused, most likely because a quota is exhausted`)
    }
    const ended = options.shutdown === undefined
      ? shutdown.failed
      : Effect.raceFirst(shutdown.failed, options.shutdown.failed)
    return Effect.andThen(pauses.during(restore(Effect.raceFirst(sleepUntil(until), ended))), acquireBy(deadline, options, restore))
  }

  const acquireBy = (
    deadline: MonotonicMillis,
    options: WaitOptions,
    restore: Restore
  ): Effect.Effect<S, RateLimitWaitExceeded | ClientClosed> => monotonicWith((now) => acquireAt(now, deadline, options, restore))

  const deadlineAfter = (now: MonotonicMillis, maxWait: Duration.DurationInput): MonotonicMillis => now + Duration.toMillis(maxWait)

  const pauseKey = (now: MonotonicMillis, requested: Duration.Duration): Effect.Effect<void> =>
    Effect.suspend(() => {
      const time = Duration.min(requested, longestWait)
      const before = backend.pausedUntil()
      const until = now + Duration.toMillis(time)
      if (until <= before) {
        return Effect.void
      }
      const report = before <= now && until > now ? pauses.report(undefined, now, until) : Effect.void
      return Effect.andThen(report, backend.pauseKey(now, time))
    })

  const pauseOperation = (now: MonotonicMillis, operation: string, requested: Duration.Duration): Effect.Effect<void> =>
    Effect.suspend(() => {
      const time = Duration.min(requested, longestWait)
      const until = now + Duration.toMillis(time)
      const wasOpen = pauses.until(operation, now) === undefined
      if (!pauses.add(operation, until)) {
        return Effect.void
      }
      const report = wasOpen ? pauses.report(operation, now, until) : Effect.void
      return Effect.andThen(report, backend.pauseOperation(operation, time))
    })

  const pauseAfter = (
    slot: S,
    { counted, retryAfter = Duration.zero }: PauseRequest,
    sentAt: MonotonicMillis,
    operation: string | undefined
  ): Effect.Effect<void> =>
    monotonicWith((now) => {
      if (Duration.greaterThan(retryAfter, backend.window) && operation !== undefined) {
        return Effect.andThen(pauseOperation(now, operation, retryAfter), backend.complete(slot))
      }
      if (counted) {
        return Effect.andThen(pauseKey(now, retryAfter), backend.complete(slot))
      }
      // The allowance doesn't count refused requests, so with shorter pauses the refused requests alone could exceed the limit.
      const pause = Duration.greaterThan(retryAfter, Duration.zero)
        ? Duration.max(retryAfter, Duration.millis(burstLimit.interval))
        : burstLimit.backoff(now, sentAt)
      burstLimit.refused(now, sentAt, backend.recent(now), now + Duration.toMillis(pause))
      return Effect.andThen(pauseKey(now, pause), backend.discard(slot))
    })

  const sendIn = <A, E, R, E2>(
    slot: S,
    request: Effect.Effect<A, E, R>,
    options: RequestOptions<E>,
    restore: Restore,
    acquireOther: Effect.Effect<S, E2>
  ) =>
    Effect.flatMap(backend.send(slot, acquireOther), (current) =>
      monotonicWith((sentAt) => {
        const complete = () => {
          burstLimit.accepted(sentAt)
          return backend.complete(current)
        }
        // No `onExit`, because the caller is uninterruptible.
        return Effect.matchCauseEffect(restore(request), {
          onFailure: (cause) => {
            const pauseRequest = Option.getOrUndefined(
              Option.flatMapNullable(Cause.failureOption(cause), (error) => options.pauseRequest?.(error))
            )
            const end = pauseRequest === undefined ? complete() : pauseAfter(current, pauseRequest, sentAt, options.operation)
            return Effect.zipRight(end, Effect.failCause(cause))
          },
          onSuccess: (result) => Effect.as(complete(), result)
        })
      }))

  return {
    reserve: (maxWait, waitOptions = {}) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(monotonicWith((now) => acquireAt(now, deadlineAfter(now, maxWait), waitOptions, restore)), (acquired) => {
          let isUsed = false
          const slot: Slot = {
            use: (request, options = {}) =>
              Effect.uninterruptibleMask((restore) => {
                if (isUsed) {
                  return Effect.dieMessage("a slot serves one request, before its scope closes; reserve another slot for the next request")
                }
                isUsed = true
                // The maximum wait applied to the reservation. A request that loses its slot later waits without a deadline.
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
            return backend.release(acquired)
          })
          return Effect.as(Effect.addFinalizer(() => releaseUnused), slot)
        })
      ),
    withSlot: (maxWait, request, options = {}) =>
      Effect.uninterruptibleMask((restore) =>
        monotonicWith((now) => {
          const deadline = deadlineAfter(now, maxWait)
          return Effect.flatMap(acquireAt(now, deadline, options, restore),
            (acquired) => sendIn(acquired, request, options, restore, acquireBy(deadline, options, restore)))
        })
      ),
    pauseFor: (time, operation) =>
      monotonicWith((now) => operation === undefined ? pauseKey(now, time) : pauseOperation(now, operation, time))
  }
}
