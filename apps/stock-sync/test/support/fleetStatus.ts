/** A fleet's database with accounts, products and runners as a test writes them, and a runner whose state a test sets. */
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, Layer, Record, Redacted, Ref, Schema, Stream } from "effect"
import type { SqlClient } from "effect/sql"
import * as FleetAccounts from "../../src/fleet/FleetAccounts.ts"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import * as FleetMigrations from "../../src/fleet/FleetMigrations.ts"
import { type AccountActivity, FleetRunner, type RunnerState } from "../../src/fleet/FleetRunner.ts"
import * as StatusTables from "../../src/fleet/operations/StatusTables.ts"
import * as SourceReference from "../../src/fleet/SourceReference.ts"
import type { Waiting } from "../../src/ledger/StockPriority.ts"
import * as MonotonicClock from "../../src/sync/MonotonicClock.ts"
import * as SyncStatus from "../../src/sync/SyncStatus.ts"
import { shared } from "./shared.ts"
import { utc } from "./utc.ts"

export const runner = "runner-1"

/** A runner that owns all shards and just ended a turn. */
export const readyState = Effect.map(MonotonicClock.now, (now): RunnerState => ({
  runner,
  startedAt: utc(0),
  shards: 300,
  leaseRenewedAt: now,
  accounts: { owned: 0, active: 0, reading: 0, waitingToRead: 0, failing: 0 },
  loop: { lastTurnAt: now, lastReachedAt: now },
  stopping: false
}))

/** An account whose source is read at a time of the monotonic clock, and that has no product due. */
export const idleUntil = (nextPoll: MonotonicClock.MonotonicMillis): AccountActivity => ({
  paused: false,
  takenOver: true,
  active: false,
  setKey: "and set it",
  status: { ...SyncStatus.initial(utc(0)), account: { _tag: "Running", since: utc(0) } },
  rateLimit: undefined,
  nextPoll,
  nextDue: Number.POSITIVE_INFINITY,
  retryAt: Number.NEGATIVE_INFINITY
})

/** Owns the accounts that have an activity. */
export const layerRunner = (
  state: Ref.Ref<RunnerState>,
  activities: Readonly<Record<string, AccountActivity>> = {}
): Layer.Layer<FleetRunner> =>
  Layer.succeed(FleetRunner, {
    state: Ref.get(state),
    activity: (account) => Effect.succeed(Record.get(activities, account)),
    drain: Effect.void
  })

/** A ready runner that stays as it is. */
export const layerReady = (activities: Readonly<Record<string, AccountActivity>> = {}) =>
  Layer.unwrap(Effect.map(Effect.flatMap(readyState, Ref.make), (state) => layerRunner(state, activities)))

/** The database at an address, with the tables of a fleet. */
export const prepared = (url: string) =>
  Layer.provideMerge(Layer.effectDiscard(FleetMigrations.migrate), FleetDatabase.layer(Redacted.make(url)))

/** A server of its own, and a new database with the tables of a fleet for each use. */
export const server = Effect.map(Postgres.scoped, ({ start, stop, url }) => {
  let databases = 0
  const database = Effect.gen(function*() {
    const name = `fleet_${databases++}`
    yield* query(url, `CREATE DATABASE ${name}`)
    return prepared(url.replace(/\/postgres$/, `/${name}`))
  })
  return { start, stop, url, database: Layer.unwrap(database) }
})

/** A server for all tests of a file. Returns what runs a test in a fleet of its own. */
export const fleets = () => {
  let built: Effect.Success<typeof server>
  shared(server, (resource) => {
    built = resource
  })
  return <A, E>(use: Effect.Effect<A, E, FleetDatabase.FleetDatabase>) =>
    Effect.suspend(() => Effect.provide(use, Layer.fresh(built.database)))
}

/** Runs a statement in the database at an address, past the program. */
export const query = <A extends object>(url: string, statement: string) =>
  Effect.provide(
    Effect.flatMap(FleetDatabase.FleetDatabase, ({ run, sql }) => run(sql.unsafe<A>(statement))),
    Layer.fresh(FleetDatabase.layer(Redacted.make(url)))
  )

const execute = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  Effect.flatMap(FleetDatabase.FleetDatabase, ({ sql }) => Effect.asVoid(Effect.orDie(statement(sql))))

interface AccountState {
  readonly runner?: string
  readonly paused?: boolean
  readonly problem?: string
  readonly source?: string
}

/** Adds accounts that were taken over once. */
export const accounts = (states: Readonly<Record<string, AccountState>>) =>
  Effect.gen(function*() {
    const { putAll } = yield* FleetAccounts.FleetAccounts
    yield* putAll(Stream.map(Stream.fromIterable(Object.entries(states)), ([id, { source = "stock.csv" }]) => ({
      id,
      baseUrl: "https://shop.example/open/v1",
      key: { _tag: "Sealed", text: `v1:00000000:${sealed}` },
      source: Schema.decodeSync(SourceReference.FromText)(source),
      options: {}
    })))
    const given = Object.entries(states).map(([id, { paused = false, problem, runner }]) => ({ id, paused, problem, runner }))
    yield* execute((sql) =>
      sql`WITH given AS (SELECT * FROM jsonb_to_recordset(${JSON.stringify(given)}::text::jsonb)
          AS given (id text, paused boolean, problem text, runner text)),
        owned AS (UPDATE account SET owner = runner, epoch = 1 FROM given JOIN fleet_account USING (id)
          WHERE fleet_account.account = account.account)
        UPDATE fleet_account SET paused = given.paused, problem = given.problem,
          problem_at = CASE WHEN given.problem IS NOT NULL THEN 0 END FROM given WHERE given.id = fleet_account.id`
    )
  }).pipe(Effect.provide(FleetAccounts.layer), Effect.orDie)

/** Nothing may show it. */
export const sealed = "c2VhbGVkLWtleS10aGF0LW5vdGhpbmctc2hvd3M"

/** A runner that was heard of this many milliseconds ago. */
export const runnerRow = (name: string, age = 0, reasons: ReadonlyArray<{ readonly reason: string; readonly message: string }> = []) =>
  execute((sql) =>
    sql`INSERT INTO fleet_runner (name, version, started_at, seen_at, shards, active, reading, waiting_to_read, failing, reasons)
      VALUES (${name}, '1.2.3', 0, ${sql.literal(StatusTables.now)} - ${age}::bigint, 100, 1, 2, 3, 4, ${
      JSON.stringify(reasons)
    }::text::jsonb)`
  )

export interface Products {
  /** The waiting priority, or a state. */
  readonly as: Extract<Waiting, "falling" | "rest" | "soldOut"> | "quarantined" | "sending" | "settled"
  readonly count: number
  /** When they started to wait. */
  readonly since?: number
  readonly delayed?: boolean
}

const rows = {
  soldOut: { wanted: 0, confirmed: 5, state: "pending" },
  falling: { wanted: 3, confirmed: 5, state: "pending" },
  rest: { wanted: 7, confirmed: 5, state: "pending" },
  quarantined: { wanted: 3, confirmed: 5, state: "quarantined" },
  sending: { wanted: 3, confirmed: 5, state: "sending" },
  settled: { wanted: 5, confirmed: 5, state: "settled" }
} as const

/** Writes products of accounts with ids such as `soldOut-1`. */
export const products = (account: string | ReadonlyArray<string>, all: ReadonlyArray<Products>) =>
  Effect.forEach(all, ({ as, count, delayed = as === "quarantined", since = 0 }) => {
    const { confirmed, state, wanted } = rows[as]
    const refusal = as === "quarantined" ? `'NotFound', 'NOT_FOUND', 'no such product', ${wanted}` : "NULL, NULL, NULL, NULL"
    const ids = typeof account === "string" ? [account] : account
    return execute((sql) =>
      sql`INSERT INTO product (account, id, wanted, confirmed, attempts, state, listing, queued_at, due_at, line, updated_at,
          refusal_tag, refusal_code, refusal_message, refused_stock)
        SELECT account, ${
        sql.literal(
          `'${as}-' || n, ${wanted}, ${confirmed}, 0, '${state}', 'named', ${since} + n, ${
            delayed ? 4_000_000_000_000 : null
          }, n, 0, ${refusal} FROM fleet_account, generate_series(1, ${count}) AS n`
        )
      } WHERE fleet_account.id IN ${sql.in(ids)}`
    )
  }, { discard: true })

/** The runners of these accounts have last used the same key. */
export const sharedKey = (ids: ReadonlyArray<string>, fingerprint: string, baseUrl = "https://shop.example/open/v1") =>
  execute((sql) =>
    sql`UPDATE account SET base_url = ${baseUrl}, key_fingerprint = ${fingerprint} FROM fleet_account
      WHERE fleet_account.account = account.account AND id IN ${sql.in(ids)}`
  )

/** The last snapshot of these accounts has a row of this kind. */
export const rowIssue = (ids: ReadonlyArray<string>, kind: "negative" | "rejected") =>
  execute((sql) =>
    sql`INSERT INTO row_issue (account, place, line, product_id, kind, reason)
      SELECT account, coalesce((SELECT max(place) FROM row_issue WHERE account = fleet_account.account), 0) + 1, 7, NULL, ${kind}, 'no id'
      FROM fleet_account WHERE id IN ${sql.in(ids)}`
  )

/** The held snapshot of an account is confirmed. */
export const confirmedSnapshot = (account: string) =>
  execute((sql) =>
    sql`UPDATE snapshot SET confirmed_number = last_number FROM fleet_account
      WHERE fleet_account.account = snapshot.account AND id = ${account}`
  )

const figures = { catalogue: 100, soldOut: 60, fell: 0, rose: 0, missing: 0, zeroed: 0, reverted: 0 }

/** An account's source is held. */
export const heldSnapshot = (account: string, since: number) =>
  execute((sql) =>
    sql`UPDATE snapshot SET last_number = 3, held_since = ${since}, held_at = ${since}, held_figures = ${JSON.stringify(figures)}
      FROM fleet_account WHERE fleet_account.account = snapshot.account AND id = ${account}`
  )
