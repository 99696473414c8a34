/**
 * Benchmark `allowance`: the share of the rate limit that a limiter uses with a backlog, and the 429s that it causes, against each kind of
 * window. It runs in virtual time and is deterministic by seed.
 */
import { Limits } from "@plaza/domain"
import { Cause, Clock, Duration, Effect, Exit, Random } from "effect"
import { median, type Report, round } from "./Harness.js"
import { type Call, type Contender, limiters } from "./Limiters.js"
import { fixedWindow, type RateServer, slidingLog, tokenBucket } from "./RateServers.js"
import * as VirtualTime from "./VirtualTime.js"
import * as VirtualTimers from "./VirtualTimers.js"

const limit = Limits.requestsPerWindow
const window = Duration.toMillis(Limits.rateWindow)

/** Makes a server of each kind, whose window starts at an offset. */
export const servers: Readonly<Record<string, (offset: number) => RateServer>> = {
  "fixed window": fixedWindow,
  "sliding log": slidingLog,
  "token bucket": tokenBucket
}

export interface Outcome {
  /** Shortest possible time with 120 requests in any 60 s, divided by the time used. Above 1, the limiter exceeded the limit. */
  readonly used: number
  /** Number of 429s. */
  readonly refused: number
  /** Requests in the busiest 60 s, by the time at which the server counted them. */
  readonly busiest: number
}

const busiestWindow = (arrivals: ReadonlyArray<number>): number => {
  let from = 0
  let most = 0
  for (const [index, at] of arrivals.entries()) {
    while ((arrivals[from] ?? at) <= at - window) from++
    most = Math.max(most, index - from + 1)
  }
  return most
}

/**
 * Queues calls and waits until the server has accepted all of them. A refused call waits for its `Retry-After` and queues again.
 * Latency is 20 to 400 ms, and the server counts a request at a random time between sending and response.
 */
export const measure = (
  { make, time }: Pick<Contender, "make" | "time">,
  serverAt: (offset: number) => RateServer,
  calls: number,
  seed: number
): Effect.Effect<Outcome> => {
  const arrivals: Array<number> = []
  let refused = 0
  let lastAccepted = 0
  const program = Effect.gen(function*() {
    const server = serverAt(yield* Random.nextRange(0, window))
    const limiter = yield* make
    const send: Call = Effect.gen(function*() {
      const latency = yield* Random.nextRange(20, 400)
      const before = latency * (yield* Random.next)
      yield* Effect.sleep(before)
      const at = yield* Clock.currentTimeMillis
      const wait = server(at)
      arrivals.push(at)
      if (wait > 0) refused++
      else lastAccepted = at
      yield* Effect.sleep(latency - before)
      return wait
    })
    const call: Effect.Effect<void> = Effect.flatMap(limiter(send),
      (wait) => wait === 0 ? Effect.void : Effect.zipRight(Effect.sleep(Duration.seconds(wait)), call))
    yield* Effect.replicateEffect(call, calls, { concurrency: "unbounded", discard: true })
  })
  const seeded = Effect.withRandom(Effect.scoped(program), Random.make(seed))
  const exit = time === "clock" ? Effect.sync(() => VirtualTime.run(seeded)) : VirtualTimers.run(seeded)
  return Effect.map(exit, (exit) => {
    // The program has no typed failure, so this is a defect.
    if (Exit.isFailure(exit)) throw new Error(`the run with seed ${seed} failed: ${Cause.pretty(exit.cause)}`)
    const shortest = (Math.ceil(calls / limit) - 1) * window
    return { used: shortest / (lastAccepted - (arrivals[0] ?? 0)), refused, busiest: busiestWindow(arrivals) }
  })
}

const runs = (limiter: string, contender: Contender, server: string, serverAt: (offset: number) => RateServer, requested: number) =>
  Effect.gen(function*() {
    const { atMost = requested, seeds } = contender
    const calls = Math.min(requested, atMost)
    const before = process.cpuUsage()
    const outcomes = yield* Effect.forEach(seeds, (seed) => measure(contender, serverAt, calls, seed))
    const { system, user } = process.cpuUsage(before)
    const used = outcomes.map((outcome) => outcome.used)
    return [
      limiter,
      server,
      calls,
      seeds.length,
      `${round(100 * median(used), 1)}%`,
      `${round(100 * Math.min(...used), 1)}%`,
      round(median(outcomes.map((outcome) => outcome.refused)), 0),
      Math.max(...outcomes.map((outcome) => outcome.busiest)),
      round((user + system) / 1e6 / seeds.length)
    ]
  })

/** Measures every limiter against every server. */
export const report = (calls: number): Effect.Effect<Report> =>
  Effect.forEach(Object.entries(servers), ([server, serverAt]) =>
    Effect.forEach(Object.entries(limiters), ([limiter, contender]) =>
      runs(limiter, contender, server, serverAt, calls))).pipe(
      Effect.map((rows) => ({
        name: "allowance",
        about:
          `up to ${calls} queued calls, 20 to 400 ms latency, ${limit} a minute, in virtual time; 100% is the shortest possible time with ${limit} in any 60 s`,
        columns: ["limiter", "server", "calls", "runs", "allowance used", "worst", "429s per run", "busiest 60 s", "CPU s per run"],
        rows: rows.flat()
      }))
    )
