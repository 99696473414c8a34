import * as PgClient from "@effect/sql-pg/PgClient"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { RateLimit } from "@plaza/client"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import * as Postgres from "@plaza/testing/Postgres"
import { Context, Duration, Effect, Exit, Layer, Redacted, Result, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { fileURLToPath } from "node:url"
import type { TestContext } from "vitest"
import { inAnyTime, realTime } from "./support/AllowanceRules.ts"
import * as CountingService from "./support/CountingService.ts"
import * as Database from "./support/Database.ts"

const limit = 20
const window = 1_000
const lease = 1_500
const program = fileURLToPath(new URL("./support/SharingProcess.ts", import.meta.url))

interface Sharing {
  readonly child: ChildProcess
  /** How it ended, once it has. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly said: () => string
}

const sharing = (database: string, address: string, concurrency: number) =>
  Effect.acquireRelease(
    Effect.sync((): Sharing => {
      const child = spawn(
        process.execPath,
        [
          "--conditions=@plaza/source",
          program,
          database,
          address,
          String(limit),
          String(window),
          String(lease),
          String(concurrency)
        ],
        { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, NODE_EXTRA_CA_CERTS: undefined } }
      )
      let said = ""
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          said += text
        })
      }
      const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
        child.once("exit", (code, signal) => resolve(signal ?? code))
      })
      return { child, ended, said: () => said }
    }),
    ({ child, ended }) =>
      Effect.promise(() => {
        child.kill("SIGKILL")
        return ended
      })
  )

const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => condition() ? Effect.void : Effect.andThen(Effect.sleep("10 millis"), until(condition)))

/**
 * Three processes on one database: all send as much as they may, one is killed with requests in flight, and the others go
 * on until what it held has come free again and is used.
 */
const scenario = (database: string) =>
  Effect.gen(function*() {
    const service = yield* CountingService.scoped(limit, window)
    const paths = ["/one", "/two", "/killed"]
    const processes = yield* Effect.forEach(paths, (path) => sharing(database, service.address + path, path === "/killed" ? 4 : 30))
    const [one, two, killed] = processes
    const ended = () => processes.some(({ child }) => child.exitCode !== null)
    /** Which share of the allowance the last window's requests used. */
    const usedLately = () => service.counted.filter(({ at }) => at > performance.now() - window).length / limit
    const sentBy = (path: string) => service.counted.filter((request) => request.path === path).length
    yield* until(() => ended() || paths.every((path) => sentBy(path) > 0))

    yield* Effect.sleep(window)
    // How soon it gets there depends on what else the machine does.
    yield* until(() => ended() || usedLately() >= 0.9)

    const inFlight = service.hold("/killed")
    yield* until(() => ended() || inFlight() > 0)
    killed?.child.kill("SIGKILL")
    // What the killed one held comes free again, and is used by the others.
    yield* Effect.sleep(lease + window)
    yield* until(() => one?.child.exitCode !== null || two?.child.exitCode !== null || usedLately() >= 0.9)

    const alive = [one, two].every((process) => process?.child.exitCode === null)
    one?.child.kill("SIGTERM")
    two?.child.kill("SIGTERM")
    yield* Effect.promise(() => Promise.all([one?.ended, two?.ended]))

    expect(service.refused()).toBe(0)
    // What they said on the way tells why one has ended.
    expect({ alive, said: alive ? "" : processes.map(({ said }) => said()).join("") }).toEqual({ alive: true, said: "" })
    for (const path of paths) {
      expect(sentBy(path)).toBeGreaterThan(0)
    }
  })

const longMaxWait = Duration.seconds(30)

const join = (allowance: RateLimit.Allowance) =>
  Effect.map(Layer.build(Layer.fresh(RateLimitSql.layer({ ...allowance, name: randomUUID() }))), Context.get(RateLimit.RateLimit))

describe("several processes on one SQLite file", () => {
  // The processes create the file and its tables at the same time.
  it.live("never exceed the limit, and use the allowance, also if one of them is killed", () => Effect.flatMap(Database.file, scenario))
})

describe("several processes on one Postgres", () => {
  const scope = Effect.runSync(Scope.make())
  let started: Result.Result<{ readonly url: string }, Postgres.NoPostgres> = Result.fail(
    new Postgres.NoPostgres({ message: "not started" })
  )
  beforeAll(async () => {
    started = await Effect.runPromise(Effect.result(Scope.provide(Postgres.scoped, scope)))
    if (Result.isFailure(started)) {
      process.stderr.write(`skipped: ${started.failure.message}\n`)
    }
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  /** Skips the test where no Postgres can be started. */
  const url = (context: TestContext): string => Result.isFailure(started) ? context.skip(started.failure.message) : started.success.url

  const onPostgres = (context: TestContext) => Layer.orDie(PgClient.layer({ url: Redacted.make(url(context)), maxConnections: 10 }))

  it.live("never exceed the limit, and use the allowance, also if one of them is killed", (context) => scenario(url(context)))

  inAnyTime(realTime,
    (allowance, context) => Layer.provide(Layer.orDie(RateLimitSql.layer({ ...allowance, name: randomUUID() })), onPostgres(context)))

  it.live("can create its tables at the same time", (context) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DROP TABLE IF EXISTS plaza_rate_slots, plaza_rate_gates, plaza_rate_waiting`
      yield* Effect.all(Array.from({ length: 10 }, () => join({ limit: 3 })), { concurrency: "unbounded" })
      expect(yield* sql`SELECT * FROM plaza_rate_slots`).toHaveLength(30)
    }).pipe(Effect.scoped, Effect.provide(onPostgres(context))))

  it.live("are not undone by a rollback of the caller's transaction", (context) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const limit = yield* join({ limit: 1, window: "1 minute" })
      yield* Effect.ignore(sql.withTransaction(Effect.andThen(
        limit.withSlot(longMaxWait, Effect.void),
        Effect.fail("rolled back")
      )))
      const next = yield* Effect.result(limit.withSlot(Duration.millis(100), Effect.void))
      expect(Result.isFailure(next)).toBe(true)
    }).pipe(Effect.scoped, Effect.provide(onPostgres(context))))

  it.live("count a request from its response, also if the completion is written late", (context) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const name = randomUUID()
      const database = yield* Database.watchedBy(PgClient.makeCompiler())
      const limit = yield* Effect.provideService(
        Effect.map(Layer.build(Layer.fresh(RateLimitSql.layer({ name, limit: 1 }))), Context.get(RateLimit.RateLimit)),
        SqlClient.SqlClient,
        database.client
      )
      yield* limit.withSlot(longMaxWait, Effect.sync(() => {
        database.away = true
      }))
      yield* Effect.sleep("400 millis")
      database.away = false
      const [slot] = yield* sql<{ wait: number }>`
        SELECT free_at - EXTRACT(EPOCH FROM clock_timestamp())::double precision * 1000 AS wait
        FROM plaza_rate_slots WHERE name = ${`name:${name}`} AND taken_by = ''`.pipe(
        Effect.filterOrFail((rows) => rows.length > 0),
        Effect.retry(Schedule.max([Schedule.spaced("20 millis"), Schedule.recurs(500)]))
      )
      expect(slot?.wait).toBeLessThanOrEqual(60_001 - 300)
    }).pipe(Effect.scoped, Effect.provide(onPostgres(context))))

  it.live("all pause after a 429 of one of them", (context) =>
    Effect.gen(function*() {
      const name = randomUUID()
      const process = Effect.map(
        Layer.build(Layer.fresh(RateLimitSql.layer({ name, limit: 5 }))),
        Context.get(RateLimit.RateLimit)
      )
      const one = yield* process
      const other = yield* process
      yield* one.pauseFor(Duration.seconds(30))
      const next = yield* Effect.result(other.withSlot(Duration.seconds(5), Effect.void))
      expect(Result.isFailure(next) && next.failure._tag).toBe("RateLimitWaitExceeded")
    }).pipe(Effect.scoped, Effect.provide(onPostgres(context))))
})
