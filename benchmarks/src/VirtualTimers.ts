/**
 * Virtual time for code that uses `Date` and `setTimeout`: replaces both while a program runs, and fires the next timer while the program
 * is idle. It is slower than `VirtualTime`, which is for Effect programs only.
 */
import * as FakeTimers from "@sinonjs/fake-timers"
import { Effect, type Exit } from "effect"

// Some limiters treat a time near the start of 1970 as "never".
const start = Date.UTC(2026, 9, 1)

// Waits until all microtasks are done. `setImmediate` is not replaced.
const idle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Runs a program and returns its exit. Fails with a defect if the program waits for anything but timers. */
export const run = <A, E>(program: Effect.Effect<A, E>): Effect.Effect<Exit.Exit<A, E>> =>
  Effect.promise(async () => {
    const clock = FakeTimers.install({
      now: start,
      toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"]
    })
    try {
      const fiber = Effect.runFork(program)
      for (;;) {
        await idle()
        const exit = fiber.unsafePoll()
        if (exit !== null) return exit
        if (clock.countTimers() === 0) throw new Error("the program waits for something outside of virtual time")
        clock.next()
      }
    } finally {
      clock.uninstall()
    }
  })
