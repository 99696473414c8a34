/** Virtual time for tests: runs an effect and advances the test clock. */
import { type Clock, Duration, Effect, Fiber, Option, TestClock } from "effect"

/** Runs the effect to its end, moving the clock a step whenever it waits. */
export const run = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  step: Duration.DurationInput = "10 minutes"
): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    while (Option.isNone(yield* Fiber.poll(fiber))) {
      yield* TestClock.adjust(step)
    }
    return yield* Fiber.join(fiber)
  })

// The longest time of a timer, which Effect's own clock takes for no end at all.
const longestTimer = Duration.millis(2 ** 31 - 1)

/** A clock with other methods in place of some of its own. */
const replacing = (inner: Clock.Clock, methods: Partial<Clock.Clock>): Clock.Clock =>
  new Proxy(inner, {
    get: (target, name): unknown => {
      const value: unknown = Reflect.get(Object.hasOwn(methods, name) ? methods : target, name)
      return typeof value === "function" ? value.bind(target) : value
    }
  })

/** Runs an effect with a clock that never ends a sleep longer than a timer, as Effect's own. */
export const withTimers = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.clockWith((inner) => {
    const sleep = (duration: Duration.Duration) => Duration.greaterThan(duration, longestTimer) ? Effect.never : inner.sleep(duration)
    return Effect.withClock(effect, replacing(inner, { sleep }))
  })

/**
 * Runs an effect that sleeps. Returns the most ancestors that a sleeping fiber has a record of. A fiber inherits a list of all its
 * ancestors that forked a fiber, so a fiber at the end of a long chain uses much memory.
 */
export const mostAncestors = <E, R>(effect: Effect.Effect<unknown, E, R>): Effect.Effect<number, E, R> =>
  Effect.clockWith((inner) => {
    let most = 0
    const observe = Effect.map(Effect.getFiberRefs, ({ locals }) => {
      most = Math.max(most, ...Array.from(locals.values(), ({ length }) => length))
    })
    const sleep = (duration: Duration.Duration) => Effect.zipRight(observe, inner.sleep(duration))
    return Effect.map(Effect.withClock(effect, replacing(inner, { sleep })), () => most)
  })

/** Runs an effect with a monotonic clock that goes on by some microseconds with each reading, as a real one does. */
export const withSlowReadings = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.clockWith((inner) => {
    let readings = 0
    const unsafeCurrentTimeNanos = () => inner.unsafeCurrentTimeNanos() + BigInt(readings++ * 5_000)
    return Effect.withClock(effect, replacing(inner, { unsafeCurrentTimeNanos }))
  })

/** A clock whose wall time can be set, while its monotonic time goes on as it does. */
export const wallClock = Effect.map(Effect.clock, (inner) => {
  let offset = 0
  // All else is the inner clock's, with what the test clock is adjusted by.
  const clock = replacing(inner, {
    unsafeCurrentTimeMillis: () => inner.unsafeCurrentTimeMillis() + offset,
    currentTimeMillis: Effect.map(inner.currentTimeMillis, (now) => now + offset)
  })
  const setBy = (millis: number): void => {
    offset += millis
  }
  return { clock, setBy }
})
