/**
 * An allowance in the memory of this process.
 *
 * @since 0.1.0
 */
import * as Limits from "@plaza/domain/Limits"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { InvalidSettings } from "../../ClientError.ts"
import * as Durations from "../../Durations.ts"
import * as Shutdown from "../delivery/Shutdown.ts"
import * as Setting from "../Setting.ts"
import type { MonotonicMillis } from "../Time.ts"
import { monotonicWith, roundUp } from "../Time.ts"
import * as Acquire from "./Acquire.ts"
import type { Allowance } from "./Models.ts"
import { Pacing, Pauses } from "./Pauses.ts"
import type { AcquireSlot, Forecast, Granted } from "./WaitQueue.ts"
import { earliestGrant, makeAlarm, safetyMillis } from "./WaitQueue.ts"
import * as WaitQueue from "./WaitQueue.ts"

/** The limit, and the window in whole milliseconds. @since 0.1.0 @category parsing */
export const check = (
  allowance: Allowance
): Result.Result<{ readonly limit: number; readonly window: Duration.Duration }, InvalidSettings> =>
  Result.all({
    limit: Setting.named("limit", Setting.parseCount(allowance.limit ?? Limits.requestsPerWindow)),
    window: Result.map(Setting.named("window", Durations.parsePositive(allowance.window ?? Limits.rateWindow)), roundUp)
  })

const granted: Effect.Effect<Granted<void>> = Effect.succeed({ slot: undefined })

/** @since 0.1.0 @category constructors */
export const make = Effect.fnUntraced(function*(allowance: Allowance = {}) {
  const shutdown = yield* Shutdown.make
  const { limit, window } = yield* Effect.fromResult(check(allowance))
  const cooldownMillis = Duration.toMillis(window) + safetyMillis
  const pacing = new Pacing(limit, window)
  const pauses = new Pauses()

  /** Acquired slots without a request. Each may be released at any moment. */
  let unused = 0
  /** Slots with a request in flight. */
  let sent = 0
  /** When each completed slot becomes free, earliest first. */
  const cooling: Array<MonotonicMillis> = []
  let pausedUntil: MonotonicMillis = Number.NEGATIVE_INFINITY

  /** The number of free slots; negative if more requests are counted than the limit allows. */
  const freeAt = (now: MonotonicMillis): number => {
    while ((cooling[0] ?? Number.POSITIVE_INFINITY) <= now) {
      cooling.shift()
    }
    return limit - unused - sent - cooling.length
  }

  /** Keeps a slot in use for one window after a response. Inserts in order, because `occupy` records earlier and later responses. */
  const cool = (respondedAt: MonotonicMillis): void => {
    const moment = respondedAt + cooldownMillis
    cooling.splice(cooling.findLastIndex((other) => other <= moment) + 1, 0, moment)
  }

  const acquireFree = (now: MonotonicMillis): void => {
    unused++
    pacing.acquire(now)
  }

  const release = () =>
    monotonicWith((now) => {
      unused--
      pacing.release()
      return grantWaiting(now)
    })
  const forecastAt = (now: MonotonicMillis): Forecast => (ahead) =>
    Math.max(earliestGrant({ limit, cooldownMillis, cooling, sent, pausedUntil }, now, ahead), pacing.earliest(ahead))

  /** The earliest known moment at which a waiter can get a slot. Infinite while all slots have a request in flight. */
  const nextGrantAt = (now: MonotonicMillis): MonotonicMillis => {
    const free = freeAt(now)
    return Math.max(pausedUntil, pacing.earliest(0), free > 0 ? now : cooling[-free] ?? Number.POSITIVE_INFINITY)
  }

  const queue = yield* WaitQueue.make<void>({ forecastAt, release, onEmpty: () => grants.stop() })
  shutdown.onShutdown(queue.close)

  /** Grants free slots. Returns when to do so again. */
  const grantFree = (now: MonotonicMillis): MonotonicMillis => {
    while (queue.length() > 0 && nextGrantAt(now) <= now) {
      // Before the waiter resumes, so that no other code acquires the same slot.
      acquireFree(now)
      queue.grant()
    }
    return queue.length() === 0 ? Number.POSITIVE_INFINITY : nextGrantAt(now)
  }
  const grants = yield* makeAlarm(grantFree)
  const grantWaiting = (now: MonotonicMillis): Effect.Effect<void> => grants.wakeAt(grantFree(now))

  const acquire: AcquireSlot<void> = (now, deadline, options, restore) => {
    if (queue.length() === 0 && nextGrantAt(now) <= now) {
      acquireFree(now)
      return granted
    }
    const wait = queue.join(now, deadline, options, restore)
    return Effect.andThen(grantWaiting(now), wait)
  }

  return {
    ...Acquire.from<void>({
      window,
      pacing,
      pauses,
      shutdown,
      acquire,
      send: () =>
        Effect.sync(() => {
          unused--
          sent++
        }),
      complete: () =>
        monotonicWith((now) => {
          sent--
          cool(now)
          return grantWaiting(now)
        }),
      discard: () =>
        monotonicWith((now) => {
          sent--
          return grantWaiting(now)
        }),
      release,
      pausedUntil: () => pausedUntil,
      pauseKey: (now, time) =>
        Effect.suspend(() => {
          pausedUntil = now + Duration.toMillis(time)
          return queue.expire
        }),
      pauseOperation: (operation) => Effect.sync(() => queue.requeue(operation)),
      counts: monotonicWith((now) => Effect.succeed({ free: Math.max(0, freeAt(now)), inFlight: unused + sent })),
      waiting: queue.length
    }),
    occupy: (ages: ReadonlyArray<Duration.Duration>, tolerance: Duration.Duration = Duration.zero) =>
      monotonicWith((now) => {
        for (const age of ages) {
          cool(now - Duration.toMillis(age) + Duration.toMillis(tolerance))
        }
        return queue.expire
      })
  }
})
