/**
 * Benchmark `waiting`: the CPU of calls that wait for the rate limit, from the first until all were accepted. Each run is a process of its own, in
 * virtual time. The CPU includes the clock and the server of the simulation, whose share the calls without a limiter show.
 */
import { Effect, Schema } from "effect"
import { type Form, interleave, ratios, type Row, row, summary } from "./Harness.ts"
import { bundle, type ProgramFailed, start } from "./Programs.ts"
import type { Task } from "./programs/limits/WaitingList.ts"

const Used = Schema.Struct({ seconds: Schema.Number })
const peer = "effect RateLimiter fixed-window"

export const report = (form: Form): Effect.Effect<ReadonlyArray<Row>, ProgramFailed> =>
  Effect.gen(function*() {
    const [calls, rounds] = form === "full" ? [10_000, 9] : [200, 1]
    const path = (yield* bundle(["limits/WaitingList"]))("limits/WaitingList")
    const cpu = (limiter: Task["limiter"]) =>
      Effect.scoped(
        Effect.flatMap(start(path), ({ ask }) => Effect.map(ask({ calls, limiter } satisfies Task, Used), ({ seconds }) => seconds))
      )
    const samples = yield* interleave({ plaza: cpu("Plaza RateLimit"), peer: cpu(peer), fixed: cpu("fixed times") }, rounds)
    return [
      row({
        claim: `CPU of a waiting list of ${calls.toLocaleString("en")} calls until all were accepted, of calls that only sleep`,
        page: "docs/concepts/rate-limit.md#rate-limit",
        limit: { atMost: 1.5 },
        samples: ratios(samples.plaza, samples.fixed),
        unit: "x",
        beside: [
          summary("waiting list", samples.plaza, "s"),
          summary("calls that sleep until fixed times", samples.fixed, "s"),
          summary(`\`${peer}\``, samples.peer, "s")
        ].join("; ")
      })
    ]
  })
