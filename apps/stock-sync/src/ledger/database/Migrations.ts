/** The tables of a ledger and their version, by the platform's `Migrator`. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError } from "effect/sql/SqlError"
import type { Failure } from "../Operation.ts"
import * as Rows from "../Rows.ts"
import * as Tables from "../Schema.ts"

/** The table in which the Migrator records the migrations of a ledger. */
export const table = "ledger_migrations"

/** The version of the tables that this program reads and writes. */
export const current = 1

/** What is wrong with a ledger of another version, and what to do. */
export const ofOtherVersion = "was written by another version of plaza-stock-sync: install that version"

export const inOrder = (sql: SqlClient.SqlClient, statements: ReadonlyArray<string>): Effect.Effect<void, SqlError> =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })

const latest = Rows.only(Schema.Struct({ version: Schema.NullOr(Schema.Int) }))

/** The last recorded migration; none if the ledger has no such record. The table has to exist. */
export const recordedVersion = (sql: SqlClient.SqlClient): Effect.Effect<Option.Option<number>, Failure> =>
  Effect.map(latest(sql`SELECT max(migration_id) AS version FROM ${sql(table)}`), ({ version }) => Option.fromNullishOr(version))

/** Creates the tables of a ledger, unless it has them. `further` statements run with their creation, in one transaction. */
export const migrate = (
  sql: SqlClient.SqlClient,
  dialect: Tables.Dialect,
  further: ReadonlyArray<string>
): Effect.Effect<void, SqlError> =>
  Migrator.make({})({
    table,
    loader: Effect.succeed([[current, "ledger", Effect.succeed(inOrder(sql, [...Tables.create(dialect), ...further]))]])
  }).pipe(
    Effect.provideService(SqlClient.SqlClient, sql),
    Effect.catchTag("MigrationError", (error) => error.cause instanceof SqlError ? Effect.fail(error.cause) : Effect.die(error)),
    Effect.asVoid
  )
