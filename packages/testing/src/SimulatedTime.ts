/**
 * A clock for simulations of many thousand events: it goes to the next sleeper whenever nothing else is left to do in
 * the process. The test clock does the same with a pause of real milliseconds for each event. For programs that wait
 * for nothing but the clock; a socket would be overtaken by it.
 */
import { Clock, Duration, Effect, Scheduler } from "effect"

interface Sleeper {
  readonly at: number
  readonly order: number
  readonly wake: () => void
}

// Fibers go on in microtasks, as do the bodies of answers in process: after this many rounds of the event loop all have
// settled.
const idleRounds = 2

// The scheduler of the runtime takes to a timer when fibers go on for long, and a timer of no length takes a millisecond,
// within which the clock would be moved under them.
const scheduler = new Scheduler.MixedScheduler(Number.POSITIVE_INFINITY)

class SimulatedClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  private now = 0
  private order = 0
  private running = false
  /** Latest first, so that the next one is taken from the end. */
  private readonly sleepers: Array<Sleeper> = []

  unsafeCurrentTimeMillis(): number {
    return this.now
  }

  unsafeCurrentTimeNanos(): bigint {
    return BigInt(Math.round(this.now * 1_000_000))
  }

  readonly currentTimeMillis = Effect.sync(() => this.now)
  readonly currentTimeNanos = Effect.sync(() => this.unsafeCurrentTimeNanos())

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    // As the test clock does it: no wait is no reason to let all others go first.
    if (Duration.toMillis(duration) <= 0) {
      return Effect.yieldNow()
    }
    return Effect.async<void>((resume) => {
      const sleeper: Sleeper = {
        at: this.now + Duration.toMillis(duration),
        order: this.order++,
        wake: () => resume(Effect.void)
      }
      this.insert(sleeper)
      this.start()
      return Effect.sync(() => {
        const index = this.sleepers.indexOf(sleeper)
        if (index >= 0) {
          this.sleepers.splice(index, 1)
        }
      })
    })
  }

  private insert(sleeper: Sleeper): void {
    let low = 0
    let high = this.sleepers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.sleepers[middle]
      if (other !== undefined && (other.at > sleeper.at || (other.at === sleeper.at && other.order > sleeper.order))) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    this.sleepers.splice(low, 0, sleeper)
  }

  private start(): void {
    if (!this.running) {
      this.running = true
      this.wait(idleRounds)
    }
  }

  private wait(rounds: number): void {
    setImmediate(() => {
      if (rounds > 0) {
        this.wait(rounds - 1)
        return
      }
      const next = this.sleepers.pop()
      if (next === undefined) {
        this.running = false
        return
      }
      this.now = next.at
      next.wake()
      this.wait(idleRounds)
    })
  }
}

/** Runs an effect in simulated time that begins at 0. */
export const run = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => Effect.withScheduler(Effect.withClock(effect, new SimulatedClock()), scheduler))
