/**
 * The behaviour that all allowances share, in memory and in a database: a slot serves one request or is released unused, requests of
 * a paused operation wait without blocking others, and a 429 or 503 pauses the key or the operation.
 *
 * @since 0.1.0
 */
import { longestWait } from "@plaza/domain/ErrorResponse"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { Shutdown } from "../delivery/Shutdown.ts"
import { clientClosed } from "../delivery/Shutdown.ts"
import type { MonotonicMillis } from "../Time.ts"
import { monotonicWith, sleepUntil } from "../Time.ts"
import type { PauseRequest, RequestOptions, Slot, WaitOptions } from "./Models.ts"
import type { Pacing, Pauses } from "./Pauses.ts"
import { toWallClock } from "./Pauses.ts"
import type { AcquireSlot, Restore, WaitFailure } from "./WaitQueue.ts"
import { waitExceeded } from "./WaitQueue.ts"

/**
 * The reserved slot of a call. The first attempt empties the cell, which the fibers of the call share, so only one attempt uses the slot.
 *
 * @since 0.1.0
 * @category references
 */
export const CurrentReservation = Context.Reference<{ slot: Slot | undefined } | undefined>("@plaza/client/Reservation", {
  defaultValue: () => undefined
})

/** The storage of slots. Its effects run uninterruptibly, except for parts that they restore. */
interface SlotBackend<S> {
  readonly window: Duration.Duration
  readonly pacing: Pacing
  readonly pauses: Pauses
  readonly shutdown: Shutdown
  readonly acquire: AcquireSlot<S>
  /** Marks the slot as used by a request. Acquires another slot if the lease of this slot is lost. */
  readonly send: <E>(slot: S, acquireOther: Effect.Effect<S, E>) => Effect.Effect<S, E>
  /** Records the end of the request in the slot. The service counted the request at some time before now. */
  readonly complete: (slot: S) => Effect.Effect<void>
  /** Frees the slot of a request that the service did not count. */
  readonly discard: (slot: S) => Effect.Effect<void>
  /** Frees an unused slot. */
  readonly release: (slot: S) => Effect.Effect<void>
  /** The end of the key's pause. */
  readonly pausedUntil: () => MonotonicMillis
  /** Pauses the key for a time that ends after the current pause. */
  readonly pauseKey: (now: MonotonicMillis, time: Duration.Duration) => Effect.Effect<void>
  /** Removes the waiters of an operation from the queue, because the operation is paused for this time. They acquire again. */
  readonly pauseOperation: (operation: string, time: Duration.Duration) => Effect.Effect<void>
  /** The free slots, if the key is not paused, and the requests in flight. */
  readonly counts: Effect.Effect<{ readonly free: number; readonly inFlight: number }>
  /** The number of requests in the wait queue. */
  readonly waiting: () => number
}

/** @since 0.1.0 @category constructors */
export const from = <S>(backend: SlotBackend<S>) => {
  const { pacing, pauses, shutdown } = backend
  /** The number of requests that wait for the end of their operation's pause. */
  let pausedRequests = 0

  const acquireAt = (
    now: MonotonicMillis,
    deadline: MonotonicMillis,
    options: WaitOptions,
    restore: Restore
  ): Effect.Effect<S, WaitFailure> => {
    if (shutdown.isShutDown || options.shutdown?.isShutDown === true) {
      return Effect.fail(clientClosed())
    }
    const until = pauses.until(options.operation, now)
    if (until === undefined) {
      return Effect.flatMap(backend.acquire(now, deadline, options, restore), (granted) =>
        granted === undefined ? acquireBy(deadline, options, restore) : Effect.succeed(granted.slot))
    }
    if (until > deadline) {
      return waitExceeded(now, until, `${options.operation} is paused, most likely because a quota is exhausted`)
    }
    const ended = options.shutdown === undefined
      ? shutdown.failed
      : Effect.raceFirst(shutdown.failed, options.shutdown.failed)
    pausedRequests++
    return restore(Effect.raceFirst(sleepUntil(until), ended)).pipe(
      Effect.ensuring(Effect.sync(() => pausedRequests--)),
      Effect.andThen(acquireBy(deadline, options, restore))
    )
  }

  const acquireBy = (deadline: MonotonicMillis, options: WaitOptions, restore: Restore): Effect.Effect<S, WaitFailure> =>
    monotonicWith((now) => acquireAt(now, deadline, options, restore))

  const pauseFor = (now: MonotonicMillis, requested: Duration.Duration, operation: string | undefined): Effect.Effect<void> =>
    Effect.suspend(() => {
      const time = Duration.min(requested, longestWait)
      const until = now + Duration.toMillis(time)
      const before = operation === undefined ? backend.pausedUntil() : pauses.until(operation, now) ?? Number.NEGATIVE_INFINITY
      if (until <= before) {
        return Effect.void
      }
      if (operation !== undefined) {
        pauses.add(operation, until)
      }
      return Effect.andThen(
        before <= now && until > now ? pauses.report(operation, now, until) : Effect.void,
        operation === undefined ? backend.pauseKey(now, time) : backend.pauseOperation(operation, time)
      )
    })

  const pauseAfter = (
    slot: S,
    { counted, retryAfter }: PauseRequest,
    sentAt: MonotonicMillis,
    operation: string | undefined
  ): Effect.Effect<void> =>
    monotonicWith((now) => {
      const isQuota = operation !== undefined && retryAfter !== undefined && Duration.isGreaterThan(retryAfter, backend.window)
      return isQuota || counted
        ? Effect.andThen(pauseFor(now, retryAfter ?? Duration.zero, isQuota ? operation : undefined), backend.complete(slot))
        : Effect.andThen(pauseFor(now, pacing.refused(now, sentAt, retryAfter), undefined), backend.discard(slot))
    })

  const sendIn = <A, E, R, E2>(
    slot: S,
    request: Effect.Effect<A, E, R>,
    options: RequestOptions<E>,
    restore: Restore,
    acquireOther: Effect.Effect<S, E2>
  ) => {
    if (shutdown.isShutDown) {
      return Effect.andThen(backend.release(slot), Effect.fail(clientClosed()))
    }
    return Effect.flatMap(backend.send(slot, acquireOther),
      (current) =>
        monotonicWith((sentAt) =>
          Effect.onExit(restore(request), (exit) => {
            const failure = Exit.isSuccess(exit) ? Option.none() : Cause.findErrorOption(exit.cause)
            const pause = Option.isSome(failure) ? options.pauseRequest?.(failure.value) : undefined
            if (pause !== undefined) {
              return pauseAfter(current, pause, sentAt, options.operation)
            }
            pacing.accepted(sentAt)
            return backend.complete(current)
          })
        ))
  }

  return {
    reserve: (maxWait: Duration.Input, waitOptions: WaitOptions = {}) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.gen(function*() {
          const acquired = yield* monotonicWith((now) => acquireAt(now, now + Duration.toMillis(maxWait), waitOptions, restore))
          let isUsed = false
          const slot: Slot = {
            use: (request, options = {}) =>
              Effect.uninterruptibleMask((restore) => {
                if (isUsed) {
                  return Effect.die(
                    new Error("a slot serves one request, before its scope closes; reserve another slot for the next request")
                  )
                }
                isUsed = true
                const operation = options.operation ?? waitOptions.operation
                // The maximum wait applied to the reservation. A request that loses its slot later waits without a deadline.
                const acquireOther = Effect.catchTag(
                  acquireBy(Number.POSITIVE_INFINITY, { ...waitOptions, operation }, restore),
                  "RateLimitWaitExceeded",
                  (error) => Effect.die(error)
                )
                return sendIn(acquired, request, { ...options, operation }, restore, acquireOther)
              })
          }
          yield* Effect.addFinalizer(() => {
            if (isUsed) {
              return Effect.void
            }
            isUsed = true
            return backend.release(acquired)
          })
          return slot
        })
      ),
    withSlot: <A, E, R>(
      maxWait: Duration.Input,
      request: Effect.Effect<A, E, R>,
      options: WaitOptions & RequestOptions<E> = {}
    ) =>
      Effect.uninterruptibleMask((restore) =>
        monotonicWith((now) => {
          const deadline = now + Duration.toMillis(maxWait)
          return Effect.flatMap(acquireAt(now, deadline, options, restore),
            (acquired) => sendIn(acquired, request, options, restore, acquireBy(deadline, options, restore)))
        })
      ),
    pauseFor: (time: Duration.Duration, operation?: string) => monotonicWith((now) => pauseFor(now, time, operation)),
    status: Effect.flatMap(backend.counts, ({ free, inFlight }) =>
      Effect.flatMap(DateTime.now, (wallNow) =>
        monotonicWith((now) => {
          const until = backend.pausedUntil()
          return Effect.succeed({
            free: until > now ? 0 : free,
            inFlight,
            waiting: backend.waiting() + pausedRequests,
            pausedUntil: until > now ? toWallClock(until, now, wallNow) : undefined,
            pausedOperations: pauses.list(now, wallNow)
          })
        })))
  }
}
