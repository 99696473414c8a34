/** The test's clock, whose wall-clock time a test can set. Sleepers and the monotonic time do not notice. */
import { Clock, Effect } from "effect"

export const settable = Effect.map(Effect.clock, (clock) => {
  let by = 0
  const settable: Clock.Clock & { readonly shift: (millis: number) => void } = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() + by,
    unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
    currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + by),
    currentTimeNanos: clock.currentTimeNanos,
    sleep: (duration) => clock.sleep(duration),
    shift: (millis) => {
      by += millis
    }
  }
  return settable
})
