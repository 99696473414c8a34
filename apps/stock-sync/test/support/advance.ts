/** Virtual time. */
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"

// More than the fibers of a source need to pass a signal on.
const turns = 30

const settle = Effect.replicateEffect(Effect.yieldNow, turns, { discard: true })

/** Advances the clock second by second. After each, all fibers have done what they could, and wait for the clock again. */
export const advance = (by: Duration.Input) =>
  Effect.gen(function*() {
    yield* settle
    for (let left = Duration.toMillis(Duration.fromInputUnsafe(by)); left > 0; left -= 1_000) {
      yield* TestClock.adjust(Math.min(left, 1_000))
      yield* settle
    }
  })
