/**
 * The sandbox's clock: the caller's Clock, or a frozen one that stands still, advanced on request. Timestamps, rate windows and
 * daily quotas use it. Delays of faults use the caller's Clock.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza-legacy/domain/Errors"
import { Timestamp } from "@plaza-legacy/domain/Resources"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { invalidField } from "./http/Envelope.ts"
import { MetaRepo } from "./storage/MetaRepo.ts"

/** @since 0.1.0 @category models */
export const ClockState = Schema.Struct({
  /** The time in the sandbox. */
  now: Timestamp,
  /** By how much it was advanced, in milliseconds: how far it is ahead of the caller's Clock, or of the time it was frozen at. */
  aheadMillis: Schema.NonNegativeInt,
  /** Whether it only moves when it is advanced. */
  frozen: Schema.Boolean
}).annotations({ identifier: "ClockState" })
/** @since 0.1.0 @category models */
export interface ClockState extends Schema.Schema.Type<typeof ClockState> {}

/** @since 0.1.0 @category services */
export class VirtualClock extends Context.Tag("@plaza-legacy/sandbox/VirtualClock")<VirtualClock, {
  /** Runs an effect with the sandbox's clock. Nested calls have no further effect. */
  readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The time. Run it inside `within`, like every effect of this service. */
  readonly read: Effect.Effect<ClockState>
  /** Advances the clock by whole milliseconds. Only a reset sets it back. */
  readonly advance: (millis: number) => Effect.Effect<ClockState, ValidationError>
  /** Returns to the caller's Clock, or to the time it was frozen at. The stored offset is deleted with the other rows. */
  readonly reset: Effect.Effect<void>
  /** Reads the stored offset again, after a snapshot replaced it. */
  readonly reload: Effect.Effect<void>
}>() {}

/** ISO 8601 has another form for years of more than four digits. */
const end = Date.UTC(10_000, 0)

/**
 * The time of a frozen clock by default.
 *
 * @since 0.1.0
 * @category constants
 */
export const defaultFrozenAt: DateTime.Utc = DateTime.unsafeMake("2026-01-01T00:00:00.000Z")

const key = "clock"
const nanosPerMilli = 1_000_000n

/** A clock with the same sleep as another one. */
const withTime = (base: Clock.Clock, millis: () => number, nanos: () => bigint): Clock.Clock => ({
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: millis,
  unsafeCurrentTimeNanos: nanos,
  currentTimeMillis: Effect.sync(millis),
  currentTimeNanos: Effect.sync(nanos),
  sleep: (duration) => base.sleep(duration)
})

const toNanos = (millis: number): bigint => BigInt(millis) * nanosPerMilli

/** A clock that is ahead of another one, or of a frozen time. */
const aheadOf = (base: Clock.Clock, frozenAt: number | undefined, ahead: () => number): Clock.Clock =>
  frozenAt === undefined
    ? withTime(base, () => base.unsafeCurrentTimeMillis() + ahead(), () => base.unsafeCurrentTimeNanos() + toNanos(ahead()))
    : withTime(base, () => frozenAt + ahead(), () => toNanos(frozenAt + ahead()))

const millisOf = (frozenAt: DateTime.Utc | undefined): number | undefined =>
  frozenAt === undefined ? undefined : DateTime.toEpochMillis(frozenAt)

/**
 * Runs an effect at a frozen time, if there is one. For the start of a sandbox, before it has its clock.
 *
 * @since 0.1.0
 * @category combinators
 */
export const frozen = (frozenAt: DateTime.Utc | undefined) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  frozenAt === undefined
    ? effect
    : Effect.clockWith((base) => Effect.withClock(effect, aheadOf(base, millisOf(frozenAt), () => 0)))

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

/** @since 0.1.0 @category constructors */
export const make = (frozenAt?: DateTime.Utc): Effect.Effect<VirtualClock["Type"], never, MetaRepo> =>
  Effect.gen(function*() {
    const meta = yield* MetaRepo
    const stored = Effect.map(meta.find(key), (offset) => Number(Option.getOrElse(offset, () => "0")))
    let ahead = yield* stored
    /** The sandbox's clock for each base clock, and for itself, so that it isn't advanced twice. */
    const clocks = new WeakMap<Clock.Clock, Clock.Clock>()
    const clockFor = (base: Clock.Clock): Clock.Clock => {
      const clock = clocks.get(base) ?? aheadOf(base, millisOf(frozenAt), () => ahead)
      clocks.set(base, clock).set(clock, clock)
      return clock
    }
    const read = Effect.map(
      Clock.currentTimeMillis,
      (now): ClockState => ({ now: DateTime.unsafeMake(now), aheadMillis: ahead, frozen: frozenAt !== undefined })
    )
    return {
      within: (effect) =>
        Effect.clockWith((base) => {
          const clock = clockFor(base)
          return clock === base ? effect : Effect.withClock(effect, clock)
        }),
      read,
      advance: (millis) =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          if (!Number.isInteger(millis) || millis <= 0 || now + millis >= end) {
            return yield* invalidField("millis", "must be a whole number above 0, and the new time must be before the year 10000")
          }
          yield* meta.set(key, String(ahead + millis))
          ahead += millis
          return yield* read
        }),
      reset: Effect.sync(() => {
        ahead = 0
      }),
      reload: Effect.map(stored, (offset) => {
        ahead = offset
      })
    }
  })
