/**
 * The rate limiters that the benchmark `allowance` compares. Each allows 120 calls a minute and is configured as in its documentation or
 * by its best-known user.
 */
import * as Experimental from "@effect/experimental/RateLimiter"
import { RateLimit } from "@plaza/client"
import { Limits } from "@plaza/domain"
import Bottleneck from "bottleneck"
import { Duration, Effect, Layer, RateLimiter, Runtime, type Scope } from "effect"
import pThrottle from "p-throttle"

/** Sends a request. Returns 0 if the server accepts it, else the seconds of `Retry-After`. */
export type Call = Effect.Effect<number>

/**
 * Runs a call when the limit allows it and returns its result. The benchmark queues a refused call again after its wait. A limiter that
 * retries by itself returns 0 only.
 */
export type Limiter = (call: Call) => Call

export interface Contender {
  readonly make: Effect.Effect<Limiter, never, Scope.Scope>
  /** Whether it reads the clock of Effect, or `Date` and `setTimeout`. */
  readonly time: "clock" | "timers"
  /** Limits the number of queued calls if more would take minutes of real time. */
  readonly atMost?: number
  readonly seeds: ReadonlyArray<number>
}

const limit = Limits.requestsPerWindow
const window = Limits.rateWindow
const windowMillis = Duration.toMillis(window)

const plaza: Effect.Effect<Limiter, never, Scope.Scope> = Effect.map(Effect.orDie(RateLimit.makeMemory()),
  (limit) => (call) =>
    Effect.orDie(limit.withSlot(
      Duration.days(1),
      // As the client does: a refusal pauses all waiting calls.
      Effect.tap(call, (refused) => refused > 0 ? limit.pauseFor(Duration.seconds(refused)) : Effect.void)
    )))

type Algorithm = "fixed-window" | "token-bucket"

const effect = (algorithm: Algorithm): Effect.Effect<Limiter, never, Scope.Scope> =>
  RateLimiter.make({ limit, interval: window, algorithm })

const experimental = (algorithm: Algorithm): Effect.Effect<Limiter> =>
  Effect.map(Experimental.makeWithRateLimiter, (withLimiter) => (call: Call) =>
    Effect.orDie(withLimiter({ key: "one", limit, window, algorithm, onExceeded: "delay" })(call))).pipe(
      Effect.provide(Layer.provide(Experimental.layer, Experimental.layerStoreMemory))
    )

/** Makes a limiter from one of promises. Calls run with the runtime, and so the random generator, of the benchmark. */
const promised = (schedule: (call: () => Promise<number>) => Promise<number>): Effect.Effect<Limiter> =>
  Effect.map(Effect.runtime(), (runtime) => (call) => Effect.promise(() => schedule(() => Runtime.runPromise(runtime)(call))))

class Refused extends Error {
  readonly seconds: number
  readonly job: { again: boolean }
  constructor(seconds: number, job: { again: boolean }) {
    super("429")
    this.seconds = seconds
    this.job = job
  }
}

/**
 * The groups and retries of `@octokit/plugin-throttling` 11. Ten calls run at a time. Writes run one after the other and start a second
 * apart. A refused call retries after its own `Retry-After` without queueing again.
 */
const octokit = (kind: "reads" | "writes"): Effect.Effect<Limiter> =>
  Effect.suspend(() => {
    const all = new Bottleneck({ maxConcurrent: 10 })
    const writes = new Bottleneck({ maxConcurrent: 1, minTime: 1_000 })
    const retries = new Bottleneck()
    retries.on("failed", (error) => {
      if (!(error instanceof Refused)) return undefined
      error.job.again = true
      return error.seconds * 1_000
    })
    return promised((call) => {
      const job = { again: false }
      const once = async () => {
        const options = job.again ? { priority: 0, weight: 0 } : {}
        if (kind === "writes") await writes.schedule(options, () => Promise.resolve())
        const seconds = await all.schedule(options, call)
        if (seconds > 0) throw new Refused(seconds, job)
        return seconds
      }
      return retries.schedule(once)
    })
  })

// The configuration that its documentation shows for a number of calls per interval.
const reservoir: Effect.Effect<Limiter, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => new Bottleneck({ reservoir: limit, reservoirRefreshAmount: limit, reservoirRefreshInterval: windowMillis })),
  // Stops its heartbeat timer.
  (limiter) => Effect.promise(() => limiter.disconnect(false))
).pipe(Effect.flatMap((limiter) => promised((call) => limiter.schedule(call))))

const throttle = (strict: boolean): Effect.Effect<Limiter> =>
  Effect.suspend(() => {
    const throttled = pThrottle({ limit, interval: windowMillis, strict })((call: () => Promise<number>) => call())
    return promised(throttled)
  })

const several = [1, 2, 3]
const one = [1]

export const limiters = {
  "Plaza RateLimit": { make: plaza, time: "clock", seeds: several },
  "effect/RateLimiter fixed-window": { make: effect("fixed-window"), time: "clock", seeds: one },
  // Each token wakes all waiting calls, so the run time grows with the square of the backlog.
  "effect/RateLimiter token-bucket": { make: effect("token-bucket"), time: "clock", atMost: 600, seeds: one },
  "@effect/experimental fixed-window": { make: experimental("fixed-window"), time: "clock", seeds: several },
  "@effect/experimental token-bucket": { make: experimental("token-bucket"), time: "clock", seeds: several },
  // All refused calls retry at the same time, so the 429s grow with the square of the backlog.
  "bottleneck, octokit's reads": { make: octokit("reads"), time: "timers", atMost: 600, seeds: one },
  "bottleneck, octokit's writes": { make: octokit("writes"), time: "timers", seeds: one },
  "bottleneck reservoir": { make: reservoir, time: "timers", seeds: one },
  "p-throttle": { make: throttle(false), time: "timers", seeds: one },
  "p-throttle strict": { make: throttle(true), time: "timers", seeds: one }
} as const satisfies Readonly<Record<string, Contender>>
