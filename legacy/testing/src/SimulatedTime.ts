/**
 * A Clock for simulations of many thousand events: it advances to the next sleeper when the process is idle.
 * TestClock waits some real milliseconds for each event. Only for programs that wait for the Clock alone; it
 * would overtake a socket.
 */
import { Clock, Duration, Effect, Scheduler } from "effect"

interface Sleeper {
  readonly at: number
  readonly order: number
  readonly wake: () => void
}

// Fibers and in-process response bodies run in microtasks: after this many rounds of the event loop all have settled.
const idleRounds = 2

// The default scheduler yields to a timer when fibers run for long. A timer takes at least a millisecond, in which the clock
// would advance too early.
const scheduler = new Scheduler.MixedScheduler(Number.POSITIVE_INFINITY)

class SimulatedClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  private now = 0
  private order = 0
  private running = false
  /** In descending order, so that the next one is popped from the end. */
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
    // Like TestClock, a sleep of zero doesn't wait for other fibers.
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

/** Runs an effect in simulated time, which starts at 0. */
export const run = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => Effect.withScheduler(Effect.withClock(effect, new SimulatedClock()), scheduler))
