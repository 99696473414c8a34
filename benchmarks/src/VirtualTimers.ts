/**
 * Virtual time for code that uses `Date` and `setTimeout`: both are replaced while a program runs, and when it is
 * idle the next timer fires. Slower than `VirtualTime`, which is for Effect programs only.
 */
import * as FakeTimers from "@sinonjs/fake-timers"
import { Effect, type Exit } from "effect"

// Some limiters take a moment near the beginning of 1970 for "never".
const beginning = Date.UTC(2026, 9, 1)

// What is left of a round of the event loop when all microtasks are done. It is the one thing that isn't replaced.
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The outcome of a program, at once, however long it sleeps. */
export const run = <A, E>(program: Effect.Effect<A, E>): Effect.Effect<Exit.Exit<A, E>> =>
  Effect.promise(async () => {
    const clock = FakeTimers.install({
      now: beginning,
      toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"]
    })
    try {
      const fiber = Effect.runFork(program)
      for (;;) {
        await settled()
        const exit = fiber.unsafePoll()
        if (exit !== null) return exit
        if (clock.countTimers() === 0) throw new Error("the program waits for something that isn't in virtual time")
        clock.next()
      }
    } finally {
      clock.uninstall()
    }
  })
