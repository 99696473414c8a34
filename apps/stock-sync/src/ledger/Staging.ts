/**
 * Where the rows of a snapshot wait until the last one was read: tables of this session alone, which vanish with the session,
 * also by a crash.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Row } from "@plaza/tabular/Stock"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import type { SnapshotPolicy } from "./Ledger.js"
import { isKeepable, keepable, texts } from "./LedgerConnection.js"

/** Rows a statement: enough that the statement's own cost vanishes, few enough to stay in a page of memory. */
export const batch = 2_000

// Lines named in the reason of a product that has several rows.
const linesNamed = 10

// What a database can index. No service has longer ids; a broken file may.
const longest = 500
const kept = (id: string | undefined) => id !== undefined && id.length <= longest && isKeepable(id) ? id : null

type Cells = readonly [line: number, id: string | null, stock: number | null, kind: Kind, reason: string | null]
type Duplicates = SnapshotPolicy["duplicates"]
type Kind = "good" | "negative" | "excluded" | "bad"

const cells = (row: Row): Cells => {
  const id = kept(row.productId)
  if (row._tag === "Rejected") return [row.line, id, null, "bad", keepable(row.reason)]
  if (id === null)
    return [
      row.line,
      null,
      null,
      "bad",
      `the product's id is longer than ${longest} characters or holds one that is none: it can't be kept`
    ]
  return [row.line, id, row.stock, row.negative === true ? "negative" : "good", null]
}

export const open = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  sql`CREATE TEMP TABLE staged (line BIGINT NOT NULL, id TEXT, stock BIGINT, kind TEXT NOT NULL, reason TEXT)`

export const gather = (sql: SqlClient.SqlClient, rows: Chunk.Chunk<Row>): Effect.Effect<unknown, SqlError> => {
  const json = JSON.stringify(Chunk.toReadonlyArray(rows).map(cells))
  return sql.onDialectOrElse({
    pg: () =>
      sql`INSERT INTO staged SELECT (value ->> 0)::bigint, value ->> 1, (value ->> 2)::bigint, value ->> 3, value ->> 4
        FROM json_array_elements(${json}::json) AS one (value)`,
    orElse: () => sql`INSERT INTO staged SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(${json})`
  })
}

/** Rows of excluded products do not count; that these are excluded does. */
export const exclude = (sql: SqlClient.SqlClient, excluded: ReadonlySet<string>): Effect.Effect<unknown, SqlError> => {
  if (excluded.size === 0) return Effect.void
  const ids = texts(sql, excluded)
  return Effect.zipRight(
    sql`DELETE FROM staged WHERE id IN (${ids})`,
    sql`INSERT INTO staged (line, id, kind) SELECT 0, value, 'excluded' FROM (${ids}) AS excluded_id`
  )
}

// SQLite reads the index alone, since it holds what is asked for; Postgres joins by hashing and wants to know how much there is.
const index = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => sql`ANALYZE staged`,
    orElse: () => sql`CREATE INDEX staged_id ON staged (id, kind, stock, line)`
  })

const several = "SELECT id FROM staged WHERE id > '' GROUP BY id HAVING count(*) > 1"

/** Rows of one product become one row, if each of them is good: several warehouses may hold the same product. */
const sum = (sql: SqlClient.SqlClient) =>
  Effect.all([
    // Added up as floating-point numbers, which do not overflow and are exact up to the largest sum that counts.
    sql`CREATE TEMP TABLE summed AS
      SELECT id, min(line) AS line, CAST(sum(CAST(stock AS DOUBLE PRECISION)) AS BIGINT) AS stock, max(kind) AS kind FROM staged WHERE id > ''
      GROUP BY id HAVING count(*) > 1 AND sum(CASE WHEN kind IN ('good', 'negative') THEN 0 ELSE 1 END) = 0
        AND sum(CAST(stock AS DOUBLE PRECISION)) <= ${sql.literal(String(Number.MAX_SAFE_INTEGER))}`,
    sql`DELETE FROM staged WHERE id IN (SELECT id FROM summed)`,
    sql`INSERT INTO staged (line, id, stock, kind) SELECT line, id, stock, kind FROM summed`
  ], { discard: true })

// Which of two rows tells the truth can't be known, so neither counts. That holds as well where one of them can't be read.
const findTwice = (sql: SqlClient.SqlClient) =>
  sql`CREATE TEMP TABLE twice AS
    SELECT id, count(*) AS times, string_agg(CASE WHEN place <= ${
    sql.literal(String(linesNamed))
  } THEN CAST(line AS TEXT) END, ', ' ORDER BY line) AS lines
    FROM (
      SELECT id, line, row_number() OVER (PARTITION BY id ORDER BY line) AS place FROM staged WHERE id IN (${sql.literal(several)})
    ) AS each_line GROUP BY id`

/** The rows that count, to be put behind WHERE. */
export const good = "staged.id > '' AND staged.kind IN ('good', 'negative') AND staged.id NOT IN (SELECT id FROM twice)"

const rejected = "(staged.kind = 'bad' OR twice.id IS NOT NULL)"

/** Ends the gathering: from here on `good` can be asked for. */
export const close = (sql: SqlClient.SqlClient, duplicates: Duplicates): Effect.Effect<unknown, SqlError> =>
  Effect.all([index(sql), duplicates === "sum" ? sum(sql) : Effect.void, findTwice(sql)], { discard: true })

export const drop = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  Effect.forEach(["staged", "summed", "twice", "taken", "missing", "alarm"], (name) => sql`DROP TABLE IF EXISTS ${sql.literal(name)}`, {
    discard: true
  })

const joined = "FROM staged LEFT JOIN twice ON twice.id = staged.id"

/** How many rows there are of each kind. */
export const count = (
  sql: SqlClient.SqlClient
): Effect.Effect<{ readonly all: number; readonly rejected: number; readonly negative: number }, SqlError> =>
  Effect.map(
    sql<{ n: number; rejected: number | null; negative: number | null }>`SELECT count(*) AS n, CAST(sum(CASE WHEN ${
      sql.literal(rejected)
    } THEN 1 ELSE 0 END) AS BIGINT) AS rejected,
      CAST(sum(CASE WHEN staged.kind = 'negative' AND NOT ${sql.literal(rejected)} THEN 1 ELSE 0 END) AS BIGINT) AS negative ${
      sql.literal(joined)
    } WHERE staged.kind <> 'excluded'`,
    ([row]) => ({ all: row?.n ?? 0, rejected: row?.rejected ?? 0, negative: row?.negative ?? 0 })
  )

/**
 * Whether a row was rejected that names no product or one that the ledger does not know: any product that seems to be missing may be its.
 */
export const unclaimed = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError> =>
  Effect.map(
    sql`SELECT 1 ${sql.literal(joined)} WHERE ${sql.literal(rejected)}
      AND NOT EXISTS (SELECT 1 FROM product WHERE product.id = staged.id) LIMIT 1`,
    (rows) => rows.length > 0
  )

const reason = (duplicates: Duplicates) =>
  `CASE WHEN twice.id IS NULL THEN staged.reason ELSE
  coalesce(staged.reason || '; ', '') || 'the product has ' || twice.times || ' rows (' || twice.lines ||
  CASE WHEN twice.times > ${linesNamed} THEN ', …' ELSE '' END ||
  '${duplicates === "sum" ? "), which can''t be added up" : "): keep one of them, or add them up with --duplicates sum"}' END`

/** The first rejected row. */
export const firstRejected = (sql: SqlClient.SqlClient, duplicates: Duplicates) =>
  Effect.map(
    sql<{ line: number; reason: string }>`SELECT staged.line, ${sql.literal(reason(duplicates))} AS reason ${sql.literal(joined)}
      WHERE ${sql.literal(rejected)} ORDER BY staged.line LIMIT 1`,
    ([row]) => row
  )

/** Records the issues of the snapshot, with the reasons. */
export const noteIssues = (sql: SqlClient.SqlClient, duplicates: Duplicates): Effect.Effect<unknown, SqlError> =>
  sql`INSERT INTO row_issue (place, line, product_id, kind, reason)
    SELECT row_number() OVER (ORDER BY staged.line), staged.line, staged.id,
      CASE WHEN ${sql.literal(rejected)} THEN 'rejected' ELSE 'negative' END,
      CASE WHEN ${sql.literal(rejected)} THEN ${sql.literal(reason(duplicates))} ELSE 'the stock is negative: taken as 0' END
    ${sql.literal(joined)} WHERE ${sql.literal(rejected)} OR staged.kind = 'negative'`
