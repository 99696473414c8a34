/**
 * Benchmarks `urgency` and `idle`, with the worker of `plaza-stock-sync` in simulated time: how soon a sold-out product goes out behind a
 * long backlog, compared with a FIFO queue, and the cost of an hour without changes.
 */
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Effect, Schema } from "effect"
import { median, type Report, round } from "./Harness.js"
import { bundle, type ProgramFailed, start } from "./Programs.js"
import type { Task as IdleTask } from "./programs/loop/Idle.js"
import type { Task as UrgencyTask } from "./programs/loop/Urgency.js"

const Changes = Schema.Array(Schema.Struct({ slotsBefore: Schema.Number, seconds: Schema.Number }))
const Hour = Schema.Struct({ requests: Schema.Number, seconds: Schema.Number, growth: Schema.Number, memory: Schema.Number })

const mebi = (bytes: number) => round(bytes / 1_048_576, 1)

/** Makes paths of ledgers in a temporary folder. */
const ledgerPaths = Effect.map(
  Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()),
  (folder) => (name: string) => `${folder}/${name}.sqlite`
)

export const urgency = (products: number, changes: number): Effect.Effect<Report, ProgramFailed | PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const path = (yield* bundle(["loop/Urgency"]))("loop/Urgency")
    const pathFor = yield* ledgerPaths
    const measure = (kind: UrgencyTask["kind"]) => {
      const task: UrgencyTask = { kind, place: pathFor(kind), products, changes }
      return Effect.scoped(Effect.flatMap(start(path), ({ ask }) => ask({ ...task }, Changes)))
    }
    const row = (name: string, all: typeof Changes.Type) => {
      const slots = all.map(({ slotsBefore }) => slotsBefore)
      const waits = all.map(({ seconds }) => seconds)
      return [name, all.length, median(slots), Math.max(...slots), round(median(waits), 1), round(Math.max(...waits), 1)]
    }
    return {
      name: "urgency",
      about: `products that sell out while ${products} others wait; 120 requests a minute, responses after 20 to 400 ms, in simulated time`,
      columns: ["sent by", "changes", "requests before it, median", "most", "s, median", "most"],
      rows: [
        row("plaza-stock-sync", yield* measure("worker")),
        row("8 concurrent senders, FIFO", yield* measure("fifo"))
      ]
    }
  }).pipe(Effect.scoped)

export const idle = (products: number): Effect.Effect<Report, ProgramFailed | PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const path = (yield* bundle(["loop/Idle"]))("loop/Idle")
    const pathFor = yield* ledgerPaths
    const rows = yield* Effect.forEach([0, 0.1], (share) => {
      const task: IdleTask = { place: pathFor(`idle-${share * 100}`), products, share }
      return Effect.map(Effect.scoped(Effect.flatMap(start(path), ({ ask }) => ask({ ...task }, Hour))), (hour) => [
        `${share * 100}%`,
        hour.requests,
        round(hour.seconds),
        `${round(hour.seconds / 36, 3)}%`,
        mebi(hour.growth),
        mebi(hour.memory)
      ])
    })
    return {
      name: "idle",
      about: `the third hour of a process in simulated time, with ${products} products and no change`,
      columns: ["share for re-sending", "requests", "CPU s", "of a core", "heap growth, MiB", "RSS, MiB"],
      rows
    }
  }).pipe(Effect.scoped)
