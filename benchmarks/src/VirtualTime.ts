/**
 * Runs a program in virtual time, on the platform's `TestClock`: while all fibers wait, the clock advances to the next sleep. It stands
 * still while the program holds an effect that waits for something real, such as a socket.
 */
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"

/** The last instant of a `Date`. Sleeps without an end stay asleep. */
const longest = 8.64e15

/** The clock reports a held effect as a busy fiber after this time. */
const warningDelay = "5 minutes"

/**
 * Runs an effect on the clock of the machine, and stops the virtual clock meanwhile: `TestClock` advances when no fiber that it woke runs,
 * and this one runs until the effect ends.
 */
export const hold = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(TestClock.withLive(effect))
    while (fiber.pollUnsafe() === undefined) {
      yield* Effect.yieldNow
    }
    return yield* Fiber.join(fiber)
  })

/**
 * Runs a program from the first millisecond on. Sleeps with the same end wake in the order in which they began, so that a run with a seed
 * is deterministic. Dies if the program waits for anything but sleeps, its own fibers and held effects.
 */
export const run = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    // The clock waits only for fibers that it woke, so it wakes the first one too.
    const fiber = yield* Effect.forkChild(Effect.delay(program, "1 millis"))
    yield* Effect.yieldNow
    yield* TestClock.setTime(longest)
    return fiber.pollUnsafe() === undefined
      ? yield* Effect.die(new Error("the program waits for something outside of virtual time"))
      : yield* Fiber.join(fiber)
  }).pipe(Effect.provide(TestClock.layer({ warningDelay })))
