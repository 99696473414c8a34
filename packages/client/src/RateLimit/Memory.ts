/**
 * An allowance that this process has for itself, in memory. Knows nothing of requests, nor of other processes.
 *
 * @since 0.1.0
 */
import * as Limits from "@plaza/domain/Limits"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import { RateLimitWaitExceeded } from "../Failures.js"
import type { Allowance, RateLimit, Slot } from "../RateLimit.js"
import { Slots } from "./Slots.js"

interface Waiter {
  readonly deadline: number
  readonly place: Deferred.Deferred<void, RateLimitWaitExceeded>
  granted: boolean
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Alarm {
  readonly at: number
  readonly fiber: Fiber.RuntimeFiber<void>
}

// Moments are milliseconds of the monotonic clock: a wall clock that is set back or forth must not open the gate.
const at = <A, E, R>(then: (now: number) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Clock.clockWith((clock) => then(Number(clock.unsafeCurrentTimeNanos()) / 1_000_000))

const waitExceeded = (now: number, goesAt: number): Effect.Effect<never, RateLimitWaitExceeded> =>
  Effect.flatMap(DateTime.now, (wallNow) => {
    const retryAt = DateTime.add(wallNow, { millis: Math.ceil(goesAt - now) })
    const message = `the key's allowance is used up for now; come back at ${DateTime.formatIso(retryAt)}`
    return new RateLimitWaitExceeded({ retryAt, message })
  })

/**
 * An allowance that this process has for itself.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (allowance: Allowance = {}): Effect.Effect<RateLimit["Type"], never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const slots = new Slots(
      allowance.limit ?? Limits.requestsPerWindow,
      Duration.toMillis(allowance.window ?? Limits.rateWindow)
    )
    // In the order of asking.
    const waiters = new Set<Waiter>()
    let alarm: Alarm | undefined

    // When the first of those waiting may run out of patience: never later than it does.
    let impatientAt = Number.POSITIVE_INFINITY

    /** Sends away those whose patience has ended, or ends before the moment at which the next one can go. */
    const sendAway = (now: number, notBefore: number): void => {
      impatientAt = Number.POSITIVE_INFINITY
      for (const waiter of waiters) {
        if (waiter.deadline <= now || waiter.deadline < notBefore) {
          waiters.delete(waiter)
          Deferred.unsafeDone(waiter.place, waitExceeded(now, Math.max(now, notBefore)))
        } else {
          impatientAt = Math.min(impatientAt, waiter.deadline)
        }
      }
    }

    /** Hands out what is free, sends away those who can't be served in time, and sees to waking up for the rest. */
    const serve: Effect.Effect<void> = at((now) => {
      let free = slots.free(now)
      for (const waiter of waiters) {
        if (free <= 0) {
          break
        }
        free--
        slots.take()
        waiters.delete(waiter)
        waiter.granted = true
        Deferred.unsafeDone(waiter.place, Effect.void)
      }
      const notBefore = slots.nextFree(now) ?? now
      // Looked through only when there is someone to send away: the line may be ten thousand long.
      if (waiters.size > 0 && impatientAt <= Math.max(now, notBefore)) {
        sendAway(now, notBefore)
      }
      return waiters.size === 0 ? Effect.void : wake(now, Math.min(impatientAt, slots.nextFree(now) ?? impatientAt))
    })

    const wake = (now: number, next: number): Effect.Effect<void> => {
      if (alarm !== undefined && alarm.at <= next) {
        return Effect.void
      }
      const previous = alarm?.fiber
      const ring = Effect.suspend(() => {
        alarm = undefined
        return serve
      })
      // A timer counts whole milliseconds, and one that rings early would only have to be set again.
      return Effect.delay(ring, Duration.millis(Math.ceil(next - now))).pipe(
        Effect.interruptible,
        Effect.forkIn(scope),
        Effect.tap((fiber) => {
          alarm = { at: next, fiber }
        }),
        Effect.zipRight(previous === undefined ? Effect.void : Fiber.interruptFork(previous))
      )
    }

    const wait = (now: number, deadline: number, restore: Restore) =>
      Effect.suspend(() => {
        const waiter: Waiter = { deadline, place: Deferred.unsafeMake(FiberId.none), granted: false }
        waiters.add(waiter)
        impatientAt = Math.min(impatientAt, deadline)
        // A slot that was handed out at the very moment of the interruption goes to the next one.
        const leave = Effect.suspend(() => {
          waiters.delete(waiter)
          if (!waiter.granted) {
            return Effect.void
          }
          slots.giveBack()
          return serve
        })
        return wake(now, Math.min(slots.nextFree(now) ?? deadline, deadline)).pipe(
          Effect.zipRight(restore(Deferred.await(waiter.place))),
          Effect.onInterrupt(() => leave)
        )
      })

    const take = (patience: Duration.Duration, restore: Restore): Effect.Effect<void, RateLimitWaitExceeded> =>
      at((now) => {
        if (waiters.size === 0 && slots.free(now) > 0) {
          slots.take()
          return Effect.void
        }
        const deadline = now + Duration.toMillis(patience)
        const goesAt = slots.earliest(now, waiters.size)
        return goesAt > deadline ? waitExceeded(now, goesAt) : wait(now, deadline, restore)
      })

    const answered = at((now) => {
      slots.answered(now)
      return waiters.size === 0 ? Effect.void : serve
    })

    /** A slot that was taken: used once, or given back. */
    const slotOf = (): { readonly slot: Slot; readonly giveBackUnused: Effect.Effect<void> } => {
      let used = false
      return {
        slot: {
          use: (request) =>
            Effect.uninterruptibleMask((restore) => {
              if (used) {
                return Effect.dieMessage("a slot of the allowance serves one request")
              }
              used = true
              return Effect.ensuring(restore(request), answered)
            })
        },
        giveBackUnused: Effect.suspend(() => {
          if (used) {
            return Effect.void
          }
          slots.giveBack()
          return serve
        })
      }
    }

    return {
      reserve: (patience) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(take(patience, restore), () => {
            const { giveBackUnused, slot } = slotOf()
            return Effect.as(Effect.addFinalizer(() => giveBackUnused), slot)
          })
        ),
      withSlot: (patience, request) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.zipRight(take(patience, restore), Effect.ensuring(restore(request), answered))
        ),
      closeFor: (time) =>
        at((now) => {
          slots.closeUntil(now + Duration.toMillis(time))
          return waiters.size === 0 ? Effect.void : serve
        })
    }
  })
