/** The accounts of a fleet, in a table that commands change while runners work. A runner finds changes by the growing `revision`. */
import { SqlError } from "@effect/sql/SqlError"
import * as SqlSchema from "@effect/sql/SqlSchema"
import type { Fragment } from "@effect/sql/Statement"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { codeOf } from "../ledger/PostgresErrors.ts"
import { FleetDatabase } from "./FleetDatabase.ts"
import { type AccountExists, accountExists, type AccountNotFound, accountNotFound, type FleetDatabaseError } from "./FleetError.ts"
import * as KeyReference from "./KeyReference.ts"
import * as SourceReference from "./SourceReference.ts"

const Id = Schema.String.pipe(Schema.pattern(/^[^\p{Cc}\p{Surrogate}]{1,200}$/u))

export const isId = Schema.is(Id)

/** What an operator sets. */
const Settings = Schema.Struct({
  /** At most 200 characters, none of them a control character. */
  id: Id,
  baseUrl: Schema.propertySignature(Schema.String).pipe(Schema.fromKey("base_url")),
  key: KeyReference.FromText,
  source: SourceReference.FromText,
  /**
   * Options of the single-store worker by their names without dashes, such as `stock-column`. Those that are secrets are references, as
   * `KeyReference` encodes them.
   */
  options: Schema.Record({ key: Schema.String, value: Schema.String })
})
export type AccountSettings = typeof Settings.Type

/** What an operator sets of an account, without what runners record of it. */
export const settingsOf = ({ baseUrl, id, key, options, source }: AccountSettings): AccountSettings => ({
  id,
  baseUrl,
  key,
  source,
  options
})

/** An account as the database stores it. */
export const Row = Schema.Struct({
  ...Settings.fields,
  paused: Schema.Boolean,
  revision: Schema.Number,
  shard: Schema.NullOr(Schema.Number),
  epoch: Schema.Number,
  runner: Schema.NullOr(Schema.String),
  /** Why the account can't be worked on, from its runner. */
  problem: Schema.NullOr(Schema.String)
})
export type FleetAccount = typeof Row.Type

const isSqlError = (error: unknown): error is SqlError => error instanceof SqlError

export const columns = "id, base_url, key, source, options, paused, revision, shard, epoch, runner, problem"

// Accounts a page: a page is in memory at a time, whatever the size of the fleet.
const page = 1_000

/** How many accounts were new, how many have other settings now, and how many stayed as they were. */
export interface Stored {
  readonly added: number
  readonly updated: number
  readonly unchanged: number
}

export class FleetAccounts extends Context.Tag("@plaza/stock-sync/fleet/FleetAccounts")<FleetAccounts, {
  /** Every account, by id. */
  readonly all: Stream.Stream<FleetAccount, FleetDatabaseError>
  /** The accounts whose ids begin with a text, by id. */
  readonly withPrefix: (prefix: string) => Stream.Stream<FleetAccount, FleetDatabaseError>
  readonly get: (id: string) => Effect.Effect<FleetAccount, AccountNotFound | FleetDatabaseError>
  /** Those of the accounts that exist, by id. */
  readonly some: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, FleetAccount>, FleetDatabaseError>
  readonly add: (account: AccountSettings) => Effect.Effect<void, AccountExists | FleetDatabaseError>
  /**
   * Adds accounts with different ids, and replaces the settings of those that exist; whether they are paused stays. Accounts whose settings
   * do not change are not touched. Stores all of them, or none if the stream fails.
   */
  readonly putAll: <E, R>(accounts: Stream.Stream<AccountSettings, E, R>) => Effect.Effect<Stored, E | FleetDatabaseError, R>
  /** Changes one account. Other changes of it wait meanwhile. Returns whether its settings are different now. */
  readonly update: <E, R>(
    id: string,
    change: (account: FleetAccount) => Effect.Effect<AccountSettings, E, R>
  ) => Effect.Effect<boolean, E | AccountNotFound | FleetDatabaseError, R>
  /** Changes all of the accounts, or none if one does not exist. Returns the ids of those that were not in this state already. */
  readonly setPaused: (
    ids: ReadonlyArray<string>,
    paused: boolean
  ) => Effect.Effect<ReadonlyArray<string>, AccountNotFound | FleetDatabaseError>
  /**
   * Replaces settings that have not changed meanwhile by others of the same meaning. Runners do not notice. Returns how many it replaced.
   */
  readonly swap: (
    changes: ReadonlyArray<{ readonly before: AccountSettings; readonly after: AccountSettings }>
  ) => Effect.Effect<number, FleetDatabaseError>
  /** Makes the runner of an account look at its ledger and its source within seconds. */
  readonly wake: (id: string) => Effect.Effect<void, AccountNotFound | FleetDatabaseError>
  /** Makes the next key of an account its key, whatever the key was before, and its base URL the address of its ledger. */
  readonly adopt: (id: string) => Effect.Effect<void, AccountNotFound | FleetDatabaseError>
  /** Removes an account and its ledger. */
  readonly remove: (id: string) => Effect.Effect<void, AccountNotFound | FleetDatabaseError>
}>() {}

const isConflict = ({ cause }: SqlError): boolean => /^(55P03|40P01|40001)$/.test(codeOf(cause) ?? "")
const conflictRetries = Schedule.intersect(Schedule.jittered(Schedule.spaced("100 millis")), Schedule.recurs(50))

const make = Effect.gen(function*() {
  const { run, sql } = yield* FleetDatabase
  const selected = sql.literal(`SELECT ${columns} FROM fleet_account`)

  const pageAfter = SqlSchema.findAll({
    Request: Schema.Struct({ prefix: Schema.String, after: Schema.String }),
    Result: Row,
    execute: ({ after, prefix }) =>
      sql`${selected} WHERE id > ${after} AND id >= ${prefix} AND starts_with(id, ${prefix}) ORDER BY id LIMIT ${page}`
  })
  const one = SqlSchema.findOne({ Request: Schema.String, Result: Row, execute: (id) => sql`${selected} WHERE id = ${id}` })
  const locked = SqlSchema.findOne({
    Request: Schema.String,
    Result: Row,
    execute: (id) => sql`${selected} WHERE id = ${id} FOR NO KEY UPDATE`
  })
  const several = SqlSchema.findAll({
    Request: Schema.Array(Schema.String),
    Result: Row,
    execute: (ids) => sql`${selected} WHERE id IN ${sql.in(ids)}`
  })
  const encode = Schema.encodeSync(Schema.Array(Settings))
  const orNotFound = (id: string) => Option.match({ onNone: () => accountNotFound(id), onSome: Effect.succeed<FleetAccount> })

  const inTransaction = <A, E, R>(statements: Effect.Effect<A, E, R>): Effect.Effect<A, E | FleetDatabaseError, R> =>
    Effect.catchIf(sql.withTransaction(statements), isSqlError, (error) => run(Effect.fail(error)))

  const wake = (id: string) =>
    Effect.flatMap(run(sql`UPDATE fleet_account SET revision = nextval('fleet_revision') WHERE id = ${id} RETURNING id`), (rows) =>
      rows.length === 0 ? accountNotFound(id) : Effect.void)

  const withPrefix = (prefix: string) =>
    Stream.paginateChunkEffect("", (after) =>
      Effect.map(run(pageAfter({ after, prefix })), (rows) => [
        Chunk.unsafeFromArray(rows),
        Option.map(Option.filter(Option.fromNullable(rows.at(-1)), () => rows.length === page), ({ id }) => id)
      ]))

  const rowsOf = (accounts: ReadonlyArray<AccountSettings>) =>
    sql`SELECT value ->> 'id' AS id, value ->> 'base_url' AS base_url, value ->> 'key' AS key, value ->> 'source' AS source,
      value -> 'options' AS options FROM jsonb_array_elements(${JSON.stringify(encode(accounts))}::jsonb) AS one (value)`

  // In the order of the ids, so that two imports at the same time can't lock each other out.
  const store = (rows: Fragment) =>
    Effect.map(
      sql<{ added: number; updated: number }>`WITH stored AS (
        INSERT INTO fleet_account (id, base_url, key, source, options) SELECT id, base_url, key, source, options FROM (${rows}) AS row ORDER BY id
        ON CONFLICT (id) DO UPDATE SET base_url = excluded.base_url, key = excluded.key, source = excluded.source, options = excluded.options,
          revision = nextval('fleet_revision'), problem = NULL, problem_at = NULL
        WHERE (fleet_account.base_url, fleet_account.key, fleet_account.source, fleet_account.options)
          IS DISTINCT FROM (excluded.base_url, excluded.key, excluded.source, excluded.options)
        RETURNING xmax = 0 AS is_new)
      SELECT count(*) FILTER (WHERE is_new) AS added, count(*) FILTER (WHERE NOT is_new) AS updated FROM stored`,
      ([counts = { added: 0, updated: 0 }]) => counts
    )
  return {
    all: withPrefix(""),
    withPrefix,
    get: (id) => Effect.flatMap(run(one(id)), orNotFound(id)),
    some: (ids) => Effect.map(run(several(ids)), (rows) => new Map(rows.map((row) => [row.id, row]))),
    add: (account) =>
      Effect.flatMap(
        run(sql`INSERT INTO fleet_account (id, base_url, key, source, options) ${rowsOf([account])} ON CONFLICT DO NOTHING RETURNING id`),
        (rows) => rows.length === 0 ? accountExists(account.id) : Effect.void
      ),
    // Collected in a table of the transaction first, so that the locks of runners wait for the last statement only.
    putAll: (accounts) =>
      inTransaction(Effect.gen(function*() {
        yield* run(sql`CREATE TEMPORARY TABLE imported (id TEXT, base_url TEXT, key TEXT, source TEXT, options JSONB) ON COMMIT DROP`)
        let all = 0
        yield* Stream.runForEachChunk(Stream.rechunk(accounts, page), (chunk) => {
          all += chunk.length
          return run(sql`INSERT INTO imported (id, base_url, key, source, options) ${rowsOf(Chunk.toReadonlyArray(chunk))}`)
        })
        const { added, updated } = yield* run(store(sql`SELECT * FROM imported`))
        return { added, updated, unchanged: all - added - updated }
      })),
    update: (id, change) =>
      inTransaction(Effect.gen(function*() {
        const before = yield* Effect.flatMap(run(locked(id)), orNotFound(id))
        const { updated } = yield* run(store(rowsOf([yield* change(before)])))
        return updated > 0
      })),
    setPaused: (ids, paused) =>
      inTransaction(Effect.gen(function*() {
        const known = yield* run(sql<{ id: string; paused: boolean }>`SELECT id, paused FROM fleet_account
          WHERE id IN ${sql.in(ids)} ORDER BY id FOR NO KEY UPDATE`)
        const missing = ids.find((id) => known.every((row) => row.id !== id))
        if (missing !== undefined) return yield* accountNotFound(missing)
        const changed = known.filter((row) => row.paused !== paused).map(({ id }) => id)
        if (changed.length > 0) {
          // Nobody looks whether a paused account still has its problem.
          yield* run(
            sql`UPDATE fleet_account SET paused = ${paused}, revision = nextval('fleet_revision'), problem = NULL, problem_at = NULL
            WHERE id IN ${sql.in(changed)}`
          )
        }
        return changed
      })),
    swap: (changes) =>
      changes.length === 0 ? Effect.succeed(0) : Effect.map(
        run(sql`UPDATE fleet_account SET key = after.key, source = after.source, options = after.options
          FROM (${rowsOf(changes.map(({ before }) => before))}) AS before JOIN (${
          rowsOf(changes.map(({ after }) => after))
        }) AS after USING (id)
          WHERE fleet_account.id = before.id
            AND (fleet_account.key, fleet_account.source, fleet_account.options) = (before.key, before.source, before.options)
          RETURNING fleet_account.id`),
        (rows) => rows.length
      ),
    wake,
    adopt: (id) =>
      Effect.zipRight(
        run(sql`UPDATE ledger_account SET key_fingerprint = '', base_url = fleet_account.base_url FROM fleet_account
          WHERE fleet_account.id = ${id} AND ledger_account.account = fleet_account.number`),
        wake(id)
      ),
    // Its worker may hold the locks of some rows for a moment.
    remove: (id) =>
      Effect.flatMap(
        run(Effect.retry(sql`DELETE FROM fleet_account WHERE id = ${id} RETURNING id`, { while: isConflict, schedule: conflictRetries })),
        (rows) => rows.length === 0 ? accountNotFound(id) : Effect.void
      )
  } satisfies FleetAccounts["Type"]
})

export const layer: Layer.Layer<FleetAccounts, never, FleetDatabase> = Layer.effect(FleetAccounts, make)
