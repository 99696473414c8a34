/**
 * Virtual time for tests of applications that use the client.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import type * as TestClock from "effect/testing/TestClock"

/** A `TestClock` that keeps the ends of the sleeps of its fibers. */
interface RecordingClock extends TestClock.TestClock {
  /** The end of the sleep that ends first, if any fiber sleeps. */
  readonly nextEnd: () => number | undefined
}

interface Sleep {
  readonly end: number
  ended: boolean
}

const isRecording = (clock: Clock.Clock): clock is RecordingClock => "nextEnd" in clock

const isTestClock = (clock: Clock.Clock): clock is TestClock.TestClock => "setTime" in clock

const record = (clock: TestClock.TestClock): RecordingClock => {
  /** The latest end first. Ended sleeps stay until they are the last. */
  const sleeps: Array<Sleep> = []
  const sleep = (duration: Duration.Duration) =>
    Effect.suspend(() => {
      const end = clock.currentTimeMillisUnsafe() + Duration.toMillis(duration)
      const waiting = clock.sleep(duration)
      // Without an end, or with one in the past, there is nothing to advance to.
      if (!(end > clock.currentTimeMillisUnsafe() && end < Number.POSITIVE_INFINITY)) {
        return waiting
      }
      const entry: Sleep = { end, ended: false }
      let low = 0
      let high = sleeps.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((sleeps[middle]?.end ?? end) > end) {
          low = middle + 1
        } else {
          high = middle
        }
      }
      sleeps.splice(low, 0, entry)
      return Effect.ensuring(
        waiting,
        Effect.sync(() => {
          entry.ended = true
        })
      )
    })
  const nextEnd = () => {
    while (sleeps.at(-1)?.ended === true) {
      sleeps.pop()
    }
    return sleeps.at(-1)?.end
  }
  return { ...clock, sleep, nextEnd }
}

/** A scheduler that counts the tasks it schedules. */
const counting = (scheduler: Scheduler.Scheduler) => {
  let tasks = 0
  const counted: Scheduler.Scheduler = {
    executionMode: scheduler.executionMode,
    shouldYield: (fiber) => scheduler.shouldYield(fiber),
    makeDispatcher: () => {
      const dispatcher = scheduler.makeDispatcher()
      return {
        scheduleTask: (task, priority) => {
          tasks++
          dispatcher.scheduleTask(task, priority)
        },
        flush: () => dispatcher.flush()
      }
    }
  }
  return { scheduler: counted, tasks: () => tasks }
}

// An upload from a path reads a file, which takes real time. In a browser there is no `process`.
const readsFile = () => typeof process !== "undefined" && process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"))

// Bodies in process use promises, which the scheduler does not see. None of the platform's takes more turns of the event loop without
// a task of a fiber.
const quietTurns = 10

/** Yields until all fibers wait. */
const settled = (tasks: () => number) =>
  Effect.gen(function*() {
    let quiet = 0
    while (quiet < quietTurns) {
      const before = tasks()
      yield* Effect.yieldNow
      quiet = tasks() === before && !readsFile() ? quiet + 1 : 0
    }
  })

/**
 * Advances the clock to the next sleep, at most to `end`. `TestClock.setTime` would also end the sleeps between them, without a turn of
 * the event loop for the promises that follow.
 */
const advance = (clock: TestClock.TestClock, end: number) =>
  Effect.suspend(() => {
    const start = clock.currentTimeMillisUnsafe()
    return Effect.raceFirst(
      clock.setTime(end),
      Effect.repeat(Effect.yieldNow, { while: () => clock.currentTimeMillisUnsafe() === start })
    )
  })

const advanceUntilDone = <A, E>(clock: RecordingClock, fiber: Fiber.Fiber<A, E>, tasks: () => number) =>
  Effect.gen(function*() {
    // Advances without a sleep, in a row. Starts at 1, to wait a little before the first.
    let idle = 1
    while (true) {
      yield* settled(tasks)
      if (fiber.pollUnsafe() !== undefined) {
        return yield* Fiber.join(fiber)
      }
      const recorded = clock.nextEnd()
      if (recorded !== undefined) {
        idle = Math.min(idle, 1)
        yield* advance(clock, Math.max(recorded, clock.currentTimeMillisUnsafe()))
        continue
      }
      // No recorded sleep: a fiber of an outer layer sleeps, or the effect waits for something that takes real time.
      if (idle > 0) {
        yield* clock.withLive(Effect.sleep(Duration.millis(Math.min(2 ** idle, 50))))
      }
      const end = clock.currentTimeMillisUnsafe() + Math.min(60_000 * 2 ** idle, 86_400_000)
      const before = tasks()
      yield* advance(clock, end)
      idle = clock.currentTimeMillisUnsafe() < end || tasks() !== before ? 0 : idle + 1
    }
  })

/**
 * Runs an effect under Effect's `TestClock`. Whenever all fibers wait, it sets the clock to the end of the next sleep, until the effect
 * ends. Without it, a test with `it.effect` hangs on the first retry. Dies without a `TestClock`.
 *
 * Use it with a service in process, such as `Sandbox.layerHttpClient`. While an effect waits for a socket, the clock advances and reaches
 * the timeout before the response arrives.
 *
 * @example
 * import { Profiles, TestTime } from "@plaza/client"
 * import { Effect } from "effect"
 * import { TestClock } from "effect/testing"
 *
 * const test = Effect.flatMap(Profiles, ({ me }) => me).pipe(TestTime.advancing, Effect.provide(TestClock.layer()))
 *
 * @since 0.1.0
 * @category testing
 */
export const advancing = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const clock = yield* Clock.Clock
    // An outer call advances this clock.
    if (isRecording(clock)) {
      return yield* effect
    }
    if (!isTestClock(clock)) {
      return yield* Effect.die(new Error("TestTime.advancing requires a TestClock: use it.effect, or provide TestClock.layer()."))
    }
    const recording = record(clock)
    const { scheduler, tasks } = counting(yield* Scheduler.Scheduler)
    const fiber = yield* Effect.forkChild(effect).pipe(
      Effect.provideService(Clock.Clock, recording),
      Effect.provideService(Scheduler.Scheduler, scheduler)
    )
    return yield* advanceUntilDone(recording, fiber, tasks)
  })
