/**
 * Runs a program in virtual time: while no fiber can run, the clock advances to the next sleeper. `TestClock` inspects every fiber at every
 * step, which takes minutes with thousands of sleepers. The program may wait only for sleepers and for its own fibers.
 */
import { Clock, Duration, Effect, type Exit, type Scheduler } from "effect"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/**
 * Runs a program and returns its exit. Sleepers of the same time wake in the order in which they fell asleep, so that a run with a seed is
 * deterministic. Throws if the program waits for anything else.
 */
export const run = <A, E>(program: Effect.Effect<A, E>): Exit.Exit<A, E> => {
  let now = 0
  const sleepers: Array<Sleeper> = []
  let tasks: Array<() => void> = []

  const add = (sleeper: Sleeper) => {
    let low = 0
    let high = sleepers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sleepers[middle]?.at ?? Number.POSITIVE_INFINITY) <= sleeper.at) low = middle + 1
      else high = middle
    }
    sleepers.splice(low, 0, sleeper)
  }

  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => now,
    unsafeCurrentTimeNanos: () => BigInt(Math.round(now * 1e6)),
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanos: Effect.sync(() => BigInt(Math.round(now * 1e6))),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const sleeper = { at: now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
        add(sleeper)
        return Effect.sync(() => {
          const index = sleepers.indexOf(sleeper)
          if (index >= 0) sleepers.splice(index, 1)
        })
      })
  }

  const scheduler: Scheduler.Scheduler = {
    shouldYield: () => false,
    scheduleTask: (task) => {
      tasks.push(task)
    }
  }

  const fiber = Effect.runFork(Effect.withClock(program, clock), { scheduler })
  for (;;) {
    while (tasks.length > 0) {
      const due = tasks
      tasks = []
      due.forEach((task) => task())
    }
    const exit = fiber.unsafePoll()
    if (exit !== null) return exit
    const next = sleepers.shift()
    if (next === undefined) throw new Error("the program waits for something outside of virtual time")
    now = Math.max(now, next.at)
    next.wake()
  }
}
