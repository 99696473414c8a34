/**
 * The sandbox's clock: the caller's Clock, advanced on request. Timestamps, rate windows and daily quotas use it. Delays of
 * faults use the caller's Clock.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza/domain/Errors"
import { Timestamp } from "@plaza/domain/Resources"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { invalidField } from "./http/Envelope.js"
import { MetaRepo } from "./storage/MetaRepo.js"

/** @since 0.1.0 @category models */
export const ClockState = Schema.Struct({
  /** The time in the sandbox. */
  now: Timestamp,
  /** How far it is ahead of the caller's Clock, in milliseconds. */
  aheadMillis: Schema.NonNegativeInt
}).annotations({ identifier: "ClockState" })
/** @since 0.1.0 @category models */
export interface ClockState extends Schema.Schema.Type<typeof ClockState> {}

/** @since 0.1.0 @category services */
export class VirtualClock extends Context.Tag("@plaza/sandbox/VirtualClock")<VirtualClock, {
  /** Runs an effect with the sandbox's clock. Nested calls have no further effect. */
  readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The time. Run it inside `within`, like every effect of this service. */
  readonly read: Effect.Effect<ClockState>
  /** Advances the clock by whole milliseconds. Only a reset sets it back. */
  readonly advance: (millis: number) => Effect.Effect<ClockState, ValidationError>
  /** Returns to the caller's Clock. The stored offset is deleted with the other rows. */
  readonly reset: Effect.Effect<void>
  /** Reads the stored offset again, after a snapshot replaced it. */
  readonly reload: Effect.Effect<void>
}>() {}

/** ISO 8601 has another form for years of more than four digits. */
const end = Date.UTC(10_000, 0)

const key = "clock"
const nanosPerMilli = 1_000_000n

/** A clock that is ahead of another one, with the same sleep. */
const aheadOf = (base: Clock.Clock, ahead: () => number): Clock.Clock => ({
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: () => base.unsafeCurrentTimeMillis() + ahead(),
  unsafeCurrentTimeNanos: () => base.unsafeCurrentTimeNanos() + BigInt(ahead()) * nanosPerMilli,
  currentTimeMillis: Effect.map(base.currentTimeMillis, (now) => now + ahead()),
  currentTimeNanos: Effect.map(base.currentTimeNanos, (now) => now + BigInt(ahead()) * nanosPerMilli),
  sleep: (duration) => base.sleep(duration)
})

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<VirtualClock["Type"], never, MetaRepo> = Effect.gen(function*() {
  const meta = yield* MetaRepo
  const stored = Effect.map(meta.find(key), (offset) => Number(Option.getOrElse(offset, () => "0")))
  let ahead = yield* stored
  /** The sandbox's clock for each base clock, and for itself, so that it isn't advanced twice. */
  const clocks = new WeakMap<Clock.Clock, Clock.Clock>()
  const clockFor = (base: Clock.Clock): Clock.Clock => {
    const clock = clocks.get(base) ?? aheadOf(base, () => ahead)
    clocks.set(base, clock).set(clock, clock)
    return clock
  }
  const read = Effect.map(
    Clock.currentTimeMillis,
    (now): ClockState => ({ now: DateTime.unsafeMake(now), aheadMillis: ahead })
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
