/** Clocks of real machines, in virtual time. Use them inside of `TestTime.advancing`, which reads the test clock. */
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"

/** The current test clock. */
const testClock = TestClock.testClockWith(Effect.succeed)

/** A clock whose wall time can be set while its monotonic time goes on. */
export const wallClock = Effect.map(testClock, (inner) => {
  let offset = 0
  const clock: Clock.Clock = {
    ...inner,
    currentTimeMillisUnsafe: () => inner.currentTimeMillisUnsafe() + offset,
    currentTimeMillis: Effect.map(inner.currentTimeMillis, (now) => now + offset)
  }
  const setBy = (millis: number): void => {
    offset += millis
  }
  return { clock, setBy }
})

/** Runs an effect with a monotonic clock that goes on by some microseconds with each reading, as a real one does. */
export const withSlowReadings = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(testClock, (inner) => {
    let readings = 0
    const monotonicTimeNanosUnsafe = () => inner.monotonicTimeNanosUnsafe() + BigInt(readings++ * 5_000)
    return Effect.provideService(effect, Clock.Clock, {
      ...inner,
      monotonicTimeNanosUnsafe,
      monotonicTimeNanos: Effect.sync(monotonicTimeNanosUnsafe)
    })
  })
