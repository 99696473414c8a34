/**
 * The version of a ledger's tables, and its migrations by the platform's `Migrator`. Locks, reading without migration and the refusal
 * of other versions are not the Migrator's: docs/decisions/032-ledger-migrations.md.
 */
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Dialect from "./Dialect.ts"
import * as LedgerRows from "./LedgerRows.ts"
import * as Tables from "./Tables.ts"

/** The table in which the Migrator records the migrations of a ledger. */
export const table = "ledger_migrations"

/** The version of the tables that this program reads and writes. */
export const current = 1

/** What is wrong with a ledger of another version, and what to do. */
export const ofOtherVersion = "was written by another version of plaza-stock-sync: install that version"

export const inOrder = (sql: SqlClient.SqlClient, statements: ReadonlyArray<string>): Effect.Effect<void, SqlError> =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })

const latest = LedgerRows.first(Schema.Struct({ version: Schema.NullOr(Schema.Int) }))

/** The last recorded migration; none if the ledger has no such record. The table has to exist. */
export const recordedVersion = (sql: SqlClient.SqlClient): Effect.Effect<Option.Option<number>, SqlError | ParseError> =>
  Effect.map(
    latest(sql`SELECT max(migration_id) AS version FROM ${sql(table)}`),
    Option.flatMapNullable(({ version }) => version)
  )

/** Creates the tables of a ledger without any. `onCreate` runs with their creation, in one transaction. */
export const migrate = (
  sql: SqlClient.SqlClient,
  dialect: Dialect.Dialect,
  found: Option.Option<number>,
  onCreate: ReadonlyArray<string> = []
): Effect.Effect<void, SqlError | ParseError> =>
  Option.contains(found, current) ? Effect.void : Migrator.make({})({
    table,
    loader: Effect.succeed([[current, "ledger", Effect.succeed(inOrder(sql, [...Tables.create(dialect), ...onCreate]))]])
  }).pipe(
    Effect.provideService(SqlClient.SqlClient, sql),
    // The Migrator dies with the failure of a migration.
    Effect.catchSomeDefect((defect) =>
      defect instanceof Migrator.MigrationError && defect.cause instanceof SqlError ? Option.some(Effect.fail(defect.cause)) : Option.none()
    ),
    Effect.catchTag("MigrationError", Effect.die),
    Effect.zipRight(recordedVersion(sql)),
    // The Migrator takes a record that it can't write for a concurrent migration, and succeeds.
    Effect.filterOrFail(
      (version) => Option.contains(version, current),
      () => new SqlError({ cause: new Error("the migration is not recorded"), message: "the migration is not recorded" })
    ),
    Effect.asVoid
  )

/**
 * Creates the indexes that `Tables.create` left out, in the transaction that inserts the first products.
 */
export const ensureIndexes = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError> =>
  sql.onDialectOrElse({
    pg: () =>
      Effect.flatMap(
        sql`SELECT 1 FROM pg_class WHERE oid = 'product'::regclass AND pg_has_role(relowner, 'USAGE') AND to_regclass('product_due') IS NULL`,
        (rows) => rows.length === 0 ? Effect.void : inOrder(sql, Tables.indexesOfNew(Dialect.postgres))
      ),
    orElse: () => Effect.void
  })
