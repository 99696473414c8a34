/** Three runners of the built program with one database, their accounts and what each of them has taken over. */
import { PgClient } from "@effect/sql-pg"
import * as Postgres from "@plaza/testing/Postgres"
import { Duration, Effect, FileSystem, Redacted, Schema, type Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlError } from "effect/sql/SqlError"
import { cpSync, readFileSync } from "node:fs"
import type * as DatabaseProxy from "../databaseProxy.ts"
import { dist, type Ended, run, type Running, start } from "../program.ts"
import { type Allowance, latestMillis } from "./StrictService.ts"

export interface Runner {
  /** Unique in the test. */
  readonly name: string
  readonly pid: number
  readonly signal: Running["kill"]
  readonly ended: Effect.Effect<Ended>
  readonly stderr: Running["stderr"]
}

/** Polls a condition for a limited time. Returns whether it was satisfied. */
export const until = (condition: Effect.Effect<boolean>, within: Duration.Duration): Effect.Effect<boolean> =>
  Effect.repeat(Effect.delay(condition, "200 millis"), { until: (satisfied) => satisfied }).pipe(
    Effect.timeoutOrElse({ duration: within, orElse: () => Effect.succeed(false) })
  )

/** The most memory that a running process has had, in MiB; 0 where the system does not show it. */
export const peakMemory = ({ pid }: Runner): Effect.Effect<number> =>
  Effect.try(() => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0)).pipe(
    Effect.orElseSucceed(() => 0),
    Effect.map((kilobytes) => Math.round(kilobytes / 1_024))
  )

// The name of a runner is its host, its process and a random part.
const observe = [
  "CREATE TABLE public.takeover (number BIGSERIAL, account TEXT, pid INTEGER, at DOUBLE PRECISION)",
  `CREATE FUNCTION public.observe_takeover() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.takeover (account, pid, at)
    SELECT id, (regexp_match(NEW.owner, '-(\\d+)-[0-9a-f]+$'))[1]::integer, trunc(extract(epoch FROM clock_timestamp()) * 1000)
    FROM plaza_fleet.fleet_account WHERE fleet_account.account = NEW.account;
    RETURN NULL;
  END $$`,
  "CREATE TRIGGER observe_takeover AFTER UPDATE OF epoch ON plaza_fleet.account FOR EACH ROW EXECUTE FUNCTION public.observe_takeover()"
]

/** Runs a statement and decodes its rows. */
const rowsOf = <A, I>(row: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(row))
  return (statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>) => Effect.orDie(Effect.flatMap(statement, decode))
}
const takeoverRows = rowsOf(Schema.Struct({ account: Schema.String, pid: Schema.Finite, at: Schema.Finite }))
const productRows = rowsOf(Schema.Struct({ id: Schema.String, product: Schema.Unknown }))
const idRows = rowsOf(Schema.Struct({ id: Schema.String }))
const problemRows = rowsOf(Schema.Struct({ id: Schema.String, problem: Schema.String }))

/** How the ids of the accounts begin that have to end equal to their sources. */
export const shops = "shop-"

export interface Account {
  readonly id: string
  readonly key: string
  readonly source: string
  /** Seconds between polls. */
  readonly poll: number
}

export interface Options {
  readonly accounts: ReadonlyArray<Account>
  /** Of each of them, at most. */
  readonly products: number
  readonly baseUrl: string
  readonly proxyFor: (runner: string) => Effect.Effect<string, never, Scope.Scope>
  readonly allowance: Allowance
}

/** A fleet without runners. */
export const make = ({ accounts, allowance, baseUrl, products, proxyFor }: Options) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const cwd = yield* files.makeTempDirectoryScoped()
    // A build may replace the program meanwhile.
    cpSync(dist, `${cwd}/program`, { recursive: true })
    const program = `${cwd}/program/plaza-stock-sync.cjs`
    const { url } = yield* Postgres.scoped
    const sql = yield* PgClient.make({ url: Redacted.make(url) })
    const env = (database: string) => ({
      STOCK_SYNC_FLEET_DATABASE: database,
      STOCK_SYNC_FLEET_SECRET: "a secret for these tests only",
      PLAZA_RATE_LIMIT: String(allowance.limit),
      PLAZA_RATE_WINDOW: Duration.format(allowance.window),
      PLAZA_TIMEOUT: "2 seconds",
      PLAZA_ALLOW_INSECURE_HTTP: "true",
      PLAZA_LOG_LEVEL: "debug",
      STOCK_SYNC_LOG_LEVEL: "debug"
    })
    const command = Effect.fnUntraced(function*(args: ReadonlyArray<string>, input?: string) {
      const { status, stderr } = yield* run(["fleet", ...args], { cwd, env: env(url), program, ...(input === undefined ? {} : { input }) })
      if (status !== 0) return yield* Effect.die(new Error(`fleet ${args.join(" ")} ended with ${status}: ${stderr}`))
    })
    yield* command(["migrate"])
    // The guard would hold what is meant here.
    const rows = accounts.map(({ id, key, poll, source }) =>
      `${id},${baseUrl},${key},${source},${poll}s,0s,${latestMillis + 2_000}ms,${products}`
    )
    yield* command(["accounts", "import", "-"], `id,baseUrl,key,source,poll,settle,late-writes,guard-count\n${rows.join("\n")}\n`)
    yield* Effect.orDie(Effect.forEach(observe, (statement) => sql.unsafe(statement)))

    // The sources of the other accounts never end, or are larger than the allowance.
    const isShop = sql`id LIKE ${`${shops}%`}`
    let started = 0
    return {
      database: url,
      /** Starts a runner that reaches the database through this network. */
      start: Effect.fnUntraced(function*(network: DatabaseProxy.DatabaseProxy) {
        const name = `runner ${++started}`
        const { ended, kill, pid, stderr } = yield* start(["fleet", "run"], {
          cwd,
          env: { ...env(network.url), HTTP_PROXY: yield* proxyFor(name) },
          program
        })
        const runner: Runner = { name, pid: yield* Effect.orDie(Effect.fromNullishOr(pid)), signal: kill, ended, stderr }
        return runner
      }),
      /** All takeovers, in order. */
      takeovers: takeoverRows(sql`SELECT account, pid, at FROM public.takeover ORDER BY number`),
      /** Whether all products of the shops are settled, and some that are not. */
      isSettled: Effect.map(
        idRows(sql`SELECT id FROM plaza_fleet.fleet_account WHERE ${isShop}
          AND EXISTS (SELECT 1 FROM plaza_fleet.product WHERE product.account = fleet_account.account AND state <> 'settled') LIMIT 1`),
        (rows) => rows.length === 0
      ),
      left: productRows(sql`SELECT shop.id, to_jsonb(product) AS product FROM plaza_fleet.product
        JOIN (SELECT id, account FROM plaza_fleet.fleet_account WHERE ${isShop}) AS shop USING (account) WHERE state <> 'settled' LIMIT 20`),
      /** What the runners report of shops. */
      problems: Effect.map(
        problemRows(sql`SELECT id, problem FROM plaza_fleet.fleet_account WHERE problem IS NOT NULL AND ${isShop}`),
        (rows) => rows.map(({ id, problem }) => `${id}: ${problem}`)
      ),
      /** Shops without a recorded snapshot. The guard could hold none of theirs. */
      unrecorded: Effect.map(
        idRows(
          sql`SELECT id FROM plaza_fleet.fleet_account LEFT JOIN plaza_fleet.snapshot USING (account) WHERE taken_at IS NULL AND ${isShop}`
        ),
        (rows) => rows.map(({ id }) => id)
      )
    }
  }).pipe(Effect.provide(Reactivity.layer))
