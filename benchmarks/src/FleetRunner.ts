/** A fleet of `plaza-stock-sync` with its database, its accounts, and their stores and sources on loopback. */
import * as Postgres from "@plaza/testing/Postgres"
import { Clock, Effect, FileSystem, Schema, type Scope } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { type ChildProcess, spawn } from "node:child_process"
import { BenchmarkFailed } from "./Harness.ts"
import { environment, run, stockSync } from "./Processes.ts"
import { bundle, type ProgramFailed, start } from "./Programs.ts"
import type { ShopsTask } from "./programs/fleet/Task.ts"

const Counts = Schema.Struct({
  port: Schema.Number,
  /** Requests for feeds, and for the stock of products. */
  feeds: Schema.Number,
  patches: Schema.Number,
  /** Accounts whose feed was requested since the last task. */
  polled: Schema.Number
})

const Status = Schema.fromJsonString(Schema.Struct({
  runners: Schema.Array(Schema.Struct({ alive: Schema.Boolean, accounts: Schema.Number }))
}))

export interface Runner {
  readonly pid: number
  /** Seconds from the start to readiness. */
  readonly ready: number
  /** Kills the runner and waits until it has exited. */
  readonly kill: Effect.Effect<void>
}

const ended = (child: ChildProcess, signal: NodeJS.Signals) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill(signal)
  })

/** Starts a runner until the scope closes, and waits until it is ready. */
const startRunner = (env: Readonly<Record<string, string>>): Effect.Effect<Runner, BenchmarkFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const before = yield* Clock.currentTimeMillis
    let output = ""
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [stockSync, "fleet", "run", "--port", "0"], {
          stdio: ["ignore", "ignore", "pipe"],
          env: { ...environment, ...env }
        })
      ),
      (child) => ended(child, "SIGTERM")
    )
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output = `${output}${text}`.slice(0, 10_000)
    })
    const isReady = Effect.suspend(() => {
      if (child.exitCode !== null) return new BenchmarkFailed({ message: `plaza-stock-sync fleet run exited\n${output}` })
      const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]
      return origin === undefined
        ? Effect.succeed(false)
        : Effect.promise(() => fetch(`${origin}/readyz`).then(({ status }) => status === 200, () => false))
    })
    yield* Effect.repeat(Effect.tap(isReady, (ready) => ready ? Effect.void : Effect.sleep("50 millis")), { until: (ready) => ready })
    return {
      pid: child.pid ?? 0,
      ready: ((yield* Clock.currentTimeMillis) - before) / 1_000,
      kill: ended(child, "SIGKILL")
    }
  })

export interface Fleet {
  /** The address of its database. */
  readonly database: string
  /** Starts a runner. */
  readonly runner: Effect.Effect<Runner, BenchmarkFailed, Scope.Scope>
  /** Changes the feeds. */
  readonly give: (task: ShopsTask) => Effect.Effect<typeof Counts.Type, ProgramFailed>
  readonly counts: Effect.Effect<typeof Counts.Type, ProgramFailed>
  /** The number of accounts of each runner that is alive. */
  readonly shares: Effect.Effect<ReadonlyArray<number>, BenchmarkFailed>
  /** Waits until the counts are as required, and returns the seconds. */
  readonly until: (condition: (counts: typeof Counts.Type) => boolean) => Effect.Effect<number, ProgramFailed>
}

/** Makes a fleet with a number of accounts whose sources are read at an interval. */
export const make = (
  accounts: number,
  poll: string
): Effect.Effect<
  Fleet,
  BenchmarkFailed | ProgramFailed | PlatformError | Postgres.NoPostgres,
  FileSystem.FileSystem | Scope.Scope
> =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped()
    const { url } = yield* Postgres.scoped
    const { ask } = yield* start((yield* bundle(["fleet/Shops"]))("fleet/Shops"))
    const give = (task: ShopsTask) => ask({ ...task }, Counts)
    const counts = ask("counts", Counts)
    const { port } = yield* give({ active: 0 })
    const env = {
      STOCK_SYNC_FLEET_DATABASE: url,
      STOCK_SYNC_FLEET_SECRET: "a secret of the benchmark with more than 32 characters",
      // The limit that docs/fleet.md recommends.
      NODE_OPTIONS: "--max-old-space-size=1024"
    }
    yield* run([stockSync, "fleet", "migrate"], env)
    const shop = `http://127.0.0.1:${port}`
    const rows = Array.from({ length: accounts }, (_, index) => {
      const key = `bench_${String(index).padStart(40, "0")}`
      return `shop-${index},${shop}/open/v1,${key},${shop}/feeds/${index},${poll}\n`
    })
    yield* files.writeFileString(`${folder}/accounts.csv`, `id,baseUrl,key,source,poll\n${rows.join("")}`)
    yield* run([stockSync, "fleet", "accounts", "import", `${folder}/accounts.csv`], env)
    return {
      database: url,
      runner: startRunner(env),
      give,
      counts,
      shares: Effect.flatMap(run([stockSync, "fleet", "status", "--json"], env), ({ output }) => Schema.decodeEffect(Status)(output)).pipe(
        Effect.mapError(({ message }) => new BenchmarkFailed({ message })),
        Effect.map(({ runners }) => runners.filter(({ alive }) => alive).map(({ accounts }) => accounts))
      ),
      until: (condition) =>
        Effect.gen(function*() {
          const before = yield* Clock.currentTimeMillis
          yield* Effect.repeat(Effect.tap(counts, (found) => condition(found) ? Effect.void : Effect.sleep("100 millis")), {
            until: (found) => condition(found)
          })
          return ((yield* Clock.currentTimeMillis) - before) / 1_000
        })
    }
  })
