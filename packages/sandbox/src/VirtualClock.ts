/**
 * The sandbox's clock: the caller's Clock, or a frozen one that stands still, advanced on request. Timestamps, rate windows and
 * daily quotas use it. Delays of faults use the caller's Clock.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza/domain/Errors"
import { Timestamp } from "@plaza/domain/Resources"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { MetaRepo } from "./storage/MetaRepo.ts"
import { invalidField, nonNegativeInt } from "./Validation.ts"

/** @since 0.1.0 @category models */
export const ClockState = Schema.Struct({
  /** The time in the sandbox. */
  now: Timestamp,
  /** By how much it was advanced, in milliseconds: how far it is ahead of the caller's Clock, or of the time it was frozen at. */
  aheadMillis: nonNegativeInt,
  /** Whether it only moves when it is advanced. */
  frozen: Schema.Boolean
}).annotate({ identifier: "ClockState" })
/** @since 0.1.0 @category models */
export interface ClockState extends Schema.Struct.Type<typeof ClockState.fields> {}

/** ISO 8601 has another form for years of more than four digits. */
const end = Date.UTC(10_000, 0)

/**
 * The time of a frozen clock by default.
 *
 * @since 0.1.0
 * @category constants
 */
export const defaultFrozenAt: DateTime.Utc = DateTime.makeUnsafe("2026-01-01T00:00:00.000Z")

/**
 * Whether a clock can be frozen at a time: from 1970 to the year 9999.
 *
 * @since 0.1.0
 * @category checks
 */
export const canFreezeAt = (time: DateTime.Utc): boolean => {
  const millis = DateTime.toEpochMillis(time)
  return millis >= 0 && millis < end
}

const key = "clock"
const nanosPerMilli = 1_000_000n

/** A clock that is ahead of another one, or of a frozen time. It sleeps and measures durations as the other one does. */
const aheadOf = (base: Clock.Clock, frozenAt: number | undefined, ahead: () => number): Clock.Clock => {
  const millis = () => (frozenAt ?? base.currentTimeMillisUnsafe()) + ahead()
  const nanos = () =>
    (frozenAt === undefined ? base.currentTimeNanosUnsafe() : BigInt(frozenAt) * nanosPerMilli) + BigInt(ahead()) * nanosPerMilli
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => base.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: base.monotonicTimeNanos,
    sleep: (duration) => base.sleep(duration)
  }
}

const make = (frozen: DateTime.Utc | undefined) =>
  Effect.gen(function*() {
    const meta = yield* MetaRepo
    const frozenAt = frozen === undefined ? undefined : DateTime.toEpochMillis(frozen)
    const stored = () => Number(meta.find(key) ?? 0)
    let ahead = stored()
    /** The sandbox's clock by base clock. It maps to itself, so that the offset applies once. */
    const clocks = new WeakMap<Clock.Clock, Clock.Clock>()
    const clockFor = (base: Clock.Clock): Clock.Clock => {
      const clock = clocks.get(base) ?? aheadOf(base, frozenAt, () => ahead)
      clocks.set(base, clock).set(clock, clock)
      return clock
    }
    const read = Effect.map(
      Clock.currentTimeMillis,
      (now): ClockState => ({ now: DateTime.makeUnsafe(now), aheadMillis: ahead, frozen: frozenAt !== undefined })
    )
    return {
      /** Runs an effect with the sandbox's clock. Nested calls have no further effect. */
      within: <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => Effect.updateService(effect, Clock.Clock, clockFor),
      /** The time. Run it inside `within`, like every effect of this service. */
      read,
      /** Advances the clock by whole milliseconds. Only a reset sets it back. */
      advance: Effect.fnUntraced(function*(millis: number): Effect.fn.Return<ClockState, ValidationError> {
        const now = yield* Clock.currentTimeMillis
        if (!Number.isInteger(millis) || millis <= 0 || now + millis >= end) {
          return yield* invalidField("millis", "must be a whole number above 0, and the new time must be before the year 10000")
        }
        meta.set(key, String(ahead + millis))
        ahead += millis
        return yield* read
      }),
      /** Returns to the caller's Clock, or to the time it was frozen at. The stored offset is deleted with the other rows. */
      reset: (): void => {
        ahead = 0
      },
      /** Reads the stored offset again, after a snapshot replaced it. */
      reload: (): void => {
        ahead = stored()
      }
    }
  })

/** @since 0.1.0 @category services */
export class VirtualClock extends Context.Service<VirtualClock, Effect.Success<ReturnType<typeof make>>>()("@plaza/sandbox/VirtualClock") {
  static readonly layer = (frozenAt: DateTime.Utc | undefined) => Layer.effect(VirtualClock, make(frozenAt))
}
