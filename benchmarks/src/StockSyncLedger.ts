/**
 * Benchmark `ledger`: time and memory to compare a snapshot of a million products with a ledger of as many, without changes and with a
 * thousand, in SQLite and Postgres. Rows are generated on demand and not sorted.
 */
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, Schema } from "effect"
import { median, type Report, round } from "./Harness.js"
import { bundle, type ProgramFailed, start } from "./Programs.js"
import type { Task } from "./programs/ledger/Receive.js"

const Received = Schema.Struct({
  changed: Schema.Number,
  opening: Schema.Number,
  seconds: Schema.Number,
  reading: Schema.Number,
  peak: Schema.Number
})

const budgetMiB = 512
const budgets = { none: 8, some: 10 }

export const report = (
  products: number,
  changes: number,
  runs: number
): Effect.Effect<Report, ProgramFailed | PlatformError | Postgres.NoPostgres, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const path = (yield* bundle(["ledger/Receive"]))("ledger/Receive")
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped()
    const { url } = yield* Postgres.scoped
    // A new process for each run, so that its largest memory is that of this run.
    const receive = (task: Task) => Effect.scoped(Effect.flatMap(start(path), ({ ask }) => ask(task, Received)))
    const sizes = new Map<string, number | string>()
    const measured = yield* Effect.forEach([["SQLite", `${folder}/ledger.sqlite`], ["Postgres", url]] as const, ([name, place]) =>
      Effect.gen(function*() {
        const first = yield* receive({ place, products, changes: 0, settle: true })
        const none = yield* Effect.forEach(Array.from({ length: runs }), () => receive({ place, products, changes: 0, settle: false }))
        // Alternates between two snapshots, so that each run finds the same number of changes.
        const some = yield* Effect.forEach(Array.from({ length: runs }, (_, index) => index % 2 === 0 ? changes : 0), (other) =>
          receive({ place, products, changes: other, settle: false }))
        sizes.set(name, name === "SQLite" ? Math.round(Number((yield* files.stat(place)).size) / 1_048_576) : "-")
        return [[name, "first", [first], undefined], [name, "no changes", none, budgets.none], [
          name,
          "some changed",
          some,
          budgets.some
        ]] as const
      }))
    return {
      name: "ledger",
      about: `a snapshot of ${products} products, medians of ${runs} runs in new processes; without the memory of the Postgres server`,
      columns: ["ledger", "snapshot", "changes", "s", "most", "budget", "peak MiB", "budget", "opening, s", "reading, s", "file, MiB"],
      rows: measured.flat().map(([name, snapshot, samples, budget]) => [
        name,
        snapshot,
        samples[0]?.changed ?? 0,
        round(median(samples.map(({ seconds }) => seconds))),
        round(Math.max(...samples.map(({ seconds }) => seconds))),
        budget ?? "-",
        Math.round(Math.max(...samples.map(({ peak }) => peak)) / 1_048_576),
        budgetMiB,
        round(median(samples.map(({ opening }) => opening))),
        round(median(samples.map(({ reading }) => reading))),
        sizes.get(name) ?? "-"
      ])
    }
  }).pipe(Effect.scoped)
