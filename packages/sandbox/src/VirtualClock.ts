/**
 * The sandbox's own time: its caller's clock, moved forward on request. Everything that the sandbox dates, counts by the
 * minute or by the day goes by it; what it waits for (a delay that a fault asks for) takes as long as it takes by the
 * caller's. Knows nothing of what is dated.
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
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { invalidField } from "./http/Envelope.js"
import { MetaRepo } from "./storage/MetaRepo.js"

/** @since 0.1.0 @category models */
export const ClockState = Schema.Struct({
  /** What time it is in the sandbox. */
  now: Timestamp,
  /** How far it is ahead of the clock outside, in milliseconds. */
  aheadMillis: Schema.NonNegativeInt
}).annotations({ identifier: "ClockState" })
/** @since 0.1.0 @category models */
export interface ClockState extends Schema.Schema.Type<typeof ClockState> {}

/** @since 0.1.0 @category services */
export class VirtualClock extends Context.Tag("@plaza/sandbox/VirtualClock")<VirtualClock, {
  /** Runs an effect by the sandbox's time. Inside of another such effect it changes nothing. */
  readonly within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** What time it is. By the sandbox's time, as everything here; see `within`. */
  readonly read: Effect.Effect<ClockState>
  /** Moves on by whole milliseconds. There is no way back but a reset. */
  readonly advance: (millis: number) => Effect.Effect<ClockState, ValidationError>
  /** Back to the clock outside; what was stored of it is gone with the other rows. */
  readonly reset: Effect.Effect<void>
}>() {}

/** Years of more than four digits have another form on the wire. */
const end = Date.UTC(10_000, 0)

const key = "clock"
const nanosPerMilli = 1_000_000n

/** A clock that is ahead of another, but waits no faster. */
const aheadOf = (base: Clock.Clock, ahead: () => number): Clock.Clock => ({
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: () => base.unsafeCurrentTimeMillis() + ahead(),
  unsafeCurrentTimeNanos: () => base.unsafeCurrentTimeNanos() + BigInt(ahead()) * nanosPerMilli,
  currentTimeMillis: Effect.map(base.currentTimeMillis, (now) => now + ahead()),
  currentTimeNanos: Effect.map(base.currentTimeNanos, (now) => now + BigInt(ahead()) * nanosPerMilli),
  sleep: (duration) => base.sleep(duration)
})

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<VirtualClock, never, MetaRepo> = Layer.effect(
  VirtualClock,
  Effect.gen(function*() {
    const meta = yield* MetaRepo
    let ahead = Number(Option.getOrElse(yield* meta.find(key), () => "0"))
    /** By the clock it is ahead of; by itself as well, since it isn't put ahead twice. */
    const ours = new WeakMap<Clock.Clock, Clock.Clock>()
    const over = (base: Clock.Clock): Clock.Clock => {
      const made = ours.get(base) ?? aheadOf(base, () => ahead)
      ours.set(base, made).set(made, made)
      return made
    }
    const read = Effect.map(
      Clock.currentTimeMillis,
      (now): ClockState => ({ now: DateTime.unsafeMake(now), aheadMillis: ahead })
    )
    return {
      within: (effect) =>
        Effect.clockWith((base) => {
          const clock = over(base)
          return clock === base ? effect : Effect.withClock(effect, clock)
        }),
      read,
      advance: (millis) =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          if (!Number.isInteger(millis) || millis <= 0 || now + millis >= end) {
            return yield* invalidField("millis", "has to be a whole number above 0 that leads to no year after 9999")
          }
          yield* meta.set(key, String(ahead + millis))
          ahead += millis
          return yield* read
        }),
      reset: Effect.sync(() => {
        ahead = 0
      })
    }
  })
)
