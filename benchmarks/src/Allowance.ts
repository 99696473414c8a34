/**
 * Benchmark `allowance`: the share of the rate limit that a limiter uses with a backlog, and the 429s that it causes, against each kind of
 * window. It runs in virtual time and is deterministic by seed.
 */
import { Limits } from "@plaza/domain"
import { Duration, Effect, Random, References } from "effect"
import { type Form, median, type Row, row, summary } from "./Harness.ts"
import { limiters, type Make } from "./Limiters.ts"
import { fixedWindow, type RateServer, slidingLog, tokenBucket } from "./RateServers.ts"
import * as SentCalls from "./SentCalls.ts"
import * as VirtualTime from "./VirtualTime.ts"

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
  { make }: { readonly make: Make },
  serverAt: (offset: number) => RateServer,
  calls: number,
  seed: number
): Effect.Effect<SentCalls.Outcome> => {
  const program = Effect.gen(function*() {
    const { outcome, send } = SentCalls.make(serverAt(yield* Random.nextBetween(0, window)))
    const limiter = yield* make
    const call: Effect.Effect<void> = Effect.flatMap(limiter(send),
      (wait) => wait === 0 ? Effect.void : Effect.andThen(Effect.sleep(Duration.seconds(wait)), call))
    yield* Effect.replicateEffect(call, calls, { concurrency: "unbounded", discard: true })
    return outcome(calls)
  })
  return program.pipe(
    Effect.scoped,
    Random.withSeed(seed),
    Effect.provideService(References.MinimumLogLevel, "None"),
    VirtualTime.run
  )
}

/** No limiter: each call sleeps until a fixed time, 120 at once. What a run with a limiter uses beyond this is the CPU of the limiter. */
export const fixedTimes: { readonly make: Make } = {
  make: Effect.sync(() => {
    let queued = 0
    return (call) => Effect.suspend(() => Effect.andThen(Effect.sleep(Math.floor(queued++ / limit) * (window + longestLatency)), call))
  })
}

const peers = ["effect RateLimiter fixed-window", "effect RateLimiter token-bucket"] as const

/** Measures the client's limiter and its peers against every server. */
export const report = (form: Form): Effect.Effect<ReadonlyArray<Row>> =>
  Effect.gen(function*() {
    const [calls, seeds] = form === "full" ? [10_000, [1, 2, 3, 4, 5]] : [300, [1]]
    const page = "docs/concepts/rate-limit.md#rate-limit"
    const measured = yield* Effect.forEach(Object.entries(servers), ([server, serverAt]) =>
      Effect.gen(function*() {
        const of = (limiter: keyof typeof limiters) => Effect.forEach(seeds, (seed) => measure(limiters[limiter], serverAt, calls, seed))
        const plaza = yield* of("Plaza RateLimit")
        const used = (outcomes: ReadonlyArray<SentCalls.Outcome>) => outcomes.map(({ used }) => 100 * used)
        const others = yield* Effect.forEach(peers, (peer) =>
          Effect.map(of(peer), (outcomes) =>
            `${summary(`\`${peer}\``, used(outcomes), "%")} with ${median(outcomes.map(({ refused }) => refused))} responses 429`))
        return {
          refused: plaza.map(({ refused }) =>
            refused
          ),
          row: row({
            claim: `share of the rate limit that ${calls.toLocaleString("en")} queued calls use, with a ${server}`,
            page,
            limit: { atLeast: 99.5 },
            samples: used(plaza),
            unit: "%",
            beside: others.join("; ")
          })
        }
      }))
    return [
      ...measured.map(({ row }) => row),
      row({
        claim: "responses 429 to these calls, the most of all runs",
        page,
        limit: { atMost: 0 },
        samples: [Math.max(...measured.flatMap(({ refused }) => refused))],
        unit: ""
      })
    ]
  })
