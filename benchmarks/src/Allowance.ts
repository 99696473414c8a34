/**
 * Benchmark `allowance`: the share of the rate limit that a limiter uses with a backlog, and the 429s that it causes, against each kind of
 * window. It runs in virtual time and is deterministic by seed.
 */
import { Limits } from "@plaza/domain"
import { Cause, Duration, Effect, Exit, Random } from "effect"
import { interleave, median, type Report, round } from "./Harness.js"
import { type Contender, limiters } from "./Limiters.js"
import * as SentCalls from "./programs/allowance/SentCalls.js"
import * as SharedOnPostgres from "./programs/allowance/SharedOnPostgres.js"
import { fixedWindow, type RateServer, slidingLog, tokenBucket } from "./RateServers.js"
import * as VirtualTime from "./VirtualTime.js"
import * as VirtualTimers from "./VirtualTimers.js"

const limit = Limits.requestsPerWindow
const window = Duration.toMillis(Limits.rateWindow)
const longestLatency = 400

/** Makes a server of each kind, whose window starts at an offset. */
export const servers: Readonly<Record<string, (offset: number) => RateServer>> = {
  "fixed window": fixedWindow,
  "sliding log": slidingLog,
  "token bucket": tokenBucket
}

/** Queues calls and waits until the server has accepted all of them. A refused call waits for its `Retry-After` and queues again. */
export const measure = (
  { make, time }: Pick<Contender, "make" | "time">,
  serverAt: (offset: number) => RateServer,
  calls: number,
  seed: number
): Effect.Effect<SentCalls.Outcome> => {
  const program = Effect.gen(function*() {
    const { outcome, send } = SentCalls.make(serverAt(yield* Random.nextRange(0, window)))
    const limiter = yield* make
    const call: Effect.Effect<void> = Effect.flatMap(limiter(send),
      (wait) => wait === 0 ? Effect.void : Effect.zipRight(Effect.sleep(Duration.seconds(wait)), call))
    yield* Effect.replicateEffect(call, calls, { concurrency: "unbounded", discard: true })
    return outcome(calls)
  })
  const seeded = Effect.withRandom(Effect.scoped(program), Random.make(seed))
  const exit = time === "clock" ? Effect.sync(() => VirtualTime.run(seeded)) : VirtualTimers.run(seeded)
  // The program has no typed failure, so this is a defect.
  return Effect.map(exit, Exit.getOrElse((cause) => {
    throw new Error(`the run with seed ${seed} failed: ${Cause.pretty(cause)}`)
  }))
}

const cpuSeconds = <A>(effect: Effect.Effect<A>): Effect.Effect<readonly [result: A, seconds: number]> =>
  Effect.suspend(() => {
    const before = process.cpuUsage()
    return Effect.map(effect, (result) => {
      const { system, user } = process.cpuUsage(before)
      return [result, (user + system) / 1e6]
    })
  })

/**
 * No limiter: each call sleeps until a fixed time, 120 at once. What a run with a limiter costs beyond this is the CPU of the limiter.
 */
export const fixedTimes: Pick<Contender, "make" | "time"> = {
  make: Effect.sync(() => {
    let queued = 0
    return (call) => Effect.suspend(() => Effect.zipRight(Effect.sleep(Math.floor(queued++ / limit) * (window + longestLatency)), call))
  }),
  time: "clock"
}

/** The CPU of one process with a wait queue, in alternating runs. */
const queueNote = (calls: number, rounds: number): Effect.Effect<string> =>
  Effect.map(
    interleave({
      limiter: cpuSeconds(measure(limiters["Plaza RateLimit"], slidingLog, calls, 1)),
      fixed: cpuSeconds(measure(fixedTimes, slidingLog, calls, 1))
    }, rounds),
    (samples) => {
      const seconds = (name: "limiter" | "fixed") => median((samples.get(name) ?? []).map(([, seconds]) => seconds))
      return `${calls} calls in the wait queue of Plaza use ${round(seconds("limiter"))} s of CPU, and ${
        round(seconds("fixed"))
      } s if they only sleep until fixed times (medians of ${rounds} runs)`
    }
  )

const row = (
  limiter: string,
  server: string,
  calls: number,
  seeds: ReadonlyArray<number>,
  run: (seed: number) => Effect.Effect<SentCalls.Outcome>
) =>
  Effect.map(cpuSeconds(Effect.forEach(seeds, run)), ([outcomes, seconds]) => {
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
      round(seconds / seeds.length)
    ]
  })

const sharing = { processes: 4, calls: 600, seeds: [1, 2, 3] }

/** Measures every limiter against every server, and four processes that share an allowance. */
export const report = (calls: number): Effect.Effect<Report> =>
  Effect.gen(function*() {
    const database = yield* SharedOnPostgres.database
    const rows = yield* Effect.forEach(Object.entries(servers), ([server, serverAt]) =>
      Effect.all([
        ...Object.entries<Contender>(limiters).map(([name, contender]) => {
          const atMost = Math.min(calls, contender.atMost ?? calls)
          return row(name, server, atMost, contender.seeds, (seed) => measure(contender, serverAt, atMost, seed))
        }),
        row("Plaza RateLimitSql, 4 processes on Postgres", server, sharing.calls, sharing.seeds,
          (seed) => SharedOnPostgres.measure(database, serverAt, { ...sharing, seed }))
      ]))
    return {
      name: "allowance",
      about:
        `up to ${calls} queued calls, 20 to 400 ms latency, ${limit} a minute, in virtual time; 100% is the shortest possible time with ${limit} in any 60 s`,
      columns: ["limiter", "server", "calls", "runs", "allowance used", "worst", "429s per run", "busiest 60 s", "CPU s per run"],
      rows: rows.flat(),
      notes: [yield* queueNote(calls, 5)]
    }
  }).pipe(Effect.scoped, Effect.orDie)
