/**
 * Virtual time for programs that also wait for a socket: the clock stands still while an effect is held, and otherwise advances to the next
 * sleeper as in `VirtualTime`.
 */
import { Clock, Duration, Effect, type Exit, type Scheduler } from "effect"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** Stops the clock while the effect runs. */
export type Hold = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Runs a program and returns its exit. Sleepers of the same time wake in the order in which they fell asleep. Fails if the program waits
 * for an effect that is not held.
 */
export const run = async <A, E>(program: (hold: Hold) => Effect.Effect<A, E>): Promise<Exit.Exit<A, E>> => {
  let now = 0
  let held = 0
  let tasks: Array<() => void> = []
  let proceed = () => {}
  const sleepers: Array<Sleeper> = []

  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => now,
    unsafeCurrentTimeNanos: () => BigInt(Math.round(now * 1e6)),
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanos: Effect.sync(() => BigInt(Math.round(now * 1e6))),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const sleeper = { at: now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
        const index = sleepers.findLastIndex(({ at }) => at <= sleeper.at)
        sleepers.splice(index + 1, 0, sleeper)
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
