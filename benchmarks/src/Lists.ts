/**
 * Benchmark `lists`: time, CPU and memory of reading a long list to its end, and the gain from prefetching, for Plaza on undici and a loop
 * on fetch. The server generates each page on request.
 */
import { Effect, Schema } from "effect"
import { interleave, median, type Report, round } from "./Harness.js"
import { bundle, type ProgramFailed, service, start } from "./Programs.js"
import type { Task } from "./programs/lists/ListReader.js"

const readers = { "loop on fetch": "lists/FetchLoop", "Plaza, list()": "lists/PlazaList", "Plaza, pages()": "lists/PlazaPages" }

const Whole = Schema.Struct({
  count: Schema.Number,
  seconds: Schema.Number,
  cpu: Schema.Number,
  /** Largest memory of the process in bytes, up to the 100,000th item and up to the end. */
  warmPeak: Schema.Number,
  peak: Schema.Number
})

const Slow = Schema.Struct({ seconds: Schema.Number })

const pages = 40
const pauseMillis = 50
const mebi = (bytes: number) => Math.round(bytes / 1_048_576)

export const report = (items: number): Effect.Effect<Report, ProgramFailed> =>
  Effect.gen(function*() {
    const pathOf = yield* bundle(["LocalService", ...Object.values(readers)])
    const address = yield* service(pathOf("LocalService"))
    // A new process for each run, so that its largest memory is that of this run.
    const task: Task = { baseUrl: `${address}/${items}/0/open/v1` }
    const whole = yield* interleave(
      Object.fromEntries(Object.entries(readers).map(([name, path]) => [
        name,
        Effect.scoped(Effect.flatMap(start(pathOf(path)), ({ ask }) => ask(task, Whole)))
      ])),
      3
    )
    const slow = yield* interleave(
      Object.fromEntries(Object.entries(readers).map(([name, path]) => {
        const task: Task = { baseUrl: `${address}/${pages * 100}/${pauseMillis}/open/v1`, workMillis: pauseMillis }
        // A few pages first load and compile the code.
        const few: Task = { baseUrl: `${address}/1000/0/open/v1`, workMillis: 0 }
        return [name, Effect.scoped(Effect.flatMap(start(pathOf(path)), ({ ask }) => Effect.zipRight(ask(few, Slow), ask(task, Slow))))]
      })),
      3
    )
    const pacedSeconds = new Map([...slow].map(([name, samples]) => [name, median(samples.map(({ seconds }) => seconds))]))
    const medianOf = (name: string, figure: keyof typeof Whole.Type) => median((whole.get(name) ?? []).map((sample) => sample[figure]))
    const loop = Object.keys(readers)[0] ?? ""
    const loopSeconds = pacedSeconds.get(loop) ?? Number.NaN
    return {
      name: "lists",
      about:
        `${items} posts, 100 per page, and ${pages} slow pages (${pauseMillis} ms of latency and ${pauseMillis} ms of work each); medians of 3 interleaved runs`,
      columns: [
        "reader",
        "items",
        "items per s",
        "of the loop",
        "CPU us per item",
        "of the loop",
        "peak MiB",
        "growth after 100,000",
        "slow pages, s",
        "speed, of the loop"
      ],
      rows: Object.keys(readers).map((name) => {
        const slowSeconds = pacedSeconds.get(name) ?? Number.NaN
        const seconds = medianOf(name, "seconds")
        const cpu = medianOf(name, "cpu")
        return [
          name,
          medianOf(name, "count"),
          round(items / seconds, 0),
          `${round(medianOf(loop, "seconds") / seconds)}x`,
          round((cpu * 1e6) / items),
          `${round(cpu / medianOf(loop, "cpu"))}x`,
          mebi(medianOf(name, "peak")),
          mebi(median((whole.get(name) ?? []).map(({ peak, warmPeak }) => peak - warmPeak))),
          round(slowSeconds),
          `${round(loopSeconds / slowSeconds)}x`
        ]
      })
    }
  }).pipe(Effect.scoped)
