/**
 * Benchmark `lists`: CPU and memory of reading a long list to its end, and the gain from prefetching, for the client and a hand-written loop on
 * fetch. The server generates each page on request.
 */
import { Effect, Record, Schema } from "effect"
import { type Form, interleave, ratios, type Row, row, summary } from "./Harness.ts"
import { bundle, type ProgramFailed, service, start } from "./Programs.ts"
import type { Task } from "./programs/lists/ListReader.ts"

const readers = { plaza: "lists/PlazaList", loop: "lists/FetchLoop" }

const Whole = Schema.Struct({
  seconds: Schema.Number,
  /** Seconds of CPU of the process, user and system. */
  cpu: Schema.Number,
  /** Memory in use in bytes, after the first tenth of the items and at the end. */
  liveWarm: Schema.Number,
  live: Schema.Number,
  /** Largest resident memory of the process in bytes. */
  peak: Schema.Number
})
const Slow = Schema.Struct({ seconds: Schema.Number })

const pauseMillis = 50
const page = "docs/client.md#read-lists"

export const report = (form: Form): Effect.Effect<ReadonlyArray<Row>, ProgramFailed> =>
  Effect.gen(function*() {
    const [items, slowPages, rounds] = form === "full" ? [1_000_000, 40, 5] : [2_000, 2, 1]
    const pathOf = yield* bundle(["LocalService", ...Object.values(readers)])
    const address = yield* service(pathOf("LocalService"))
    const whole: Task = { baseUrl: `${address}/${items}/0/open/v1`, items }
    // A new process for each run, so that its largest memory is that of this run.
    const reads = yield* interleave(
      Record.map(readers, (path) => Effect.scoped(Effect.flatMap(start(pathOf(path)), ({ ask }) => ask(whole, Whole)))),
      rounds
    )
    const slow: Task = { baseUrl: `${address}/${slowPages * 100}/${pauseMillis}/open/v1`, items: slowPages * 100, workMillis: pauseMillis }
    // A few pages first load and compile the code.
    const few: Task = { baseUrl: `${address}/1000/0/open/v1`, items: 1_000, workMillis: 0 }
    const paced = yield* interleave(
      Record.map(readers,
        (path) => Effect.scoped(Effect.flatMap(start(pathOf(path)), ({ ask }) => Effect.andThen(ask(few, Slow), ask(slow, Slow))))),
      rounds
    )
    const seconds = (samples: ReadonlyArray<{ readonly seconds: number }>) => samples.map(({ seconds }) => seconds)
    const cpu = (samples: typeof reads.plaza) => samples.map(({ cpu }) => cpu)
    const growth = (samples: typeof reads.plaza) => samples.map(({ live, liveWarm }) => (live - liveWarm) / 1_048_576)
    const peak = (samples: typeof reads.plaza) => samples.map(({ peak }) => peak / 1_048_576)
    return [
      row({
        claim: `CPU of reading ${items.toLocaleString("en")} posts by \`list()\`, of a hand-written loop on \`fetch\` without validation`,
        page,
        limit: { atMost: 2.3 },
        samples: ratios(cpu(reads.plaza), cpu(reads.loop)),
        unit: "x",
        beside: [
          `${summary("`list()`", cpu(reads.plaza), "s")}, ${summary("in", seconds(reads.plaza), "s")}`,
          `${summary("loop", cpu(reads.loop), "s")}, ${summary("in", seconds(reads.loop), "s")}`
        ].join("; ")
      }),
      row({
        claim: "memory in use grows no more after the first tenth of these posts",
        page,
        limit: { atMost: 32 },
        samples: growth(reads.plaza),
        unit: "MiB",
        beside: [
          summary("loop", growth(reads.loop), "MiB"),
          `largest resident memory ${summary("`list()`", peak(reads.plaza), "MiB")}, ${summary("loop", peak(reads.loop), "MiB")}`
        ].join("; ")
      }),
      row({
        claim:
          `speed with ${slowPages} pages that take ${pauseMillis} ms each way (latency, then work), of the loop: the client fetches ahead`,
        page,
        limit: { atLeast: 1.5 },
        samples: ratios(seconds(paced.loop), seconds(paced.plaza)),
        unit: "x",
        beside: `${summary("`pages()`", seconds(paced.plaza), "s")}; ${summary("loop", seconds(paced.loop), "s")}`
      })
    ]
  }).pipe(Effect.scoped)
