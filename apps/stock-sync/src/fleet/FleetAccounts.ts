/** The accounts of a fleet, in a table that commands change while runners work. A runner finds changes by the growing `revision`. */
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import * as Rows from "../ledger/Rows.ts"
import { tableNames } from "../ledger/Schema.ts"
import * as AccountSelection from "./AccountSelection.ts"
import { FleetDatabase } from "./FleetDatabase.ts"
import { type AccountExists, accountExists, type AccountNotFound, accountNotFound, type FleetDatabaseError } from "./FleetError.ts"
import * as KeyReference from "./KeyReference.ts"
import * as SourceReference from "./SourceReference.ts"

const Id = Schema.String.check(Schema.isPattern(/^[^\p{Cc}\p{Surrogate}]{1,200}$/u))

export const isId = Schema.is(Id)

/** What an operator sets. */
const Settings = Schema.Struct({
  /** At most 200 characters, none of them a control character. */
  id: Id,
  baseUrl: Schema.String,
  key: KeyReference.FromText,
  source: SourceReference.FromText,
  /**
   * Options of the single-store worker by their names without dashes, such as `stock-column`. Those that are secrets are references, as
   * `KeyReference` encodes them.
   */
  options: Schema.Record(Schema.String, Schema.String)
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
  revision: Schema.Int,
  shard: Schema.NullOr(Schema.Int),
  epoch: Schema.Int,
  runner: Schema.NullOr(Schema.String),
  /** Why the account can't be worked on, from its runner. */
  problem: Schema.NullOr(Schema.String)
})
export type FleetAccount = typeof Row.Type

/** The columns of a `Row`, from `fleet_account JOIN account USING (account)`. */
export const columns =
  "id, fleet_account.base_url AS \"baseUrl\", key, source, options, paused, revision, shard, epoch, owner AS runner, problem"

// Accounts a page: a page is in memory at a time, whatever the size of the fleet.
const page = 1_000

// Accounts a statement: a text of a few megabytes.
const perStatement = 10_000

/** How many accounts were new, how many have other settings now, and how many stayed as they were. */
export interface Stored {
  readonly added: number
  readonly updated: number
  readonly unchanged: number
}

export class FleetAccounts extends Context.Service<FleetAccounts, {
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
   * do not change are not touched. Collects them first, and stores all of them, or none if the stream fails.
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
}>()("@plaza/stock-sync/fleet/FleetAccounts") {}

const conflicts: ReadonlySet<string> = new Set(["LockTimeoutError", "DeadlockError", "SerializationError"])
const isConflict = (error: AccountNotFound | Schema.SchemaError | SqlError): boolean =>
  error._tag === "SqlError" && conflicts.has(error.reason._tag)
const conflictRetries = Schedule.jittered(Schedule.spaced("100 millis"))

const make = Effect.gen(function*() {
  const { run, sql } = yield* FleetDatabase
  const isSelected = AccountSelection.condition(sql)
  const selected = sql.literal(`SELECT ${columns} FROM fleet_account JOIN account USING (account)`)
  const rows = Rows.all(Row)
  const row = (id: string, lock = "") =>
    Effect.flatMap(Rows.first(Row)(sql`${selected} WHERE id = ${id} ${sql.literal(lock)}`), orNotFound(id))
  const encode = Schema.encodeSync(Schema.Array(Settings))
  const orNotFound = (id: string) => <A>(found: Option.Option<A>): Effect.Effect<A, AccountNotFound> =>
    Option.match(found, { onNone: () => accountNotFound(id), onSome: Effect.succeed })

  const touched = (id: string) => sql`UPDATE fleet_account SET revision = nextval('fleet_revision') WHERE id = ${id} RETURNING id`
  const wake = (id: string) => Effect.flatMap(touched(id), ([found]) => found === undefined ? accountNotFound(id) : Effect.void)

  const withPrefix = (prefix: string) =>
    Stream.paginate("", (after) =>
      Effect.map(
        run(rows(sql`${selected} WHERE id > ${after} AND id >= ${prefix} AND starts_with(id, ${prefix}) ORDER BY id LIMIT ${page}`)),
        (found) => [found, found.length === page ? Option.map(Arr.last(found), ({ id }) => id) : Option.none<string>()] as const
      ))

  const rowsOf = (accounts: ReadonlyArray<AccountSettings>) =>
    sql`SELECT value ->> 'id' AS id, value ->> 'baseUrl' AS base_url, value ->> 'key' AS key, value ->> 'source' AS source,
      value -> 'options' AS options FROM jsonb_array_elements(${JSON.stringify(encode(accounts))}::jsonb) AS one (value)`

  const Counts = Schema.Struct({ added: Schema.Int, updated: Schema.Int })
  const insert = (accounts: ReadonlyArray<AccountSettings>, onConflict: string) =>
    Rows.only(Counts)(sql`WITH stored AS (
        INSERT INTO fleet_account (id, base_url, key, source, options) SELECT * FROM (${rowsOf(accounts)}) AS row ORDER BY id COLLATE "C"
        ON CONFLICT (id) ${sql.literal(onConflict)} RETURNING xmax = 0 AS is_new, account),
      ledgers AS (INSERT INTO account (account) SELECT account FROM stored WHERE is_new),
      snapshots AS (INSERT INTO snapshot (account) SELECT account FROM stored WHERE is_new)
      SELECT count(*) FILTER (WHERE is_new) AS added, count(*) FILTER (WHERE NOT is_new) AS updated FROM stored`)
  const store = (accounts: ReadonlyArray<AccountSettings>) =>
    insert(
      accounts,
      `DO UPDATE SET base_url = excluded.base_url, key = excluded.key, source = excluded.source, options = excluded.options,
          revision = nextval('fleet_revision'), problem = NULL, problem_at = NULL
        WHERE (fleet_account.base_url, fleet_account.key, fleet_account.source, fleet_account.options)
          IS DISTINCT FROM (excluded.base_url, excluded.key, excluded.source, excluded.options)`
    )

  return FleetAccounts.of({
    all: withPrefix(""),
    withPrefix,
    get: (id) => run(row(id)),
    some: (ids) =>
      Effect.map(run(rows(sql`${selected} WHERE id IN ${sql.in(ids)}`)), (found) => new Map(found.map((row) => [row.id, row]))),
    add: (account) =>
      Effect.flatMap(run(insert([account], "DO NOTHING")), ({ added }) => added === 0 ? accountExists(account.id) : Effect.void),
    // Collected first, so that the locks of runners wait for these statements only.
    putAll: (accounts) =>
      Effect.flatMap(Stream.runCollect(accounts), (all) =>
        // All statements that wait for several accounts lock them by id, byte by byte: none can lock another out.
        run(sql.withTransaction(Effect.forEach(Arr.chunksOf(sortedById(all), perStatement), store))).pipe(
          Effect.map((counts) => {
            const added = counts.reduce((sum, count) => sum + count.added, 0)
            const updated = counts.reduce((sum, count) => sum + count.updated, 0)
            return { added, updated, unchanged: all.length - added - updated }
          })
        )),
    update: (id, change) =>
      run(sql.withTransaction(Effect.gen(function*() {
        const { updated } = yield* store([yield* change(yield* row(id, "FOR NO KEY UPDATE OF fleet_account"))])
        return updated > 0
      }))),
    setPaused: (ids, paused) =>
      run(sql.withTransaction(Effect.gen(function*() {
        const known = yield* Rows.all(Schema.Struct({ id: Id, paused: Schema.Boolean }))(
          sql`SELECT id, paused FROM fleet_account WHERE id IN ${sql.in(ids)} ORDER BY id FOR NO KEY UPDATE`
        )
        const missing = ids.find((id) => known.every((row) => row.id !== id))
        if (missing !== undefined) return yield* accountNotFound(missing)
        const changed = known.filter((row) => row.paused !== paused).map(({ id }) => id)
        if (changed.length > 0) {
          // Nobody looks whether a paused account still has its problem.
          yield* sql`UPDATE fleet_account SET paused = ${paused}, revision = nextval('fleet_revision'), problem = NULL, problem_at = NULL
            WHERE id IN ${sql.in(changed)}`
        }
        return changed
      }))),
    swap: (changes) =>
      changes.length === 0 ? Effect.succeed(0) : Effect.map(
        run(sql`WITH locked AS MATERIALIZED (
            SELECT id FROM fleet_account WHERE ${isSelected({ _tag: "Ids", ids: changes.map(({ before }) => before.id) })}
            ORDER BY id FOR NO KEY UPDATE)
          UPDATE fleet_account SET key = after.key, source = after.source, options = after.options
          FROM locked JOIN (${rowsOf(changes.map(({ before }) => before))}) AS before USING (id) JOIN (${
          rowsOf(changes.map(({ after }) => after))
        }) AS after USING (id)
          WHERE fleet_account.id = locked.id
            AND (fleet_account.key, fleet_account.source, fleet_account.options) = (before.key, before.source, before.options)
          RETURNING fleet_account.id`),
        (found) => found.length
      ),
    wake: (id) => run(wake(id)),
    // A ledger that is not bound yet takes the next key and address anyway.
    adopt: (id) =>
      run(sql.withTransaction(Effect.andThen(
        sql`UPDATE account SET key_fingerprint = '', base_url = fleet_account.base_url FROM fleet_account
          WHERE fleet_account.id = ${id} AND account.account = fleet_account.account AND account.base_url IS NOT NULL`,
        wake(id)
      ))),
    remove: (id) =>
      run(
        sql.withTransaction(Effect.gen(function*() {
          const { account } = yield* Effect.flatMap(
            // First, so that no owner can write rows of the account any more.
            Rows.first(Schema.Struct({ account: Schema.Int }))(
              sql`DELETE FROM account USING fleet_account WHERE id = ${id} AND account.account = fleet_account.account
              RETURNING fleet_account.account`
            ),
            orNotFound(id)
          )
          for (const table of ["fleet_account", ...tableNames]) yield* sql`DELETE FROM ${sql(table)} WHERE account = ${account}`
        })).pipe(
          // Its worker may hold the locks of some rows for a moment.
          Effect.retry({ while: isConflict, schedule: conflictRetries, times: 50 })
        )
      )
  })
})

/** As the database sorts ids. */
const sortedById = (accounts: ReadonlyArray<AccountSettings>): ReadonlyArray<AccountSettings> =>
  accounts.map((account) => ({ account, bytes: Buffer.from(account.id) }))
    .sort((one, other) => Buffer.compare(one.bytes, other.bytes))
    .map(({ account }) => account)

export const layer: Layer.Layer<FleetAccounts, never, FleetDatabase> = Layer.effect(FleetAccounts, make)
