/**
 * An allowance that this process has for itself, in memory.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Closing from "../delivery/Closing.js"
import type { ClientClosed, InvalidSettings, RateLimitWaitExceeded } from "../../ClientError.js"
import { at } from "../MonotonicTime.js"
import type { Allowance, RateLimit, WaitOptions } from "../../RateLimit.js"
import * as CheckedAllowance from "./CheckedAllowance.js"
import type { Forecast, Granted } from "./WaitQueue.js"
import { Line, waitExceeded } from "./WaitQueue.js"
import { Pace } from "./Pace.js"
import { Pauses } from "./Pauses.js"
import { Slots } from "./WindowAccounting.js"
import * as Taking from "./Acquire.js"
import * as Option from "effect/Option"

interface Alarm {
  readonly at: number
  readonly fiber: Fiber.RuntimeFiber<void>
}

const granted = Effect.succeed(Option.some<void>(undefined))

/**
 * An allowance that this process has for itself.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (allowance: Allowance = {}): Effect.Effect<RateLimit["Type"], InvalidSettings, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const closing = yield* Closing.make
    const { limit, windowMillis } = yield* CheckedAllowance.check(allowance)
    const slots = new Slots(limit, windowMillis)
    const pace = new Pace(limit, windowMillis)
    const pauses = new Pauses()
    let alarm: Alarm | undefined

    const giveBack = () =>
      Effect.suspend(() => {
        slots.giveBack()
        pace.giveBack()
        return serve
      })
    const line = new Line<void>({ left: Effect.void, giveBack })
    closing.onClose(() => line.close())

    const forecastAt = (now: number): Forecast => ({
      earliest: (before) => Math.max(slots.earliest(now, before), pace.earliest(before)),
      lost: (before, deadline) => slots.lost(before, deadline)
    })

    /** When the first who waits can go, as far as it is known. */
    const nextTurn = (now: number): number =>
      Math.max(slots.nextFree(now) ?? Number.POSITIVE_INFINITY, pace.earliest(0))

    /** Hands out what is free, fails those who can't be served in time, and sees to waking up for the rest. */
    const serve: Effect.Effect<void> = at((now) => {
      while (line.length > 0 && nextTurn(now) <= now) {
        slots.take()
        pace.take(now)
        line.serve()
      }
      // Looked through only when there may be someone to fail: it may be ten thousand long.
      if (line.length > 0 && line.nextSweep <= now) {
        line.sweep(now, forecastAt(now))
      }
      return line.length === 0 ? Effect.void : wake(now, Math.min(line.nextSweep, nextTurn(now)))
    })

    const wake = (now: number, next: number): Effect.Effect<void> => {
      if (!Number.isFinite(next) || (alarm !== undefined && alarm.at <= next)) {
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

    const take = (
      deadline: number,
      options: WaitOptions,
      restore: Taking.Restore
    ): Effect.Effect<Granted<void>, RateLimitWaitExceeded | ClientClosed> =>
      at((now) => {
        if (line.length === 0 && nextTurn(now) <= now) {
          slots.take()
          pace.take(now)
          return granted
        }
        const forecast = forecastAt(now)
        const goesAt = forecast.earliest(line.before(options))
        if (goesAt > deadline) {
          return waitExceeded(now, goesAt)
        }
        const waiter = line.join(now, deadline, options, forecast)
        return Effect.zipRight(
          Effect.zipRight(pauses.reportWait(now, goesAt), wake(now, Math.min(line.nextSweep, nextTurn(now)))),
          line.wait(waiter, restore)
        )
      })

    const serveAnyone = Effect.suspend(() => line.length === 0 ? Effect.void : serve)

    /** Fails those who can't be served in time any more, now that less is free. */
    const heldBack = (now: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        line.sweep(now, forecastAt(now))
        return serveAnyone
      })

    return {
      ...Taking.from<void>({
        windowMillis,
        pace,
        pauses,
        closing,
        take,
        send: () => Effect.sync(() => slots.send()),
        answered: () =>
          at((now) => {
            slots.answered(now)
            return serveAnyone
          }),
        refused: () =>
          Effect.suspend(() => {
            slots.refused()
            return serveAnyone
          }),
        giveBack,
        recent: (now) => slots.recent(now),
        pausedUntil: () => slots.pausedUntil,
        pauseKey: (now, millis) =>
          Effect.suspend(() => {
            slots.closeUntil(now + millis)
            return heldBack(now)
          }),
        pauseOperation: (operation) => Effect.sync(() => line.recall(operation))
      }),
      occupy: (ages) =>
        at((now) => {
          slots.occupy(ages.map((age) => now - Duration.toMillis(age)))
          return heldBack(now)
        }),
      status: at((now) =>
        Effect.map(Effect.zip(DateTime.now, pauses.list(now)), ([wallNow, pausedOperations]) => ({
          free: slots.free(now),
          inFlight: slots.inFlight,
          waiting: line.length,
          pausedUntil: slots.pausedUntil > now
            ? DateTime.add(wallNow, { millis: Math.ceil(slots.pausedUntil - now) })
            : undefined,
          pausedOperations
        }))
      )
    }
  })
