/** Reads the stock of a file, and measures the time for it and the largest memory. */
import { NodeServices } from "@effect/platform-node"
import * as Format from "@plaza/tabular/Format"
import * as Stock from "@plaza/tabular/Stock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Stream from "effect/Stream"
import { usageOf } from "../../ProcessUsage.ts"
import { onRequest } from "../ChildProtocol.ts"
import type { Task } from "./Task.ts"

const read = ({ path, rows }: Task) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const before = process.hrtime.bigint()
    const decoder = Stock.rows(Format.ofName(path), { idColumn: "productId", stockColumn: "stock" }, { source: path })
    let valid = 0
    yield* Stream.runForEach(decoder(files.stream(path)), ({ _tag }) => Effect.sync(() => valid += _tag === "Valid" ? 1 : 0))
    if (valid !== rows) return yield* Effect.die(new Error(`it read ${valid} rows of ${rows}`))
    return { rows: valid, seconds: Number(process.hrtime.bigint() - before) / 1e9, peak: usageOf(process.pid).peak }
  }).pipe(Effect.provide(NodeServices.layer))

onRequest((request) => {
  // The cast is true: only our parent process sends requests, and of this type.
  return Effect.runPromise(read(request as Task))
})
