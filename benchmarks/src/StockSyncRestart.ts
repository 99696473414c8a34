/**
 * Benchmark `restart`: the time from the start of the built `plaza-stock-sync run`, with a ledger and a file of a million products, to the
 * first response, to the first change sent and to readiness, and the size of the ledger.
 */
import { Reactivity } from "@effect/experimental"
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { PgClient } from "@effect/sql-pg"
import { Sandbox } from "@plaza/sandbox"
import * as Postgres from "@plaza/testing/Postgres"
import { Clock, Data, Effect, Redacted, Schema } from "effect"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { median, type Report, round } from "./Harness.js"
import { bundle, type ProgramFailed, start } from "./Programs.js"
import type { Task } from "./programs/ledger/Receive.js"

export class RestartFailed extends Data.TaggedError("RestartFailed")<{ readonly output: string }> {
  override get message(): string {
    return `plaza-stock-sync exited; build it with \`pnpm build\` first\n${this.output}`
  }
}

const program = fileURLToPath(new URL("../../apps/stock-sync/dist/plaza-stock-sync.cjs", import.meta.url))
const Received = Schema.Struct({ changed: Schema.Number })

interface Started {
  readonly healthy: number
  readonly firstSent: number
  readonly ready: number
  /** Largest memory in bytes. */
  readonly peak: number
}

/** Largest memory of a process in bytes, by the kernel; NaN on other systems than Linux. */
const peakOf = (pid: number | undefined): number => {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) * 1_024
  } catch {
    return Number.NaN
  }
}

const isOk = (address: string) =>
  Effect.map(Effect.promise(() => fetch(address).then(({ status }) => status, () => 0)), (status) => status === 200)

/** Starts the program, waits until it is ready, and kills it. */
const restart = (source: string, ledger: string) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const before = yield* Clock.currentTimeMillis
    let output = ""
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [program, "run"], {
          stdio: ["ignore", "ignore", "pipe"],
          env: {
            PLAZA_BASE_URL: sandbox.baseUrl,
            PLAZA_API_KEY: Redacted.value(sandbox.apiKey),
            STOCK_SYNC_SOURCE: source,
            STOCK_SYNC_LEDGER: ledger,
            STOCK_SYNC_PORT: "0"
          }
        })
      ),
      (child) =>
        Effect.promise(() =>
          new Promise<void>((resolve) => {
            if (child.exitCode !== null) return resolve()
            child.once("exit", () => resolve())
            child.kill("SIGKILL")
          })
        )
    )
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text
    })
    const until = (condition: Effect.Effect<boolean>) =>
      Effect.suspend(() => child.exitCode === null ? condition : new RestartFailed({ output })).pipe(
        Effect.tap((so) => so ? Effect.void : Effect.sleep("10 millis")),
        Effect.repeat({ until: (so) => so }),
        Effect.zipRight(Effect.map(Clock.currentTimeMillis, (now) => (now - before) / 1_000))
      )
    const origin = () => /http:\/\/127\.0\.0\.1:\d+/.exec(output.replaceAll(sandbox.baseUrl, ""))?.[0]
    const at = (path: string) => Effect.suspend(() => origin() === undefined ? Effect.succeed(false) : isOk(`${origin()}${path}`))
    const first = (yield* sandbox.requests).length
    const times = yield* Effect.all({
      healthy: until(at("/healthz")),
      firstSent: until(Effect.map(sandbox.requests, (all) => all.slice(first).some(({ method }) => method === "PATCH"))),
      ready: until(at("/readyz"))
    }, { concurrency: "unbounded" })
    return { ...times, peak: peakOf(child.pid) } satisfies Started
  }).pipe(Effect.scoped)

const sizeOf = (place: string) =>
  place.startsWith("postgres:")
    ? Effect.gen(function*() {
      const sql = yield* PgClient.make({ url: Redacted.make(place) })
      const [row] = yield* sql<{ size: string }>`
        SELECT sum(pg_total_relation_size(oid)) AS size FROM pg_class WHERE relkind = 'r' AND relnamespace = 'plaza_stock_sync'::regnamespace`
      return Number(row?.size)
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer), Effect.orDie)
    : Effect.flatMap(FileSystem.FileSystem, (files) => Effect.map(files.stat(place), ({ size }) => Number(size)))

export const report = (
  products: number,
  runs: number
): Effect.Effect<Report, ProgramFailed | RestartFailed | PlatformError | Postgres.NoPostgres, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const path = (yield* bundle(["ledger/Receive"]))("ledger/Receive")
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped()
    const { url } = yield* Postgres.scoped
    const source = `${folder}/stock.csv`
    // The rows of `Receive`, with a new stock of one product for each start, so that there is a change to send.
    const write = (changed: number) =>
      files.writeFileString(
        source,
        `productId,stock\n${
          Array.from({ length: products }, (_, index) => `SKU-${index},${index % 97 + (index === 0 ? changed : 1)}\n`).join("")
        }`
      )
    const rows = yield* Effect.forEach([["SQLite", `${folder}/ledger.sqlite`], ["Postgres", url]] as const, ([name, place]) =>
      Effect.gen(function*() {
        const task: Task = { place, products, changes: 0, settle: true }
        yield* Effect.scoped(Effect.flatMap(start(path), ({ ask }) =>
          ask({ ...task }, Received)))
        const starts = yield* Effect.forEach(Array.from({ length: runs }, (_, run) => run), (run) =>
          Effect.zipRight(write(1_000 + run), restart(source, place)))
        const medianOf = (of: (started: Started) => number) => round(median(starts.map(of)))
        return [
          name,
          medianOf(({ healthy }) => healthy),
          medianOf(({ ready }) => ready),
          medianOf(({ firstSent }) => firstSent),
          Math.round(Math.max(...starts.map(({ peak }) => peak)) / 1_048_576),
          Math.round((yield* sizeOf(place)) / 1_048_576)
        ]
      }))
    return {
      name: "restart",
      about:
        `plaza-stock-sync run with ${products} products in a CSV file and in its ledger, one of them changed; seconds from the start; medians of ${runs} runs`,
      columns: ["ledger", "/healthz, s", "/readyz, s", "first change sent, s", "peak MiB", "ledger, MiB"],
      rows
    }
  }).pipe(
    Effect.provide(Sandbox.layerServer()),
    Effect.catchTag("SandboxError", Effect.die),
    Effect.scoped
  )
