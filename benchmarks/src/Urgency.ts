/**
 * Benchmark `urgency`: how many requests `plaza-stock-sync` sends before a sold-out product while many others wait, compared with a FIFO queue. The
 * worker runs in virtual time.
 */
import { Effect, FileSystem, Schema } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { type Form, type Row, row, summary } from "./Harness.ts"
import { bundle, type ProgramFailed, start } from "./Programs.ts"
import type { Task } from "./programs/loop/Task.ts"

const Changes = Schema.Array(Schema.Struct({ slotsBefore: Schema.Number, seconds: Schema.Number }))

export const report = (form: Form): Effect.Effect<ReadonlyArray<Row>, ProgramFailed | PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const [products, changes] = form === "full" ? [10_000, 40] : [200, 1]
    const path = (yield* bundle(["loop/Urgency"]))("loop/Urgency")
    const folder = yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped())
    const measure = (kind: Task["kind"]) =>
      Effect.scoped(
        Effect.flatMap(start(path), ({ ask }) =>
          ask({ kind, place: `${folder}/${kind}.sqlite`, products, changes } satisfies Task, Changes))
      )
    const worker = yield* measure("worker")
    const fifo = yield* measure("fifo")
    const slots = (all: typeof Changes.Type) => all.map(({ slotsBefore }) => slotsBefore)
    const seconds = (all: typeof Changes.Type) => all.map(({ seconds }) => seconds)
    return [
      row({
        claim: `requests before that of a product which sells out while ${
          products.toLocaleString("en")
        } others wait, the most of ${changes}`,
        page: "docs/stock-sync.md#what-is-sent",
        limit: { atMost: 0 },
        samples: [Math.max(...slots(worker))],
        unit: "",
        beside: [
          `its wait ${summary("", seconds(worker), "s").trim()}`,
          `8 senders with a FIFO queue: ${summary("", slots(fifo), "").trim()} requests before it`
        ].join("; ")
      })
    ]
  }).pipe(Effect.scoped)
