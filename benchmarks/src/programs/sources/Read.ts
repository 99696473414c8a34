/** Reads a source of `plaza-stock-sync` to its end, and measures time and memory. */
import { NodeContext } from "@effect/platform-node"
import * as Open from "@plaza/stock-sync/source/Open"
import { Duration, Effect, Stream } from "effect"
import { onRequest } from "../ChildProtocol.js"

export interface Task {
  /** The value of `--source`. */
  readonly source: string
  readonly query: string | undefined
}

const read = (task: Task) =>
  Effect.gen(function*() {
    const before = process.hrtime.bigint()
    const rows = Open.open({ ...task, idColumn: "productId", stockColumn: "stock", timeout: Duration.minutes(1) })
    let good = 0
    yield* Stream.runForEachChunk(rows, (chunk) =>
      Effect.sync(() => {
        for (const row of chunk) if (row._tag === "Valid") good++
      }))
    const seconds = Number(process.hrtime.bigint() - before) / 1e9
    return { good, seconds, peak: process.resourceUsage().maxRSS * 1_024 }
  }).pipe(Effect.provide(NodeContext.layer))

// The cast is true: only our parent process sends requests, and of this type.
onRequest((request) => Effect.runPromise(read(request as Task)))
