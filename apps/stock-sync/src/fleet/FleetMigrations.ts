/**
 * The tables of a fleet. `fleet migrate` creates them and brings them up to date; runners only check that they are. One migration at a
 * time: the platform's migrator locks its table.
 */
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { FleetDatabase, schema } from "./FleetDatabase.js"
import { FleetDatabaseError, notPrepared } from "./FleetError.js"
import * as LedgerSchema from "./ledger/LedgerSchema.js"
import * as StatusTables from "./operations/StatusTables.js"

const inOrder = (...statements: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true }))

// Ids are compared byte by byte, so that pages do not depend on the database's language. `shard` is set by the first runner that sees the account. `epoch` counts the owners of an account: only the
// newest may write its ledger. `revision` grows with each change of an account, so that runners find the changes.
const accounts = inOrder(
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
)

const migrations = {
  "0001_accounts": accounts,
  "0002_ledgers": inOrder(...LedgerSchema.create),
  "0003_status": inOrder(...StatusTables.create),
  "0004_digests": inOrder(...LedgerSchema.addDigests)
}

/** The version of the tables that this program works with. */
export const version = Object.keys(migrations).length

const table = "fleet_migration"

// Two first runs at the same time both create the schema: the second waits for the first.
const lock = 0x706c617a

/** Creates or updates the tables. Returns the names of the migrations that ran. */
export const migrate: Effect.Effect<ReadonlyArray<string>, FleetDatabaseError, FleetDatabase> = Effect.gen(function*() {
  const { run, sql } = yield* FleetDatabase
  const done = yield* run(Effect.scoped(Effect.gen(function*() {
    // A lock of a session of its own: the migrator looks for its table by a statement that fails, which would end a transaction.
    const session = yield* sql.reserve
    yield* Effect.acquireRelease(
      session.executeRaw("SELECT pg_advisory_lock($1, 0)", [lock]),
      () => Effect.ignore(session.executeRaw("SELECT pg_advisory_unlock($1, 0)", [lock]))
    )
    // Not IF NOT EXISTS, which requires the right to create a schema even if it is there.
    const there = yield* session.execute("SELECT 1 WHERE to_regnamespace($1) IS NOT NULL", [schema], undefined)
    if (there.length === 0) yield* session.executeRaw(`CREATE SCHEMA ${schema}`, [])
    return yield* Effect.catchTag(Migrator.make({})({ loader: Migrator.fromRecord(migrations), table }), "MigrationError", Effect.die)
  })))
  return done.map(([id, name]) => `${id} ${name}`)
}).pipe(Effect.provideServiceEffect(SqlClient.SqlClient, Effect.map(FleetDatabase, ({ sql }) => sql)))

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
