/** The tables of a fleet. `fleet migrate` creates them; runners only check that they are there. */
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { exclusively, FleetDatabase, schema } from "./FleetDatabase.ts"
import { FleetDatabaseError, notPrepared } from "./FleetError.ts"
import * as LedgerSchema from "./ledger/LedgerSchema.ts"
import * as StatusTables from "./operations/StatusTables.ts"

const inOrder = (...statements: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true }))

// Ids are compared byte by byte, so that pages do not depend on the database's language. `shard` is set by the first runner that sees the
// account. `epoch` counts the owners of an account: only the newest may write its ledger. `revision` grows with each change of an account,
// so that runners find the changes.
const accounts = [
  "CREATE SEQUENCE fleet_revision",
  `CREATE TABLE fleet_account (
    id TEXT COLLATE "C" PRIMARY KEY,
    shard INTEGER,
    base_url TEXT NOT NULL,
    key TEXT NOT NULL,
    source TEXT NOT NULL,
    options JSONB NOT NULL,
    paused BOOLEAN NOT NULL DEFAULT false,
    revision BIGINT NOT NULL DEFAULT nextval('fleet_revision'),
    epoch BIGINT NOT NULL DEFAULT 0,
    runner TEXT,
    problem TEXT,
    problem_at BIGINT
  )`,
  "CREATE INDEX fleet_account_shard ON fleet_account (shard, revision)",
  "CREATE INDEX fleet_account_problem ON fleet_account (id) WHERE problem IS NOT NULL"
]

const migrations = {
  "0001_fleet": inOrder(...accounts, ...LedgerSchema.create, ...StatusTables.create)
}

/** The version of the tables that this program works with. */
export const version = Object.keys(migrations).length

const table = "fleet_migration"

const found = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError> =>
  Effect.gen(function*() {
    const [there] = yield* sql<{ there: boolean }>`SELECT to_regclass(${`${schema}.${table}`}) IS NOT NULL AS there`
    if (there?.there !== true) return 0
    const [row] = yield* sql<{ version: number | null }>`SELECT max(migration_id) AS version FROM ${sql(table)}`
    return row?.version ?? 0
  })

/** Fails unless the tables are those of this program. */
export const check: Effect.Effect<void, FleetDatabaseError, FleetDatabase> = Effect.gen(function*() {
  const { name, run, sql } = yield* FleetDatabase
  const at = yield* run(found(sql))
  if (at === version) return
  return yield* at < version
    ? notPrepared(name)
    : new FleetDatabaseError({
      database: name,
      message: `the fleet's database ${name} was prepared by a later version of plaza-stock-sync: install that version`
    })
})

/** Creates the tables. Returns the names of the migrations that ran. Fails if a later version has prepared the database. */
export const migrate: Effect.Effect<ReadonlyArray<string>, FleetDatabaseError, FleetDatabase> = Effect.gen(function*() {
  const { run, sql } = yield* FleetDatabase
  const done = yield* run(Effect.gen(function*() {
    // Not IF NOT EXISTS, which requires the right to create a schema even if it is there.
    const there = yield* sql`SELECT 1 WHERE to_regnamespace(${schema}) IS NOT NULL`
    if (there.length === 0) yield* sql`CREATE SCHEMA ${sql(schema)}`
    return yield* Effect.catchTag(Migrator.make({})({ loader: Migrator.fromRecord(migrations), table }), "MigrationError", Effect.die)
  }))
  yield* check
  return done.map(([id, name]) => `${id} ${name}`)
}).pipe(
  Effect.provideServiceEffect(SqlClient.SqlClient, Effect.map(FleetDatabase, ({ sql }) => sql)),
  // Two first runs at the same time would both create the schema. The lock is that of a session, because the migrator looks for its table by
  // a statement that fails, which would end a transaction.
  exclusively(0)
)
