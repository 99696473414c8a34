/**
 * Runs all benchmarks, or those named as arguments. Each prints a table and writes it as JSON to `results`.
 */
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Data, Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as Allowance from "./Allowance.js"
import * as Calls from "./Calls.js"
import * as Fleet from "./Fleet.js"
import { save, table } from "./Harness.js"
import * as Lists from "./Lists.js"
import * as Profile from "./Profile.js"
import * as SandboxLoad from "./SandboxLoad.js"
import * as Size from "./Size.js"
import * as Soak from "./Soak.js"
import * as StartTime from "./StartTime.js"
import * as StockSyncLedger from "./StockSyncLedger.js"
import * as StockSyncRestart from "./StockSyncRestart.js"
import * as StockSyncSources from "./StockSyncSources.js"
import * as StockSyncWorker from "./StockSyncWorker.js"
import * as Upload from "./Upload.js"

const benchmarks = {
  start: StartTime.report(21),
  calls: Calls.report(9),
  profile: Profile.report(20_000),
  lists: Lists.report(1_000_000),
  upload: Upload.report(2 * 1_024 ** 3, 3),
  sandbox: SandboxLoad.report(3),
  size: Size.report,
  ledger: StockSyncLedger.report(1_000_000, 1_000, 3),
  restart: StockSyncRestart.report(1_000_000, 3),
  urgency: StockSyncWorker.urgency(10_000, 40),
  idle: StockSyncWorker.idle(10_000),
  sources: StockSyncSources.report(1_000_000, 3),
  soak: Soak.report({ days: 7, products: 4_000, listed: 3_000, quota: 20_500, reassert: 0.05, seed: 1 }),
  allowance: Allowance.report(10_000),
  fleet: Fleet.report([10, 100, 1_000, 10_000], 60)
}

const folder = fileURLToPath(new URL("../results", import.meta.url))
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !Object.hasOwn(benchmarks, name))

class UnknownBenchmark extends Data.TaggedError("UnknownBenchmark")<{ readonly names: ReadonlyArray<string> }> {
  override get message(): string {
    return `unknown benchmark: ${this.names.join(", ")}; the benchmarks are ${Object.keys(benchmarks).join(", ")}`
  }
}

const main = Effect.gen(function*() {
  if (unknown.length > 0) {
    return yield* new UnknownBenchmark({ names: unknown })
  }
  for (const [name, benchmark] of Object.entries(benchmarks)) {
    if (asked.length === 0 || asked.includes(name)) {
      const report = yield* benchmark
      yield* Effect.sync(() => process.stdout.write(`${table(report)}\n`))
      yield* save(report, folder)
    }
  }
})

NodeRuntime.runMain(Effect.provide(main, NodeContext.layer))
