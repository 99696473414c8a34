/**
 * Runs all benchmarks, or those named as arguments, and writes their rows to `benchmarks/RESULTS.md`. With `--short`, each runs once and small, and
 * the table is only printed. `--output FILE` writes it to another file.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Result } from "effect"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as Allowance from "./Allowance.ts"
import * as Calls from "./Calls.ts"
import * as Failover from "./Failover.ts"
import * as Fleet from "./Fleet.ts"
import { BenchmarkFailed, type Form, type Row, summary } from "./Harness.ts"
import * as Lists from "./Lists.ts"
import { bare } from "./Processes.ts"
import * as Results from "./Results.ts"
import * as SandboxLoad from "./SandboxLoad.ts"
import * as SandboxStart from "./SandboxStart.ts"
import * as SharedAllowance from "./SharedAllowance.ts"
import * as Size from "./Size.ts"
import * as StartTime from "./StartTime.ts"
import * as StockSyncLedger from "./StockSyncLedger.ts"
import * as Upload from "./Upload.ts"
import * as Urgency from "./Urgency.ts"
import * as WaitingList from "./WaitingList.ts"
import * as Workbooks from "./Workbooks.ts"

const benchmarks: Readonly<Record<string, (form: Form) => Effect.Effect<ReadonlyArray<Row>, Error, FileSystem.FileSystem>>> = {
  start: StartTime.report,
  fresh: SandboxStart.inTests,
  embedded: SandboxStart.embedded,
  sandbox: SandboxLoad.report,
  calls: Calls.report,
  lists: Lists.report,
  upload: Upload.report,
  size: () => Size.report,
  allowance: Allowance.report,
  waiting: WaitingList.report,
  shared: SharedAllowance.report,
  urgency: Urgency.report,
  workbook: Workbooks.report,
  ledger: StockSyncLedger.report,
  failover: Failover.report,
  fleet: Fleet.report
}
const names = Object.keys(benchmarks)

const parse = Effect.try({
  try: () => parseArgs({ allowPositionals: true, options: { short: { type: "boolean", default: false }, output: { type: "string" } } }),
  catch: (cause) =>
    new BenchmarkFailed({ message: `${cause instanceof Error ? cause.message : String(cause)}: the options are --short and --output FILE` })
})

const print = (text: string) => Effect.sync(() => process.stdout.write(text))

const main = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const { positionals, values: { output, short } } = yield* parse
  const unknown = positionals.filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    return yield* new BenchmarkFailed({ message: `unknown benchmark: ${unknown.join(", ")}; the benchmarks are ${names.join(", ")}` })
  }
  const form: Form = short ? "short" : "full"
  const file = output ?? (short ? undefined : fileURLToPath(new URL("../RESULTS.md", import.meta.url)))
  const run = yield* Results.describeRun(form)
  const before = file !== undefined && (yield* files.exists(file))
    ? Results.parse(yield* files.readFileString(file))
    : { rows: [], runs: [] }
  let results: Results.Results = before
  const failures: Array<string> = []
  for (const [name, benchmark] of Object.entries(benchmarks)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue
    const node = yield* Effect.replicateEffect(bare, form === "full" ? 5 : 1)
    const rows = yield* Effect.result(benchmark(form))
    if (Result.isFailure(rows)) {
      failures.push(name)
      yield* print(`${name} failed: ${rows.failure.message}\n`)
      continue
    }
    const measured = rows.success.map((row) => {
      const beside = row.beside === "" ? summary("`node -e 0`", node, "ms") : row.beside
      return Results.cells(name, { ...row, beside }, form, run[0])
    })
    yield* print(measured.map((cells) => `${cells.slice(0, -1).join(" | ")}\n`).join(""))
    results = Results.replace(results, names, name, measured, run)
    // After each benchmark, so that a run which is interrupted keeps what it has measured.
    if (file !== undefined) yield* files.writeFileString(file, Results.print(results))
  }
  if (failures.length > 0) return yield* new BenchmarkFailed({ message: `failed: ${failures.join(", ")}` })
})

NodeRuntime.runMain(Effect.provide(main, NodeServices.layer))
