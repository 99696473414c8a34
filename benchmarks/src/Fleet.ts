/**
 * Benchmark `fleet`: what `plaza-stock-sync fleet run` costs with many accounts on one runner: the time to readiness, memory, CPU and
 * transactions of the database, idle and with 1% and 10% of the accounts active.
 */
import { Reactivity } from "@effect/experimental"
import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { PgClient } from "@effect/sql-pg"
import * as Postgres from "@plaza/testing/Postgres"
import { Clock, Data, Effect, Redacted, Schema, type Scope } from "effect"
import { execFile, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type Report, round } from "./Harness.js"
import { usageOf } from "./ProcessUsage.js"
import { bundle, type ProgramFailed, start } from "./Programs.js"
import type { ShopsTask } from "./programs/fleet/Task.js"

export class FleetFailed extends Data.TaggedError("FleetFailed")<{ readonly output: string }> {
  override get message(): string {
    return `plaza-stock-sync fleet failed; build it with \`pnpm build\` first\n${this.output}`
  }
}

const program = fileURLToPath(new URL("../../apps/stock-sync/dist/plaza-stock-sync.cjs", import.meta.url))
const Counts = Schema.Struct({
  port: Schema.Number,
  me: Schema.Number,
  feeds: Schema.Number,
  unchanged: Schema.Number,
  patches: Schema.Number
})

const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.tryPromise({
    try: () => promisify(execFile)(process.execPath, [program, ...args], { env }),
    catch: (cause) => new FleetFailed({ output: String(cause) })
  })

/** Starts a runner until the scope closes, and waits until it is ready. Returns its process id and the seconds to readiness. */
const startRunner = (env: Readonly<Record<string, string>>): Effect.Effect<
  { readonly pid: number; readonly ready: number },
  FleetFailed,
  Scope.Scope
> =>
  Effect.gen(function*() {
    const before = yield* Clock.currentTimeMillis
    let output = ""
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, [program, "fleet", "run", "--port", "0"], { stdio: ["ignore", "ignore", "pipe"], env })),
      (child) =>
        Effect.promise(() =>
          new Promise<void>((resolve) => {
            if (child.exitCode !== null) return resolve()
            child.once("exit", () => resolve())
            child.kill("SIGTERM")
          })
        )
    )
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output = `${output}${text}`.slice(0, 10_000)
    })
    const isReady = Effect.suspend(() => {
      if (child.exitCode !== null) return new FleetFailed({ output })
      const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]
      return origin === undefined
        ? Effect.succeed(false)
        : Effect.promise(() => fetch(`${origin}/readyz`).then(({ status }) => status === 200, () => false))
    })
    yield* Effect.repeat(Effect.tap(isReady, (ready) => ready ? Effect.void : Effect.sleep("50 millis")), { until: (ready) => ready })
    return { pid: child.pid ?? 0, ready: ((yield* Clock.currentTimeMillis) - before) / 1_000 }
  })

const secret = "a secret of the benchmark with more than 32 characters"

const measureFleet = (accounts: number, seconds: number) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped()
    const { url } = yield* Postgres.scoped
    const sql = yield* Effect.orDie(PgClient.make({ url: Redacted.make(url) }))
    const path = (yield* bundle(["fleet/Shops"]))("fleet/Shops")
    const shops = yield* start(path)
    const give = (task: ShopsTask) => shops.ask({ ...task }, Counts)
    const counts = shops.ask("counts", Counts)
    const { port } = yield* give({ active: 0, activeProducts: 20, products: 3 })
    const env = {
      STOCK_SYNC_FLEET_DATABASE: url,
      STOCK_SYNC_FLEET_SECRET: secret,
      // The history of an active account is longer than a window.
      PLAZA_TIMEOUT: "30s",
      // Half of the budget of 2 GiB, so that the collector works before the budget is used.
      NODE_OPTIONS: "--max-old-space-size=1024"
    }
    yield* run(["fleet", "migrate"], env)
    const shop = `http://127.0.0.1:${port}`
    const rows = Array.from({ length: accounts }, (_, index) => {
      const key = `bench_${String(index).padStart(40, "0")}`
      return `shop-${index},${shop}/open/v1,${key},${shop}/feeds/${index}\n`
    })
    yield* files.writeFileString(`${folder}/accounts.csv`, `id,baseUrl,key,source\n${rows.join("")}`)
    const importing = yield* Clock.currentTimeMillis
    yield* run(["fleet", "accounts", "import", `${folder}/accounts.csv`], env)
    const imported = ((yield* Clock.currentTimeMillis) - importing) / 1_000

    const until = (condition: (found: typeof Counts.Type) => boolean): Effect.Effect<void, ProgramFailed> =>
      Effect.flatMap(counts, (found) => condition(found) ? Effect.void : Effect.zipRight(Effect.sleep("200 millis"), until(condition)))
    const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.gen(function*() {
        const before = yield* Clock.currentTimeMillis
        yield* effect
        return ((yield* Clock.currentTimeMillis) - before) / 1_000
      })
    // The first run loads all accounts; a restart is what operators see.
    const loaded = yield* Effect.scoped(Effect.zipRight(startRunner(env), timed(until(({ patches }) => patches >= 3 * accounts))))
    const transactions = Effect.map(
      Effect.orDie(sql<{ n: string }>`SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()`),
      ([row]) => Number(row?.n)
    )
    return yield* Effect.scoped(Effect.gen(function*() {
      const before = yield* counts
      const { pid, ready } = yield* startRunner(env)
      const served = yield* timed(until(({ feeds }) => feeds - before.feeds >= accounts))
      const sample = (name: string, active: number) =>
        Effect.gen(function*() {
          yield* give({ active, activeProducts: 20, products: 3 })
          // All accounts have been polled once with their new feeds.
          yield* Effect.sleep("75 seconds")
          const first = { ...usageOf(pid), counts: yield* counts, transactions: yield* transactions }
          yield* Effect.sleep(seconds * 1_000)
          const last = { ...usageOf(pid), counts: yield* counts, transactions: yield* transactions }
          const perSecond = (of: (sample: typeof first) => number) => (of(last) - of(first)) / seconds
          return [
            accounts,
            name,
            round(imported, 1),
            round(loaded, 0),
            round(ready, 1),
            round(served, 0),
            Math.round(last.memory),
            round(perSecond(({ cpu }) => cpu), 3),
            round(1_000 * perSecond(({ cpu }) => cpu) / accounts, 3),
            round(perSecond(({ counts }) => counts.feeds), 1),
            round(perSecond(({ counts }) => counts.patches), 1),
            round(perSecond(({ transactions }) => transactions), 1)
          ]
        })
      return [
        yield* sample("idle", 0),
        yield* sample("1% active", Math.ceil(accounts / 100)),
        yield* sample("10% active", Math.ceil(accounts / 10))
      ]
    }))
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

export const report = (
  sizes: ReadonlyArray<number>,
  seconds: number
): Effect.Effect<Report, ProgramFailed | FleetFailed | PlatformError | Postgres.NoPostgres, FileSystem.FileSystem> =>
  Effect.map(Effect.forEach(sizes, (accounts) => measureFleet(accounts, seconds)), (rows) => ({
    name: "fleet",
    about:
      `one runner of plaza-stock-sync fleet, an HTTP source for each account polled every minute; an active account has 20 products, 10 of them ` +
      `change every minute; each state measured for ${seconds} s; CPU of the runner in cores`,
    columns: [
      "accounts",
      "state",
      "import, s",
      "first load, s",
      "restart to ready, s",
      "all polled, s",
      "MiB",
      "CPU",
      "ms of CPU per account and s",
      "polls/s",
      "sent/s",
      "transactions/s"
    ],
    rows: rows.flat()
  }))
