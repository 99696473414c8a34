/**
 * Runs a program in virtual time: while no fiber can run, the clock advances to the next sleeper. It stands still while the program holds
 * an effect that waits for a socket. `TestClock` inspects every fiber at every step, which takes minutes with thousands of sleepers.
 */
import { Clock, Duration, Effect, type Exit, type Scheduler } from "effect"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Stops the clock while the effect runs. */
export type Hold = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Runs a program and returns its exit. Sleepers of the same time wake in the order in which they fell asleep, so that a run with a seed is
 * deterministic. Fails if the program waits for anything but sleepers, its own fibers and held effects.
 */
export const run = async <A, E>(program: (hold: Hold) => Effect.Effect<A, E>): Promise<Exit.Exit<A, E>> => {
  let now = 0
  let held = 0
  let tasks: Array<() => void> = []
  let proceed = () => {}
  const sleepers: Array<Sleeper> = []

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
      proceed()
    }
  }

  const hold: Hold = (effect) => Effect.acquireUseRelease(Effect.sync(() => held++), () => effect, () => Effect.sync(() => held--))

  const fiber = Effect.runFork(Effect.withClock(program(hold), clock), { scheduler })
  for (;;) {
    while (tasks.length > 0) {
      const due = tasks
      tasks = []
      due.forEach((task) => task())
    }
    const exit = fiber.unsafePoll()
    if (exit !== null) return exit
    if (held > 0) {
      await new Promise<void>((resolve) => {
        proceed = resolve
      })
      continue
    }
    const next = sleepers.shift()
    if (next === undefined) throw new Error("the program waits for something outside of virtual time")
    now = Math.max(now, next.at)
    next.wake()
  }
}
