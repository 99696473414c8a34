/**
 * Where the rows of a snapshot wait until the last one has been read: tables of this session alone, beside the ledger, which vanish with
 * the session, also by a crash. Knows nothing of what becomes of the rows.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Row } from "@plaza/rows/Stock"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"

/**
 * Rows a statement: enough that the statement's own cost vanishes, few enough to stay in a page of memory.
 *
 * @since 0.1.0
 * @category constants
 */
export const batch = 2_000

// Lines named in the reason of a product that stands more than once.
const linesNamed = 10

// What a database can't keep or index as it stands. No service has such ids; a broken file may.
const longest = 500
const unkeepable = /\0|\p{Surrogate}/u
const kept = (id: string | undefined) => id !== undefined && id.length <= longest && !unkeepable.test(id) ? id : null

const cells = (row: Row): ReadonlyArray<string | number | null> => {
  const id = kept(row.productId)
  if (row._tag === "Bad") return [row.line, id, null, row.reason]
  return id === null
    ? [row.line, null, null, `the product's id is longer than ${longest} characters or holds one that is none: it can't be kept`]
    : [row.line, id, row.stock, null]
}

/** @since 0.1.0 @category statements */
export const open = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  sql`CREATE TEMP TABLE staged (line BIGINT NOT NULL, id TEXT, stock BIGINT, reason TEXT)`

/** @since 0.1.0 @category statements */
export const gather = (sql: SqlClient.SqlClient, rows: Chunk.Chunk<Row>): Effect.Effect<unknown, SqlError> => {
  const json = JSON.stringify(Chunk.toReadonlyArray(rows).map(cells))
  return sql.onDialectOrElse({
    pg: () =>
      sql`INSERT INTO staged SELECT (value ->> 0)::bigint, value ->> 1, (value ->> 2)::bigint, value ->> 3
        FROM json_array_elements(${json}::json) AS one (value)`,
    orElse: () => sql`INSERT INTO staged SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(${json})`
  })
}

// SQLite reads the index alone, since it holds every column; Postgres joins by hashing and wants to know how much there is.
const index = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => sql`ANALYZE staged`,
    orElse: () => sql`CREATE INDEX staged_id ON staged (id, stock, line, reason)`
  })

// Which of two rows tells the truth can't be known, so neither counts. That holds as well where one of them can't be read.
const findTwice = (sql: SqlClient.SqlClient) =>
  sql`CREATE TEMP TABLE twice AS
    SELECT id, count(*) AS times, string_agg(CASE WHEN place <= ${sql.literal(String(linesNamed))} THEN CAST(line AS TEXT) END, ', ' ORDER BY line) AS lines
    FROM (
      SELECT id, line, row_number() OVER (PARTITION BY id ORDER BY line) AS place FROM staged
      WHERE id IN (SELECT id FROM staged WHERE id > '' GROUP BY id HAVING count(*) > 1)
    ) AS each_line GROUP BY id`

/**
 * The rows that count, to be put behind WHERE.
 *
 * @since 0.1.0
 * @category statements
 */
export const good = "staged.id > '' AND staged.reason IS NULL AND staged.id NOT IN (SELECT id FROM twice)"

/**
 * Ends the gathering: from here on `good` can be asked for.
 *
 * @since 0.1.0
 * @category statements
 */
export const close = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> => Effect.zipRight(index(sql), findTwice(sql))

/** @since 0.1.0 @category statements */
export const drop = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  Effect.forEach(["staged", "twice", "taken"], (name) => sql`DROP TABLE IF EXISTS ${sql.literal(name)}`, { discard: true })

/**
 * Whether a row was set aside that names no product or one that the ledger doesn't know: any product that seems to be gone may be its.
 *
 * @since 0.1.0
 * @category statements
 */
export const unclaimed = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError> =>
  Effect.map(
    sql`SELECT 1 FROM staged WHERE (reason IS NOT NULL OR id IN (SELECT id FROM twice))
      AND NOT EXISTS (SELECT 1 FROM product WHERE product.id = staged.id) LIMIT 1`,
    (rows) => rows.length > 0
  )

/**
 * Writes down what was set aside, with the reasons.
 *
 * @since 0.1.0
 * @category statements
 */
export const noteSetAside = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  Effect.zipRight(
    sql`DELETE FROM set_aside`,
    sql`INSERT INTO set_aside (place, line, product_id, reason)
      SELECT row_number() OVER (ORDER BY staged.line), staged.line, staged.id,
        CASE WHEN twice.id IS NULL THEN staged.reason ELSE
          coalesce(staged.reason || '; ', '') || 'the product stands on ' || twice.times || ' lines (' || twice.lines ||
          CASE WHEN twice.times > ${sql.literal(String(linesNamed))} THEN ', …' ELSE '' END || '): keep one of them'
        END
      FROM staged LEFT JOIN twice ON twice.id = staged.id
      WHERE staged.reason IS NOT NULL OR twice.id IS NOT NULL`
  )
