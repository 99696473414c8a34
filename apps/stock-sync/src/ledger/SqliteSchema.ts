/**
 * The schema of a ledger file, and the migration of files of earlier versions.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Tables from "./Tables.js"

/**
 * Marks a database file as a ledger ("PLZS" in ASCII), so that nobody else's database is written to.
 *
 * @since 0.1.0
 * @category constants
 */
export const applicationId = 0x504c5a53

const sqlite: Tables.Dialect = {
  integer: "INTEGER",
  text: "TEXT",
  generated: "VIRTUAL",
  serial: "INTEGER PRIMARY KEY",
  keyed: " STRICT, WITHOUT ROWID",
  plain: " STRICT"
}

/** From each earlier version to today's. A file's `user_version` says which one it has; an empty file has 0. */
const upgrades: Readonly<Record<number, ReadonlyArray<string>>> = {
  0: [...Tables.create(sqlite), `PRAGMA application_id = ${applicationId}`],
  1: Tables.upgrade(sqlite, 1),
  2: Tables.upgrade(sqlite, 2)
}

const inOrder = (sql: SqlClient.SqlClient, statements: ReadonlyArray<string>) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })

/**
 * Brings a file from its version to today's, whole or not at all.
 *
 * @since 0.1.0
 * @category migrations
 */
export const migrate = (sql: SqlClient.SqlClient, from: number): Effect.Effect<void, SqlError> =>
  from === Tables.version
    ? Effect.void
    : sql.withTransaction(inOrder(sql, [...upgrades[from] ?? [], `PRAGMA user_version = ${Tables.version}`]))

/**
 * Lays copies of the tables over those of the file, for this connection alone. Needs a file of today's version or an empty one.
 *
 * @since 0.1.0
 * @category migrations
 */
export const shadow = (sql: SqlClient.SqlClient, empty: boolean): Effect.Effect<void, SqlError> =>
  inOrder(sql, Tables.shadow(sqlite, empty ? undefined : "main"))
