/**
 * Reading a long list to its end: speed, memory and the gain from prefetching; Plaza on undici and a fetch loop,
 * against a server that generates pages on request.
 */
import { Effect, Schema } from "effect"
import { interleave, median, type Report, round } from "./Harness.js"
import { bundle, type ProgramFailed, service, start } from "./Programs.js"
import type { Task } from "./programs/lists/caller.js"

const readers = { "a loop on fetch": "lists/FetchLoop", "Plaza, items": "lists/PlazaList", "Plaza, pages": "lists/PlazaPages" }

const Whole = Schema.Struct({
  count: Schema.Number,
  seconds: Schema.Number,
  cpu: Schema.Number,
  /** Bytes: the largest that the process ever was, at the 100,000th item and in the end. */
  warmPeak: Schema.Number,
  peak: Schema.Number
})

const Paced = Schema.Struct({ seconds: Schema.Number })

const pages = 40
const pauseMillis = 50
const mebi = (bytes: number) => Math.round(bytes / 1_048_576)

export const report = (items: number): Effect.Effect<Report, ProgramFailed> =>
  Effect.gen(function*() {
    const pathOf = yield* bundle(["LocalService", ...Object.values(readers)])
    const address = yield* service(pathOf("LocalService"))
    // Each in a new process, which is as large as its own list made it.
    const task: Task = { baseUrl: `${address}/${items}/0/open/v1` }
    const wholes = yield* interleave(
      Object.fromEntries(Object.entries(readers).map(([name, path]) => [
        name,
        Effect.scoped(Effect.flatMap(start(pathOf(path)), ({ ask }) => ask(task, Whole)))
      ])),
      3
    )
    const paced = yield* interleave(
      Object.fromEntries(Object.entries(readers).map(([name, path]) => {
        const task: Task = { baseUrl: `${address}/${pages * 100}/${pauseMillis}/open/v1`, workMillis: pauseMillis }
        // A few pages first: what is compared is the pace, not how long a program takes to load and compile.
        const few: Task = { baseUrl: `${address}/1000/0/open/v1`, workMillis: 0 }
        return [name, Effect.scoped(Effect.flatMap(start(pathOf(path)), ({ ask }) => Effect.zipRight(ask(few, Paced), ask(task, Paced))))]
      })),
      3
    )
    const speeds = new Map([...paced].map(([name, samples]) => [name, median(samples.map(({ seconds }) => seconds))]))
    const middleOf = (name: string, figure: keyof typeof Whole.Type) => median((wholes.get(name) ?? []).map((sample) => sample[figure]))
    const loop = Object.keys(readers)[0] ?? ""
    const basePace = speeds.get(loop) ?? Number.NaN
    return {
      name: "lists",
      about:
        `${items} posts, 100 a page, and ${pages} pages with ${pauseMillis} ms of latency and ${pauseMillis} ms of work each; medians of 3 interleaved runs`,
      columns: [
        "reader",
        "items",
        "items a second",
        "of the loop",
        "CPU us an item",
        "of the loop",
        "peak MiB",
        "of it after 100,000",
        "40 slow pages, s",
        "faster than the loop"
      ],
      rows: Object.keys(readers).map((name) => {
        const pace = speeds.get(name) ?? Number.NaN
        const seconds = middleOf(name, "seconds")
        const cpu = middleOf(name, "cpu")
        return [
          name,
          middleOf(name, "count"),
          round(items / seconds, 0),
          `${round(middleOf(loop, "seconds") / seconds)}x`,
          round((cpu * 1e6) / items),
          `${round(cpu / middleOf(loop, "cpu"))}x`,
          mebi(middleOf(name, "peak")),
          mebi(median((wholes.get(name) ?? []).map(({ peak, warmPeak }) => peak - warmPeak))),
          round(pace),
          `${round(basePace / pace)}x`
        ]
      })
    }
  }).pipe(Effect.scoped)
