/** The test's clock, whose wall-clock time a test can set. Sleepers and the monotonic time do not notice. */
import { Clock, Effect } from "effect"

export const settable = Effect.map(Clock.Clock, (clock) => {
  let by = 0
  const settable: Clock.Clock & { readonly shift: (millis: number) => void } = {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + by,
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(by) * 1_000_000n,
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + by),
    currentTimeNanos: Effect.map(clock.currentTimeNanos, (nanos) => nanos + BigInt(by) * 1_000_000n),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration),
    shift: (millis) => {
      by += millis
    }
  }
  return settable
})
