/** The tables of a fleet. `fleet migrate` creates them; runners only check that they are there. */
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { inOrder } from "../ledger/database/Migrations.ts"
import * as Rows from "../ledger/Rows.ts"
import * as Tables from "../ledger/Schema.ts"
import { FleetDatabase, schema } from "./FleetDatabase.ts"
import { FleetDatabaseError, notPrepared } from "./FleetError.ts"
import * as StatusTables from "./operations/StatusTables.ts"

// Ids are compared byte by byte, so that pages do not depend on the database's language. `account` stands for the account in the tables of
// the ledgers: it is shorter than the id, and an account that is removed and added again has another one, and so an empty ledger. `shard` is
// set by the first runner that sees the account. `revision` grows with each change of an account, so that runners find the changes.
const accounts = [
  "CREATE SEQUENCE fleet_revision",
  `CREATE TABLE fleet_account (
    id TEXT COLLATE "C" PRIMARY KEY,
    account BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
    shard INTEGER,
    base_url TEXT NOT NULL,
    key TEXT NOT NULL,
    source TEXT NOT NULL,
    options JSONB NOT NULL,
    paused BOOLEAN NOT NULL DEFAULT false,
    revision BIGINT NOT NULL DEFAULT nextval('fleet_revision'),
    problem TEXT,
    problem_at BIGINT
  )`,
  "CREATE INDEX fleet_account_shard ON fleet_account (shard, revision)",
  "CREATE INDEX fleet_account_problem ON fleet_account (id) WHERE problem IS NOT NULL"
]

// The defaults wait until a fifth of a table has changed, which takes long for the ledgers of thousands of accounts.
const maintenance = [
  "ALTER TABLE product SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)",
  "ALTER TABLE history SET (autovacuum_vacuum_scale_factor = 0.05)",
  "ALTER TABLE request SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)"
]

const statements = [...Tables.create(Tables.postgres), ...accounts, ...StatusTables.create, ...maintenance]

/** The version of the tables that this program works with. */
export const version = 1

const table = "fleet_migration"

const thereRow = Rows.only(Schema.Struct({ there: Schema.Boolean }))
const versionRow = Rows.only(Schema.Struct({ version: Schema.NullOr(Schema.Int) }))

/** Fails unless the tables are those of this program. */
export const check: Effect.Effect<void, FleetDatabaseError, FleetDatabase> = Effect.gen(function*() {
  const { name, run, sql } = yield* FleetDatabase
  const found = yield* run(Effect.gen(function*() {
    const { there } = yield* thereRow(sql`SELECT to_regclass(${`${schema}.${table}`}) IS NOT NULL AS there`)
    return there ? (yield* versionRow(sql`SELECT max(migration_id) AS version FROM ${sql(table)}`)).version ?? 0 : 0
  }))
  if (found < version) return yield* notPrepared(name)
  if (found > version) {
    return yield* new FleetDatabaseError({
      database: name,
      message: `the fleet's database ${name} was prepared by a later version of plaza-stock-sync: install that version`
    })
  }
})

const missingRight = Rows.all(Schema.Struct({ lacking: Schema.String }))

/** Fails if a runner would never own a shard: the library that owns them tries again forever, and says nothing. */
export const checkOwnershipRights: Effect.Effect<void, FleetDatabaseError, FleetDatabase> = Effect.gen(function*() {
  const { name, run, sql } = yield* FleetDatabase
  const [missing] = yield* run(missingRight(sql`SELECT privilege || ' on ' || relation AS lacking
    FROM (VALUES (${`${schema}.cluster_runners`}), (${`${schema}.cluster_locks`})) AS relations (relation)
      CROSS JOIN (VALUES ('SELECT'), ('INSERT'), ('UPDATE'), ('DELETE')) AS privileges (privilege)
    WHERE NOT has_table_privilege(relation, privilege)
    UNION ALL SELECT 'USAGE on ' || relation FROM (VALUES (${`${schema}.cluster_runners_machine_id_seq`})) AS sequences (relation)
    WHERE NOT has_sequence_privilege(relation, 'USAGE')`))
  if (missing !== undefined) {
    return yield* new FleetDatabaseError({
      database: name,
      message: `the fleet's database ${name} doesn't let this user do what is needed: grant it ${missing.lacking}`
    })
  }
})

// Other programs of the database may use advisory locks too, of other numbers.
const lockClass = 0x706c617a

/** The failure of the statement that ended a migration. */
const orSqlError = (error: unknown): Effect.Effect<never, SqlError> =>
  error instanceof Migrator.MigrationError && isSqlError(error.cause) ? Effect.fail(error.cause) : Effect.die(error)

/** Creates the tables. Returns the names of the migrations that ran. Fails if a later version has prepared the database. */
export const migrate: Effect.Effect<ReadonlyArray<string>, FleetDatabaseError, FleetDatabase> = Effect.gen(function*() {
  const { run, sql } = yield* FleetDatabase
  const done = yield* run(sql.withTransaction(Effect.gen(function*() {
    // Two first runs at the same time would both create the schema.
    yield* sql`SELECT pg_advisory_xact_lock(${lockClass}, 0)`
    // Not IF NOT EXISTS, which requires the right to create a schema even if it is there.
    const there = yield* sql`SELECT 1 WHERE to_regnamespace(${schema}) IS NOT NULL`
    if (there.length === 0) yield* sql`CREATE SCHEMA ${sql(schema)}`
    const migrations = yield* Effect.catchTag(
      Migrator.make({})({ table, loader: Effect.succeed([[version, "fleet", Effect.succeed(inOrder(sql, statements))]]) }),
      "MigrationError",
      orSqlError
    )
    // The tables of the library that owns shards. It reports a failure as a defect.
    yield* Effect.catchDefect(Effect.scoped(Layer.build(SqlRunnerStorage.layerMigrations({}))), orSqlError)
    return migrations
  })).pipe(Effect.provideService(SqlClient.SqlClient, sql)))
  yield* check
  return done.map(([id, name]) => `${id} ${name}`)
})
