/**
 * An allowance in the memory of this process.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { ClientClosed, InvalidSettings, RateLimitWaitExceeded } from "../../ClientError.ts"
import type { Allowance, RateLimit, WaitOptions } from "../../RateLimit.ts"
import type { MonotonicMillis } from "../Compat.ts"
import { fromEither, monotonicWith, sleepUntil } from "../Compat.ts"
import * as Shutdown from "../delivery/Shutdown.ts"
import * as Acquire from "./Acquire.ts"
import { BurstLimit } from "./BurstLimit.ts"
import * as CheckedAllowance from "./CheckedAllowance.ts"
import { Pauses } from "./Pauses.ts"
import type { Forecast, Granted } from "./WaitQueue.ts"
import { waitExceeded, WaitQueue } from "./WaitQueue.ts"
import { WindowAccounting } from "./WindowAccounting.ts"

/** A fiber that grants slots while requests wait, and the moment at which it wakes. */
interface Timer {
  at: MonotonicMillis
  fiber: Fiber.RuntimeFiber<void> | undefined
}

const granted = Effect.succeed(Option.some<void>(undefined))

/** @since 0.1.0 @category constructors */
export const make = (allowance: Allowance = {}): Effect.Effect<RateLimit["Type"], InvalidSettings, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const shutdown = yield* Shutdown.make
    const { limit, window } = yield* fromEither(CheckedAllowance.check(allowance))
    const accounting = new WindowAccounting(limit, window)
    const burstLimit = new BurstLimit(limit, window)
    const pauses = new Pauses()
    let timer: Timer | undefined

    const release = () =>
      monotonicWith((now) => {
        accounting.release()
        burstLimit.release()
        return grantWaiting(now)
      })
    const queue = new WaitQueue<void>({ onLeave: Effect.void, release })
    shutdown.onShutdown(() => queue.close())

    const forecastAt = (now: MonotonicMillis): Forecast => ({
      earliest: (ahead) => Math.max(accounting.earliest(now, ahead), burstLimit.earliest(ahead)),
      missesDeadlineFrom: (ahead, deadline) => accounting.missesDeadlineFrom(ahead, deadline)
    })

    /** The earliest known moment at which the first waiter can get a slot. */
    const nextGrantAt = (now: MonotonicMillis): MonotonicMillis =>
      Math.max(accounting.nextFree(now) ?? Number.POSITIVE_INFINITY, burstLimit.earliest(0))

    /** Grants free slots and fails the waiters that would miss their deadlines. Returns when to do so again. */
    const grantFree = (now: MonotonicMillis): MonotonicMillis => {
      while (queue.length > 0 && nextGrantAt(now) <= now) {
        // Before the waiter resumes, so that no other code acquires the same slot.
        accounting.acquire()
        burstLimit.acquire(now)
        queue.grant()
      }
      // Scanned only if a waiter may miss its deadline, because a queue may have ten thousand waiters.
      if (queue.length > 0 && queue.nextDeadline <= now) {
        queue.expire(now, forecastAt(now))
      }
      return nextWakeAt(now)
    }

    const nextWakeAt = (now: MonotonicMillis): MonotonicMillis =>
      queue.length === 0 ? Number.POSITIVE_INFINITY : Math.min(queue.nextDeadline, nextGrantAt(now))

    /**
     * One fiber grants all slots while requests wait. If each fiber started the next one, the last one would hold a list of all its
     * ancestors: the fiber refs of a fiber keep the values of the fibers that forked it.
     */
    const run = (current: Timer): Effect.Effect<void> =>
      Effect.andThen(
        sleepUntil(current.at),
        monotonicWith((now) => {
          current.at = grantFree(now)
          if (Number.isFinite(current.at)) {
            return run(current)
          }
          if (timer === current) {
            timer = undefined
          }
          return Effect.void
        })
      )

    const isEarlier = (moment: MonotonicMillis): boolean => Number.isFinite(moment) && !(timer !== undefined && timer.at <= moment)

    /** Grants slots from this moment, unless the timer wakes earlier. */
    const wakeAt = (moment: MonotonicMillis): Effect.Effect<void> => {
      if (!isEarlier(moment)) {
        return Effect.void
      }
      // Uninterruptible, so that `timer` always has a fiber.
      return Effect.uninterruptible(Effect.suspend(() => {
        if (!isEarlier(moment)) {
          return Effect.void
        }
        const previous = timer?.fiber
        const current: Timer = { at: moment, fiber: undefined }
        timer = current
        return Effect.flatMap(Effect.forkIn(Effect.interruptible(run(current)), scope), (fiber) => {
          current.fiber = fiber
          return previous === undefined ? Effect.void : Fiber.interruptFork(previous)
        })
      }))
    }

    const acquire = (
      now: MonotonicMillis,
      deadline: MonotonicMillis,
      options: WaitOptions,
      restore: Acquire.Restore
    ): Effect.Effect<Granted<void>, RateLimitWaitExceeded | ClientClosed> => {
      if (queue.length === 0 && nextGrantAt(now) <= now) {
        accounting.acquire()
        burstLimit.acquire(now)
        return granted
      }
      const forecast = forecastAt(now)
      const grantAt = forecast.earliest(queue.ahead(options))
      if (grantAt > deadline) {
        return waitExceeded(now, grantAt)
      }
      const waiter = queue.enqueue(now, deadline, options, forecast)
      return pauses.reportWait(now, grantAt).pipe(
        Effect.andThen(wakeAt(nextWakeAt(now))),
        Effect.andThen(queue.wait(waiter, restore))
      )
    }

    const grantWaiting = (now: MonotonicMillis): Effect.Effect<void> => queue.length === 0 ? Effect.void : wakeAt(grantFree(now))

    /** Fails the waiters that now miss their deadlines, because fewer slots are free. */
    const expireWaiting = (now: MonotonicMillis): Effect.Effect<void> =>
      Effect.suspend(() => {
        queue.expire(now, forecastAt(now))
        return grantWaiting(now)
      })

    return {
      ...Acquire.from<void>({
        window,
        burstLimit,
        pauses,
        shutdown,
        acquire,
        send: () => Effect.sync(() => accounting.send()),
        complete: () =>
          monotonicWith((now) => {
            accounting.complete(now)
            return grantWaiting(now)
          }),
        discard: () =>
          monotonicWith((now) => {
            accounting.discard()
            return grantWaiting(now)
          }),
        release,
        recent: (now) => accounting.recent(now),
        pausedUntil: () => accounting.pausedUntil,
        pauseKey: (now, time) =>
          Effect.suspend(() => {
            accounting.pauseUntil(now + Duration.toMillis(time))
            return expireWaiting(now)
          }),
        pauseOperation: (operation) => Effect.sync(() => queue.requeue(operation))
      }),
      occupy: (ages, tolerance = Duration.zero) =>
        monotonicWith((now) => {
          accounting.occupy(ages.map((age) => now - Duration.toMillis(age) + Duration.toMillis(tolerance)))
          return expireWaiting(now)
        }),
      status: monotonicWith((now) =>
        Effect.map(Effect.zip(DateTime.now, pauses.list(now)), ([wallNow, pausedOperations]) => ({
          free: accounting.free(now),
          inFlight: accounting.inFlight,
          waiting: queue.length + pauses.waiting,
          pausedUntil: accounting.pausedUntil > now
            ? DateTime.add(wallNow, { millis: Math.ceil(accounting.pausedUntil - now) })
            : undefined,
          pausedOperations
        }))
      )
    }
  })
