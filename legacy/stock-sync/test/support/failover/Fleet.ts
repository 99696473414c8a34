/** Three runners of the built program with one database, their accounts and what each of them has taken over. */
import { Reactivity } from "@effect/experimental"
import { FileSystem } from "@effect/platform"
import { SqlSchema } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import * as Postgres from "@plaza-legacy/testing/Postgres"
import { Duration, Effect, Redacted, Schema, type Scope } from "effect"
import { cpSync } from "node:fs"
import { dist, type Ended, run, type Running, start } from "../program.ts"
import type * as DatabaseProxy from "./DatabaseProxy.ts"
import { type Allowance, latestMillis } from "./StrictService.ts"

/** A takeover of an account by a runner, in the order of the database. */
export interface Takeover {
  readonly account: string
  /** The id of the runner's process. */
  readonly pid: number
  readonly at: number
}

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
    Effect.timeoutTo({ duration: within, onTimeout: () => false, onSuccess: () => true })
  )

const TakeoverRow = Schema.Struct({ account: Schema.String, pid: Schema.NumberFromString, at: Schema.NumberFromString })
const CountRow = Schema.Struct({ count: Schema.NumberFromString })

// The name of a runner is its host, its process and a random part.
const observe = `CREATE TABLE public.takeover (number BIGSERIAL, account TEXT, pid TEXT, at TEXT);
  CREATE FUNCTION public.observe_takeover() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.takeover (account, pid, at) VALUES (NEW.id, (regexp_match(NEW.runner, '-(\\d+)-[0-9a-f]+$'))[1],
      trunc(extract(epoch FROM clock_timestamp()) * 1000)::text);
    RETURN NULL;
  END $$;
  CREATE TRIGGER observe_takeover AFTER UPDATE OF epoch ON plaza_fleet.fleet_account FOR EACH ROW EXECUTE FUNCTION public.observe_takeover()`

export interface Options {
  readonly accounts: ReadonlyArray<{ readonly id: string; readonly key: string; readonly source: string }>
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
    const command = (args: ReadonlyArray<string>, input = "") =>
      run(["fleet", ...args], { cwd, env: env(url), input, program }).pipe(
        Effect.filterOrDieMessage(({ status }) => status === 0, `fleet ${args.join(" ")} failed`)
      )
    yield* command(["migrate"])
    // The guard would hold what is meant here.
    const rows = accounts.map(({ id, key, source }) => `${id},${baseUrl},${key},${source},2s,0s,${latestMillis + 2_000}ms,${products}`)
    yield* command(["accounts", "import", "-"], `id,baseUrl,key,source,poll,settle,late-writes,guard-count\n${rows.join("\n")}\n`)
    yield* Effect.orDie(sql.unsafe(observe))

    const takeovers = Effect.orDie(
      SqlSchema.findAll({
        Request: Schema.Void,
        Result: TakeoverRow,
        execute: () => sql`SELECT account, pid, at FROM public.takeover ORDER BY number`
      })()
    )
    const unsettled = Effect.orDie(
      SqlSchema.single({
        Request: Schema.Void,
        Result: CountRow,
        execute: () => sql`SELECT count(*)::text AS count FROM plaza_fleet.ledger_product WHERE state <> 'settled'`
      })()
    )

    const problems = Effect.orDie(
      Effect.map(
        sql<{ id: string; problem: string }>`SELECT id, problem FROM plaza_fleet.fleet_account WHERE problem IS NOT NULL`,
        (rows) => rows.map(({ id, problem }) => `${id}: ${problem}`)
      )
    )
    const left = Effect.orDie(sql.unsafe(`SELECT fleet_account.id AS account, product.* FROM plaza_fleet.ledger_product AS product
      JOIN plaza_fleet.fleet_account ON number = product.account WHERE state <> 'settled' LIMIT 20`))

    const unrecorded = Effect.orDie(
      Effect.map(
        sql<{ id: string }>`SELECT fleet_account.id FROM plaza_fleet.fleet_account
          LEFT JOIN plaza_fleet.ledger_snapshot ON number = account WHERE taken_at IS NULL`,
        (rows) => rows.map(({ id }) => id)
      )
    )

    let started = 0
    return {
      database: url,
      /** Starts a runner that reaches the database through this network. */
      start: (network: DatabaseProxy.DatabaseProxy) =>
        Effect.gen(function*() {
          const name = `runner ${++started}`
          const { ended, kill, pid, stderr } = yield* start(["fleet", "run"], {
            cwd,
            env: { ...env(network.url), HTTP_PROXY: yield* proxyFor(name) },
            program
          })
          const runner: Runner = { name, pid: yield* Effect.orDie(Effect.fromNullable(pid)), signal: kill, ended, stderr }
          return runner
        }),
      /** All takeovers, in order. */
      takeovers,
      /** How many products are not settled, and some of them. */
      unsettled: Effect.map(unsettled, ({ count }) => count),
      left,
      /** What the runners report of accounts. */
      problems,
      /** Accounts without a recorded snapshot. The guard could hold none of theirs. */
      unrecorded
    }
  }).pipe(Effect.provide(Reactivity.layer))
