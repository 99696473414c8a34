/**
 * The sliding window, compared with a simple reference implementation.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import * as RateCounters from "../src/access/RateCounters.ts"

it.effect("a sliding window returns the same wait as the reference implementation", () =>
  Effect.gen(function*() {
    const length = 5_000
    const limit = 700
    const window = RateCounters.slidingWindow(length)
    const all: Array<number> = []
    let now = 0
    let refused = 0
    for (let step = 0; step < 8_000; step++) {
      // Mostly short gaps and sometimes long ones, so that the window is full and empty in turn.
      now += yield* Random.nextIntBetween(0, step % 3_000 === 0 ? 2 * length : 5)
      const inside = all.filter((moment) => moment + length > now)
      const expected = inside.length < limit ? 0 : (inside[inside.length - limit] ?? 0) + length - now
      assert.strictEqual(window.waitFor(limit, now), expected)
      if (expected === 0) {
        window.push(now)
        all.push(now)
      } else {
        refused++
      }
    }
    assert.isTrue(refused > 100 && all.length > 2_000, `${refused} refused, ${all.length} noted`)
  }).pipe(Random.withSeed(1)))

it("a window with a limit of 0 returns no wait", () => {
  assert.isAbove(RateCounters.slidingWindow(1_000).waitFor(0, 5), 0)
})
