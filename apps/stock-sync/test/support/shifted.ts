/**
 * A wall clock that jumps. Knows nothing of what goes by it.
 */
import { Clock, Effect } from "effect"

/** The clock of the test, of which the hands can be set; sleepers and the monotonic time don't notice. */
export const shifted = Effect.map(Effect.clock, (clock) => {
  let by = 0
  const shiftable: Clock.Clock & { readonly shift: (millis: number) => void } = {
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
  return shiftable
})
