/** Several statements as one: most of the time of a short one is that of the way to the database. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment, Statement } from "@effect/sql/Statement"
import * as Effect from "effect/Effect"

export type Write = Statement<unknown>

/** Queries by the name under which other statements read them. One may read those before it. */
export type Relations = Readonly<Record<string, Fragment>>

/** The clause in front of a statement that reads these relations. */
export const withRelations = (sql: SqlClient.SqlClient, relations: Relations): Fragment =>
  sql`WITH ${sql.csv(Object.entries(relations).map(([name, query]) => sql`${sql.literal(name)} AS (${query})`))}`

/** Runs statements of which none needs what another one writes, and no two write the same row: in Postgres as one. */
export const together = (sql: SqlClient.SqlClient, statements: ReadonlyArray<Write>): Effect.Effect<unknown, SqlError> =>
  sql.onDialectOrElse({
    pg: () => writeTogether(sql, {}, statements),
    orElse: () => sql.withTransaction(Effect.all(statements, { discard: true }))
  })

/** Runs such statements in Postgres, which read these relations. */
export const writeTogether = (
  sql: SqlClient.SqlClient,
  relations: Relations,
  statements: ReadonlyArray<Write>
): Effect.Effect<unknown, SqlError> => {
  const steps = Object.fromEntries(statements.map((statement, index) => [`step_${index}`, statement]))
  return Effect.asVoid(sql`${withRelations(sql, { ...relations, ...steps })} SELECT 1`)
}
