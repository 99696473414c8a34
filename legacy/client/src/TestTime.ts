/**
 * Virtual time for tests of applications that use the client.
 *
 * @since 0.1.0
 */
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import * as TestClock from "effect/TestClock"

/**
 * Runs an effect under Effect's `TestClock`. Whenever all fibers wait, it sets the clock to the next sleep. Without it, a test with
 * `it.effect` hangs on the first retry. Use it with a service in process, such as `Sandbox.layerHttpClient`: over a socket the
 * clock would reach a timeout before the response arrives.
 *
 * @example
 * import { Profiles, TestTime } from "@plaza-legacy/client"
 * import { Effect } from "effect"
 *
 * const test = TestTime.advancing(Effect.flatMap(Profiles, ({ me }) => me))
 *
 * @since 0.1.0
 * @category testing
 */
export const advancing = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    while (Option.isNone(yield* Fiber.poll(fiber))) {
      // First runs the fibers that don't wait for the clock, because they may sleep next.
      yield* TestClock.adjust(Duration.zero)
      const next = Chunk.head(Chunk.sort(yield* TestClock.sleeps(), Order.number))
      if (Option.isSome(next) && Option.isNone(yield* Fiber.poll(fiber))) {
        yield* TestClock.setTime(next.value)
      }
    }
    return yield* Fiber.join(fiber)
  })
