/**
 * Virtual time for tests of applications that use the client: retries and waits take no real time.
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
 * Runs an effect under Effect's `TestClock` and, whenever all its fibers wait, sets the clock to the time of the next sleep.
 * Without it a test with `it.effect` hangs on the first retry, because nothing else advances that clock. For services in
 * process, such as `Sandbox.layerHttpClient`; over a socket the clock would overtake the response.
 *
 * @example
 * import { Profiles } from "@plaza/client"
 * import * as TestTime from "./TestTime.js"
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
      // Settles what can go on without the clock; only then is the next sleep known.
      yield* TestClock.adjust(Duration.zero)
      const next = Chunk.head(Chunk.sort(yield* TestClock.sleeps(), Order.number))
      if (Option.isSome(next) && Option.isNone(yield* Fiber.poll(fiber))) {
        yield* TestClock.setTime(next.value)
      }
    }
    return yield* Fiber.join(fiber)
  })
