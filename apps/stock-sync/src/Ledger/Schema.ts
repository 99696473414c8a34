/**
 * The tables of a ledger file, and how a file of an earlier version becomes one of this. Ids are text throughout: "007" stays "007".
 * Knows nothing of what the rows mean.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"

/**
 * Marks a database file as a ledger ("PLZS" in ASCII), so that nobody else's database is written to.
 *
 * @since 0.1.0
 * @category constants
 */
export const applicationId = 0x504c5a53

const account = "account (one INTEGER PRIMARY KEY CHECK (one = 1), base_url TEXT NOT NULL, account_id TEXT NOT NULL) STRICT"

const product = `product (
  id TEXT PRIMARY KEY NOT NULL,
  wanted INTEGER NOT NULL,
  confirmed INTEGER,
  confirmed_at INTEGER,
  sent INTEGER,
  doubt INTEGER,
  attempts INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('settled', 'pending', 'sending', 'doubtful', 'quarantined')),
  refusal_tag TEXT,
  refusal_code TEXT,
  refusal_message TEXT,
  refused INTEGER,
  line INTEGER NOT NULL,
  snapshot INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID`

const setAside = "set_aside (line INTEGER NOT NULL, product_id TEXT, reason TEXT NOT NULL) STRICT"

// The number of the last snapshot; a product belongs to it that carries the same number.
const snapshot = "snapshot (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, taken_at INTEGER) STRICT"

const tables = [account, product, setAside, snapshot]
const nameOf = (table: string) => table.slice(0, table.indexOf(" "))

/**
 * Every step from an empty file to the tables of today; a file's `user_version` says how many it has behind it. Steps are only ever
 * added at the end.
 */
const migrations: ReadonlyArray<ReadonlyArray<string>> = [
  [
    ...tables.map((table) => `CREATE TABLE ${table}`),
    "CREATE INDEX product_unsettled ON product (id) WHERE state <> 'settled'",
    "INSERT INTO snapshot (one, number, taken_at) VALUES (1, 0, NULL)",
    `PRAGMA application_id = ${applicationId}`
  ]
]

/**
 * The version this program writes.
 *
 * @since 0.1.0
 * @category constants
 */
export const version = migrations.length

/**
 * Brings a file from its version to today's, whole or not at all.
 *
 * @since 0.1.0
 * @category migrations
 */
export const migrate = (sql: SqlClient.SqlClient, from: number): Effect.Effect<void, SqlError> =>
  from === version
    ? Effect.void
    : sql.withTransaction(Effect.forEach(
      [...migrations.slice(from).flat(), `PRAGMA user_version = ${version}`],
      (statement) => sql.unsafe(statement),
      { discard: true }
    ))

/**
 * Lays copies of the tables over those of the file, for this connection alone: from here on everything is read and written in the
 * copies, and the file stays as it is. Needs a file of today's version or an empty one.
 *
 * @since 0.1.0
 * @category migrations
 */
export const shadow = (sql: SqlClient.SqlClient, empty: boolean): Effect.Effect<void, SqlError> =>
  Effect.forEach(
    [
      ...tables.flatMap((table) => [
        `CREATE TEMP TABLE ${table}`,
        ...(empty ? [] : [`INSERT INTO temp.${nameOf(table)} SELECT * FROM main.${nameOf(table)}`])
      ]),
      ...(empty ? ["INSERT INTO temp.snapshot (one, number, taken_at) VALUES (1, 0, NULL)"] : [])
    ],
    (statement) => sql.unsafe(statement),
    { discard: true }
  )
