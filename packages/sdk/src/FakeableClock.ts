/** The clock of the platform, with a monotonic time that fake timers of a test runner control. */
import { Clock, Context, Effect, Layer } from "effect"

const base = Context.get(Context.empty(), Clock.Clock)

// The platform's own keeps the function that it finds when it is loaded, before a test replaces it. The rate limit would then wait in real
// time while everything else is on fake timers.
const now = (): bigint => BigInt(Math.round(performance.now() * 1_000_000))

/** Provides the clock. */
export const layer: Layer.Layer<never> = Layer.succeed(Clock.Clock, {
  currentTimeMillisUnsafe: () => base.currentTimeMillisUnsafe(),
  currentTimeMillis: base.currentTimeMillis,
  currentTimeNanosUnsafe: () => base.currentTimeNanosUnsafe(),
  currentTimeNanos: base.currentTimeNanos,
  monotonicTimeNanosUnsafe: now,
  monotonicTimeNanos: Effect.sync(now),
  sleep: (duration) => base.sleep(duration)
})
