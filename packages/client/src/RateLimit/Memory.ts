/**
 * An allowance that this process has for itself, in memory. Knows nothing of requests, nor of other processes.
 *
 * @since 0.1.0
 */
import * as Limits from "@plaza/domain/Limits"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { RateLimitWaitExceeded } from "../Failures.js"
import type { Allowance, RateLimit } from "../RateLimit.js"
import { Line, waitExceeded } from "./Line.js"
import { at } from "./Moment.js"
import { Slots } from "./Slots.js"
import * as Taking from "./Taking.js"

interface Alarm {
  readonly at: number
  readonly fiber: Fiber.RuntimeFiber<void>
}

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
    let alarm: Alarm | undefined

    const giveBack = () =>
      Effect.suspend(() => {
        slots.giveBack()
        return serve
      })
    const line = new Line<void>({ left: Effect.void, giveBack })

    /** Hands out what is free, sends away those who can't be served in time, and sees to waking up for the rest. */
    const serve: Effect.Effect<void> = at((now) => {
      for (let free = slots.free(now); free > 0 && line.serve(); free--) {
        slots.take()
      }
      const notBefore = slots.nextFree(now) ?? now
      // Looked through only when there is someone to send away: the line may be ten thousand long.
      if (line.length > 0 && line.impatientAt <= Math.max(now, notBefore)) {
        line.sendAway(now, () => notBefore)
      }
      return line.length === 0
        ? Effect.void
        : wake(now, Math.min(line.impatientAt, slots.nextFree(now) ?? line.impatientAt))
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

    const wait = (now: number, deadline: number, restore: Taking.Restore) =>
      Effect.suspend(() => {
        const waiter = line.join(deadline)
        return Effect.zipRight(
          wake(now, Math.min(slots.nextFree(now) ?? deadline, deadline)),
          line.wait(waiter, restore)
        )
      })

    const take = (patience: Duration.Duration, restore: Taking.Restore): Effect.Effect<void, RateLimitWaitExceeded> =>
      at((now) => {
        if (line.length === 0 && slots.free(now) > 0) {
          slots.take()
          return Effect.void
        }
        const deadline = now + Duration.toMillis(patience)
        const goesAt = slots.earliest(now, line.length)
        return goesAt > deadline ? waitExceeded(now, goesAt) : wait(now, deadline, restore)
      })

    const answered = at((now) => {
      slots.answered(now)
      return line.length === 0 ? Effect.void : serve
    })

    return {
      ...Taking.from<void>({ take, spend: (_, request, restore) => Effect.ensuring(restore(request), answered), giveBack }),
      closeFor: (time) =>
        at((now) => {
          slots.closeUntil(now + Duration.toMillis(time))
          return line.length === 0 ? Effect.void : serve
        })
    }
  })
