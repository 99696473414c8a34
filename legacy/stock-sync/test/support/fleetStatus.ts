/** A fleet's database with accounts, products and runners as a test writes them, and a runner whose state a test sets. */
import * as Postgres from "@plaza-legacy/testing/Postgres"
import { Effect, Layer, Record, Redacted, Ref, Schema, Stream } from "effect"
import * as FleetAccounts from "../../src/fleet/FleetAccounts.ts"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import * as FleetMigrations from "../../src/fleet/FleetMigrations.ts"
import { type AccountActivity, FleetRunner, type RunnerState } from "../../src/fleet/FleetRunner.ts"
import * as StatusTables from "../../src/fleet/operations/StatusTables.ts"
import * as SourceReference from "../../src/fleet/SourceReference.ts"
import type { Waiting } from "../../src/ledger/Entry.ts"
import * as MonotonicClock from "../../src/sync/MonotonicClock.ts"
import * as SyncStatus from "../../src/sync/SyncStatus.ts"
import { shared } from "./shared.ts"
import { utc } from "./utc.ts"

export type Database = FleetDatabase.FleetDatabase["Type"]

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

/** A runner that stays as it is. */
export const layerReadyWith = (activities: Readonly<Record<string, AccountActivity>>) =>
  Layer.unwrapEffect(Effect.map(Effect.flatMap(readyState, Ref.make), (state) => layerRunner(state, activities)))

export const layerReady = layerReadyWith({})

/** A server of its own, and a new database with the tables of a fleet for each use. */
export const server = Effect.map(Postgres.scoped, ({ start, stop, url }) => {
  let databases = 0
  const database = Effect.gen(function*() {
    const name = `fleet_${databases++}`
    yield* Effect.flatMap(FleetDatabase.FleetDatabase, ({ run, sql }) => run(sql.unsafe(`CREATE DATABASE ${name}`))).pipe(
      Effect.provide(FleetDatabase.layer(Redacted.make(url)))
    )
    const layer = FleetDatabase.layer(Redacted.make(url.replace(/\/postgres$/, `/${name}`)))
    return Layer.provideMerge(Layer.effectDiscard(FleetMigrations.migrate), layer)
  })
  return { start, stop, database: Layer.unwrapEffect(database) }
})

/** A server for all tests of a file. Returns what runs a test in a fleet of its own. */
export const fleets = () => {
  let built: Effect.Effect.Success<typeof server>
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
    FleetDatabase.layer(Redacted.make(url))
  )

const execute = (statement: (sql: Database["sql"]) => Effect.Effect<unknown, unknown>) =>
  Effect.flatMap(FleetDatabase.FleetDatabase, ({ sql }) => Effect.asVoid(Effect.orDie(statement(sql))))

interface AccountState {
  readonly runner?: string
  readonly paused?: boolean
  readonly problem?: string
  readonly source?: string
}

/** Adds accounts, in this order. */
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
    yield* Effect.forEach(Object.entries(states), ([id, { paused = false, problem = null, runner = null }]) =>
      execute((sql) =>
        sql`UPDATE fleet_account SET runner = ${runner}, epoch = 1, paused = ${paused}, problem = ${problem}, problem_at = ${
          problem === null ? null : 0
        } WHERE id = ${id}`
      ))
  }).pipe(Effect.provide(FleetAccounts.layer), Effect.orDie)

/** Nothing may show it. */
export const sealed = "c2VhbGVkLWtleS10aGF0LW5vdGhpbmctc2hvd3M"

/** A runner that was heard of this many milliseconds ago. */
export const runnerRow = (name: string, age = 0, reasons: ReadonlyArray<{ readonly reason: string; readonly message: string }> = []) =>
  execute((sql) =>
    sql`INSERT INTO fleet_runner (name, version, started_at, seen_at, shards, active, reading, waiting_to_read, failing, reasons)
      VALUES (${name}, '1.2.3', 0, ${sql.literal(StatusTables.now)} - ${age}::bigint, 100, 1, 2, 3, 4, ${JSON.stringify(reasons)}::jsonb)`
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
    const ids = typeof account === "string" ? [account] : account
    return execute((sql) =>
      sql`INSERT INTO ${sql(StatusTables.product)} (account, id, wanted, confirmed, attempts, state, part, since, due_at, line, updated_at,
          refusal_tag, refusal_code, refusal_message, refused)
        SELECT number, ${as} || '-' || n, ${wanted}, ${confirmed}, 0, ${state}, 'named', ${since}::bigint + n, ${
        delayed ? 4_000_000_000_000 : null
      }, n, 0, ${as === "quarantined" ? "NotFound" : null}, ${as === "quarantined" ? "NOT_FOUND" : null},
          ${as === "quarantined" ? "no such product" : null}, ${as === "quarantined" ? wanted : null}
        FROM fleet_account, generate_series(1, ${count}) AS n
        WHERE fleet_account.id IN (SELECT jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))`
    )
  }, { discard: true })

/** The runners of these accounts have last used the same key. */
export const sharedKey = (ids: ReadonlyArray<string>, fingerprint: string, baseUrl = "https://shop.example/open/v1") =>
  execute((sql) =>
    sql`INSERT INTO ${sql(StatusTables.account)} (account, one, base_url, key_fingerprint)
      SELECT number, 1, ${baseUrl}, ${fingerprint} FROM fleet_account WHERE id IN ${sql.in(ids)}`
  )

/** An account's source is held. */
export const heldSnapshot = (account: string, since: number) =>
  execute((sql) =>
    sql`INSERT INTO ${
      sql(StatusTables.snapshot)
    } (account, one, held_number, held_since, held_at, catalogue, sold_out, fell, rose, missing, zeroed)
      SELECT number, 1, 3, ${since}, ${since}, 100, 60, 0, 0, 0, 0 FROM fleet_account WHERE id = ${account}
      ON CONFLICT (account, one) DO UPDATE SET held_number = 3, held_since = excluded.held_since, held_at = excluded.held_at`
  )
