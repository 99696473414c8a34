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
import type { ClientClosed, InvalidSettings, RateLimitWaitExceeded } from "../../ClientError.js"
import type { Allowance, RateLimit, WaitOptions } from "../../RateLimit.js"
import type { MonotonicMillis } from "../Compat.js"
import { fromEither, monotonicWith, sleepUntil } from "../Compat.js"
import * as Shutdown from "../delivery/Shutdown.js"
import * as Acquire from "./Acquire.js"
import * as BurstLimit from "./BurstLimit.js"
import * as CheckedAllowance from "./CheckedAllowance.js"
import { Pauses } from "./Pauses.js"
import type { Forecast, Granted } from "./WaitQueue.js"
import { waitExceeded, WaitQueue } from "./WaitQueue.js"
import { WindowAccounting } from "./WindowAccounting.js"

interface Timer {
  readonly at: MonotonicMillis
  readonly fiber: Fiber.RuntimeFiber<void>
}

const granted = Effect.succeed(Option.some<void>(undefined))

/** @since 0.1.0 @category constructors */
export const make = (allowance: Allowance = {}): Effect.Effect<RateLimit["Type"], InvalidSettings, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const shutdown = yield* Shutdown.make
    const { limit, window } = yield* fromEither(CheckedAllowance.check(allowance))
    const accounting = new WindowAccounting(limit, window)
    const burstLimit = yield* BurstLimit.make(limit, window)
    const pauses = new Pauses()
    let timer: Timer | undefined

    const release = () =>
      Effect.suspend(() => {
        accounting.release()
        burstLimit.release()
        return grantAvailable
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

    /** Grants free slots, fails the waiters that would miss their deadlines, and sets a timer for the others. */
    const grantAvailable: Effect.Effect<void> = monotonicWith((now) => {
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
      return queue.length === 0 ? Effect.void : wakeAt(Math.min(queue.nextDeadline, nextGrantAt(now)))
    })

    const wakeAt = (next: MonotonicMillis): Effect.Effect<void> => {
      if (!Number.isFinite(next) || (timer !== undefined && timer.at <= next)) {
        return Effect.void
      }
      const previous = timer?.fiber
      const wake = Effect.suspend(() => {
        timer = undefined
        return grantAvailable
      })
      return Effect.andThen(sleepUntil(next), wake).pipe(
        Effect.interruptible,
        Effect.forkIn(scope),
        Effect.tap((fiber) => {
          timer = { at: next, fiber }
        }),
        Effect.andThen(previous === undefined ? Effect.void : Fiber.interruptFork(previous))
      )
    }

    const acquire = (
      deadline: MonotonicMillis,
      options: WaitOptions,
      restore: Acquire.Restore
    ): Effect.Effect<Granted<void>, RateLimitWaitExceeded | ClientClosed> =>
      monotonicWith((now) => {
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
          Effect.andThen(wakeAt(Math.min(queue.nextDeadline, nextGrantAt(now)))),
          Effect.andThen(queue.wait(waiter, restore))
        )
      })

    const grantWaiting = Effect.suspend(() => queue.length === 0 ? Effect.void : grantAvailable)

    /** Fails the waiters that now miss their deadlines, because fewer slots are free. */
    const expireWaiting = (now: MonotonicMillis): Effect.Effect<void> =>
      Effect.suspend(() => {
        queue.expire(now, forecastAt(now))
        return grantWaiting
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
            return grantWaiting
          }),
        discard: () =>
          Effect.suspend(() => {
            accounting.discard()
            return grantWaiting
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
          waiting: queue.length,
          pausedUntil: accounting.pausedUntil > now
            ? DateTime.add(wallNow, { millis: Math.ceil(accounting.pausedUntil - now) })
            : undefined,
          pausedOperations
        }))
      )
    }
  })
