/** The accounts of a fleet, in a table that commands change while runners work. A runner finds changes by the growing `revision`. */
import type { SqlError } from "@effect/sql/SqlError"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { FleetDatabase } from "./FleetDatabase.js"
import { type AccountNotFound, accountNotFound, type FleetDatabaseError } from "./FleetError.js"
import * as KeyReference from "./KeyReference.js"
import * as SourceReference from "./SourceReference.js"

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

const Row = Schema.Struct({
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

const columns = "id, base_url, key, source, options, paused, revision, shard, epoch, runner, problem"

// Accounts a page: a page is in memory at a time, whatever the size of the fleet.
const page = 1_000

export class FleetAccounts extends Context.Tag("@plaza/stock-sync/fleet/FleetAccounts")<FleetAccounts, {
  /** Every account, by id. */
  readonly all: Stream.Stream<FleetAccount, FleetDatabaseError>
  readonly get: (id: string) => Effect.Effect<FleetAccount, AccountNotFound | FleetDatabaseError>
  /** Adds accounts, and replaces the settings of those that exist; whether they are paused stays. Returns how many were new. */
  readonly put: (accounts: ReadonlyArray<AccountSettings>) => Effect.Effect<{ readonly added: number }, FleetDatabaseError>
  readonly setPaused: (id: string, paused: boolean) => Effect.Effect<void, AccountNotFound | FleetDatabaseError>
  /** Removes an account and its ledger. */
  readonly remove: (id: string) => Effect.Effect<void, AccountNotFound | FleetDatabaseError>
}>() {}

const make = Effect.gen(function*() {
  const { run, sql } = yield* FleetDatabase
  // The table holds only what these schemas wrote.
  const decoded = <A, R>(statements: Effect.Effect<A, ParseError | SqlError, R>): Effect.Effect<A, SqlError, R> =>
    Effect.catchTag(statements, "ParseError", Effect.die)

  const pageAfter = SqlSchema.findAll({
    Request: Schema.String,
    Result: Row,
    execute: (after) => sql`SELECT ${sql.literal(columns)} FROM fleet_account WHERE id > ${after} ORDER BY id LIMIT ${page}`
  })
  const one = SqlSchema.findOne({
    Request: Schema.String,
    Result: Row,
    execute: (id) => sql`SELECT ${sql.literal(columns)} FROM fleet_account WHERE id = ${id}`
  })
  const changed = (id: string, statement: Effect.Effect<ReadonlyArray<unknown>, SqlError>) =>
    Effect.flatMap(run(statement), (rows) => rows.length === 0 ? accountNotFound(id) : Effect.void)
  const encode = Schema.encodeSync(Schema.Array(Settings))

  return {
    all: Stream.paginateChunkEffect("", (after) =>
      Effect.map(run(decoded(pageAfter(after))), (rows) => [
        Chunk.unsafeFromArray(rows),
        Option.map(Option.filter(Option.fromNullable(rows.at(-1)), () => rows.length === page), ({ id }) => id)
      ])),
    get: (id) => Effect.flatMap(run(decoded(one(id))), Option.match({ onNone: () => accountNotFound(id), onSome: Effect.succeed })),
    put: (accounts) =>
      Effect.map(
        run(sql<{ isNew: boolean }>`INSERT INTO fleet_account (id, base_url, key, source, options)
          SELECT value ->> 'id', value ->> 'base_url', value ->> 'key', value ->> 'source', value -> 'options'
          FROM jsonb_array_elements(${JSON.stringify(encode(accounts))}::jsonb) AS one (value)
          ON CONFLICT (id) DO UPDATE SET base_url = excluded.base_url, key = excluded.key, source = excluded.source, options = excluded.options,
            revision = nextval('fleet_revision'), problem = NULL, problem_at = NULL
          RETURNING (xmax = 0) AS "isNew"`),
        (rows) => ({ added: rows.filter(({ isNew }) => isNew).length })
      ),
    setPaused: (id, paused) =>
      changed(id, sql`UPDATE fleet_account SET paused = ${paused}, revision = nextval('fleet_revision') WHERE id = ${id} RETURNING id`),
    remove: (id) => changed(id, sql`DELETE FROM fleet_account WHERE id = ${id} RETURNING id`)
  } satisfies FleetAccounts["Type"]
})

export const layer: Layer.Layer<FleetAccounts, never, FleetDatabase> = Layer.effect(FleetAccounts, make)
