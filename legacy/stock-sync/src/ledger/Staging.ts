/**
 * Temporary tables that hold the rows of a snapshot until the last one is read. They belong to the session, so they vanish with it,
 * also after a crash.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment, Statement } from "@effect/sql/Statement"
import type { Row } from "@plaza-legacy/tabular/Stock"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ParseError } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as ProductRules from "../source/ProductRules.ts"
import { idRows, isStorable, toStorable } from "./LedgerConnection.ts"
import * as LedgerRows from "./LedgerRows.ts"
import type { SnapshotPolicy } from "./Snapshot.ts"

/** Rows per statement: enough to make the statement's own cost negligible, few enough for little memory. */
export const batchSize = 2_000

// Lines in the reason of a product that has several rows.
const maxLines = 10

// The longest text that every database can index.
const maxIdLength = 500
const storableId = (id: string | undefined) => id !== undefined && id.length <= maxIdLength && isStorable(id) ? id : null

type Kind = "good" | "negative" | "excluded" | "bad"
export type StagedRow = readonly [line: number, id: string | null, stock: number | null, kind: Kind, reason: string | null]
type Duplicates = SnapshotPolicy["duplicates"]

/** A row as it is staged. */
export const toStagedRow = (row: Row): StagedRow => {
  const id = storableId(row.productId)
  if (row._tag === "Rejected") return [row.line, id, null, "bad", toStorable(row.reason)]
  return id === null
    ? [row.line, null, null, "bad", `the product's id is longer than ${maxIdLength} characters or contains an invalid character`]
    : [row.line, id, row.stock, row.negative === true ? "negative" : "good", null]
}

/** Rows of distinct products, with the stock that is to be sent. */
export const adjusted = (rows: ReadonlyArray<StagedRow>, adjustments: ProductRules.Adjustments): ReadonlyArray<StagedRow> =>
  adjustments === ProductRules.unadjusted
    ? rows
    : rows.map(([line, id, stock, kind, reason]) => [
      line,
      id,
      id === null || stock === null ? stock : ProductRules.adjust(stock, ProductRules.adjustmentOf(adjustments, id)),
      kind,
      reason
    ])

/** In KiB if negative. Comparing a snapshot of a million products reads pages over and over with the 2 MiB of SQLite. */
const enlargeCache = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => Effect.void,
    orElse: () => Effect.zipRight(sql`PRAGMA main.cache_size = -65536`, sql`PRAGMA temp.cache_size = -65536`)
  })

export const create = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  Effect.zipRight(enlargeCache(sql),
    sql`CREATE TEMP TABLE staged (line BIGINT NOT NULL, id TEXT, stock BIGINT, kind TEXT NOT NULL, reason TEXT)`)

/** Stages rows of distinct products in SQLite, with an index and without further steps. */
export const createSmall = (sql: SqlClient.SqlClient, rows: ReadonlyArray<StagedRow>): Effect.Effect<unknown, SqlError> =>
  Effect.zipRight(
    sql`CREATE TEMP TABLE staged (line BIGINT NOT NULL, id TEXT UNIQUE, stock BIGINT, kind TEXT NOT NULL, reason TEXT)`,
    sql`INSERT INTO staged ${select(sql, rows)}`
  )

export const dropSmall = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> => sql`DROP TABLE IF EXISTS staged`

// Few texts have one of these characters, and the test costs less than the replacement.
const element = (value: StagedRow[number]) => {
  if (typeof value !== "string") return value === null ? "NULL" : String(value)
  return /["\\]/.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : `"${value}"`
}

/** A column of rows as the text of an array of Postgres. */
const column = (rows: ReadonlyArray<StagedRow>, index: 0 | 1 | 2 | 3 | 4): string => `{${rows.map((row) => element(row[index])).join(",")}}`

/**
 * Staged rows as a query. One parameter, or one for each column, for any number of rows keeps the statement the same. Postgres reads arrays
 * in a third of the time that it needs for JSON.
 */
export const select = (sql: SqlClient.SqlClient, rows: ReadonlyArray<StagedRow>): Statement<unknown> =>
  sql.onDialectOrElse({
    pg: () =>
      sql`SELECT unnest(${column(rows, 0)}::bigint[]) AS line, unnest(${column(rows, 1)}::text[]) AS id,
        unnest(${column(rows, 2)}::bigint[]) AS stock, unnest(${column(rows, 3)}::text[]) AS kind, unnest(${
        column(rows, 4)
      }::text[]) AS reason`,
    orElse: () => sql`SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each(${JSON.stringify(rows)})`
  })

export const insert = (sql: SqlClient.SqlClient, rows: Chunk.Chunk<Row>): Effect.Effect<unknown, SqlError> =>
  sql`INSERT INTO staged ${select(sql, Chunk.toReadonlyArray(rows).map(toStagedRow))}`

/** A row that marks its product as excluded. */
export const toExcludedRows = (excluded: ReadonlySet<string>): ReadonlyArray<StagedRow> =>
  [...excluded].filter(isStorable).map((id) => [0, id, null, "excluded", null])

/** Replaces the rows of excluded products by one row each. */
export const exclude = (sql: SqlClient.SqlClient, excluded: ReadonlySet<string>): Effect.Effect<unknown, SqlError> => {
  const ids = idRows(sql, excluded)
  return Effect.zipRight(
    sql`DELETE FROM staged WHERE id IN (${ids})`,
    sql`INSERT INTO staged (line, id, kind) SELECT 0, value, 'excluded' FROM (${ids}) AS excluded_id`
  )
}

// The index of SQLite covers the query. Postgres joins by hashing and needs the number of rows.
const index = (sql: SqlClient.SqlClient) =>
  sql.onDialectOrElse({
    pg: () => sql`ANALYZE staged`,
    orElse: () => sql`CREATE INDEX staged_id ON staged (id, kind, stock, line)`
  })

const idsWithSeveralRows = "SELECT id FROM staged WHERE id > '' GROUP BY id HAVING count(*) > 1"

/** Adds up the rows of one product, as several warehouses have them, if each of them is good. */
const sumDuplicates = (sql: SqlClient.SqlClient) =>
  Effect.all([
    // Floating-point sums do not overflow, and are exact up to the largest stock that is accepted.
    sql`CREATE TEMP TABLE summed AS
      SELECT id, min(line) AS line, CAST(sum(CAST(stock AS DOUBLE PRECISION)) AS BIGINT) AS stock, max(kind) AS kind FROM staged WHERE id > ''
      GROUP BY id HAVING count(*) > 1 AND sum(CASE WHEN kind IN ('good', 'negative') THEN 0 ELSE 1 END) = 0
        AND sum(CAST(stock AS DOUBLE PRECISION)) <= ${sql.literal(String(Number.MAX_SAFE_INTEGER))}`,
    sql`DELETE FROM staged WHERE id IN (SELECT id FROM summed)`,
    sql`INSERT INTO staged (line, id, stock, kind) SELECT line, id, stock, kind FROM summed`
  ], { discard: true })

// Nothing shows which of several rows is right, so none of them counts, even if some of them can't be read.
const findDuplicates = (sql: SqlClient.SqlClient) =>
  sql`CREATE TEMP TABLE duplicated AS
    SELECT id, count(*) AS times, string_agg(CASE WHEN place <= ${
    sql.literal(String(maxLines))
  } THEN CAST(line AS TEXT) END, ', ' ORDER BY line) AS lines
    FROM (
      SELECT id, line, row_number() OVER (PARTITION BY id ORDER BY line) AS place FROM staged WHERE id IN (${
    sql.literal(idsWithSeveralRows)
  })
    ) AS duplicated_row GROUP BY id`

// Without statistics Postgres expects hundreds of them, and hashes all rows instead.
const analyzeDuplicated = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  sql.onDialectOrElse({ pg: () => sql`ANALYZE duplicated`, orElse: () => Effect.void })

/** `duplicated` for rows of different products. */
export const noneDuplicated = (sql: SqlClient.SqlClient): Statement<unknown> =>
  sql`SELECT CAST(NULL AS TEXT) AS id, 0 AS times, CAST(NULL AS TEXT) AS lines WHERE false`

/** The condition of the rows that count. */
export const accepted = "staged.id > '' AND staged.kind IN ('good', 'negative') AND staged.id NOT IN (SELECT id FROM duplicated)"

const rejected = "(staged.kind = 'bad' OR duplicated.id IS NOT NULL)"

/** The stock to send of a staged row, and what it is joined with. */
export interface Offer {
  readonly stock: Fragment
  readonly join: Fragment
}

/** For rows that are adjusted already. */
export const offerAsStaged = (sql: SqlClient.SqlClient): Offer => ({ stock: sql`staged.stock`, join: sql`` })

const insertAdjustments = (sql: SqlClient.SqlClient, products: ReadonlyArray<readonly [string, ProductRules.Adjustment]>) => {
  const rows = JSON.stringify(products.map(([id, { buffer, max }]) => [id, buffer ?? null, max ?? null]))
  return sql.onDialectOrElse({
    pg: () =>
      sql`INSERT INTO adjustment SELECT value ->> 0, CAST(value ->> 1 AS BIGINT), CAST(value ->> 2 AS BIGINT)
        FROM json_array_elements(${rows}::json) AS rule (value)`,
    orElse: () => sql`INSERT INTO adjustment SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(${rows})`
  })
}

/** The stock of all rows, once those of one product are added up. */
export const offer = (sql: SqlClient.SqlClient, { all, products }: ProductRules.Adjustments): Effect.Effect<Offer, SqlError> => {
  const [least, greatest] = sql.onDialectOrElse({ pg: () => ["LEAST", "GREATEST"] as const, orElse: () => ["min", "max"] as const })
  const reduced = (buffer: string, max: string) => sql.literal(`${least}(${greatest}(0, staged.stock - ${buffer}), ${max})`)
  const [buffer, max] = [String(all.buffer ?? 0), String(all.max ?? Number.MAX_SAFE_INTEGER)]
  if (products.size === 0) {
    return Effect.succeed(
      all.buffer === undefined && all.max === undefined ? offerAsStaged(sql) : { ...offerAsStaged(sql), stock: reduced(buffer, max) }
    )
  }
  return Effect.gen(function*() {
    yield* sql`CREATE TEMP TABLE adjustment (id TEXT NOT NULL PRIMARY KEY, buffer BIGINT, most BIGINT)`
    const storable = Chunk.fromIterable(products).pipe(Chunk.filter(([id]) => isStorable(id)), Chunk.chunksOf(batchSize))
    yield* Effect.forEach(storable, (batch) => insertAdjustments(sql, Chunk.toReadonlyArray(batch)), { discard: true })
    return {
      // A product with a rule of its own has all values of it.
      stock: sql`CASE WHEN adjustment.id IS NULL THEN ${reduced(buffer, max)} ELSE ${
        reduced("coalesce(adjustment.buffer, 0)", `coalesce(adjustment.most, ${Number.MAX_SAFE_INTEGER})`)
      } END`,
      join: sql`LEFT JOIN adjustment ON adjustment.id = staged.id`
    }
  })
}

/** Finishes the staging after the last row. `accepted` can be used from here on. */
export const finish = (sql: SqlClient.SqlClient, duplicates: Duplicates): Effect.Effect<unknown, SqlError> =>
  Effect.all([
    index(sql),
    duplicates === "sum" ? sumDuplicates(sql) : Effect.void,
    findDuplicates(sql),
    analyzeDuplicated(sql)
  ], { discard: true })

const tables = ["staged", "summed", "duplicated", "adjustment", "changed", "missing", "implausible"]

/** Drops the temporary tables of a snapshot. */
export const drop = (sql: SqlClient.SqlClient): Effect.Effect<unknown, SqlError> =>
  sql.onDialectOrElse({
    pg: () => sql`DROP TABLE IF EXISTS ${sql.literal(tables.join(", "))}`,
    orElse: () => Effect.forEach(tables, (name) => sql`DROP TABLE IF EXISTS ${sql.literal(name)}`, { discard: true })
  })

const joined = "FROM staged LEFT JOIN duplicated ON duplicated.id = staged.id"

const decodeCounts = LedgerRows.first(Schema.Struct({
  n: Schema.Int,
  rejected: Schema.NullOr(Schema.Int),
  negative: Schema.NullOr(Schema.Int)
}))

/** The number of rows by kind. */
export interface Counts {
  readonly all: number
  readonly rejected: number
  readonly negative: number
}

export const count = (sql: SqlClient.SqlClient): Effect.Effect<Counts, SqlError | ParseError> =>
  Effect.map(
    decodeCounts(sql`SELECT count(*) AS n, CAST(sum(CASE WHEN ${sql.literal(rejected)} THEN 1 ELSE 0 END) AS BIGINT) AS rejected,
      CAST(sum(CASE WHEN staged.kind = 'negative' AND NOT ${sql.literal(rejected)} THEN 1 ELSE 0 END) AS BIGINT) AS negative ${
      sql.literal(joined)
    } WHERE staged.kind <> 'excluded'`),
    Option.match({
      onNone: () => ({ all: 0, rejected: 0, negative: 0 }),
      onSome: ({ n, negative, rejected }) => ({ all: n, rejected: rejected ?? 0, negative: negative ?? 0 })
    })
  )

/**
 * Whether a rejected row may be the row of a product that seems to be missing, because it names no product of the ledger, or whether rows may
 * be missing behind it, because it is the last one.
 */
export const mayLackRows = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError> =>
  Effect.map(
    sql`SELECT 1 ${sql.literal(joined)} WHERE ${sql.literal(rejected)}
      AND (NOT EXISTS (SELECT 1 FROM product WHERE product.id = staged.id)
        OR (staged.kind = 'bad' AND staged.line = (SELECT max(line) FROM staged))) LIMIT 1`,
    (rows) => rows.length > 0
  )

// `setting` names that of duplicates, without a quote.
const reason = (duplicates: Duplicates, setting: string) =>
  `CASE WHEN duplicated.id IS NULL THEN staged.reason ELSE
  coalesce(staged.reason || '; ', '') || 'the product has ' || duplicated.times || ' rows (' || duplicated.lines ||
  CASE WHEN duplicated.times > ${maxLines} THEN ', …' ELSE '' END ||
  '${duplicates === "sum" ? "), which can''t be added up" : `): keep one of them, or add them up with ${setting} sum`}' END`

const decodeRejected = LedgerRows.first(Schema.Struct({ line: Schema.Int, reason: Schema.String }))

export const firstRejected = (sql: SqlClient.SqlClient, duplicates: Duplicates, setting: string) =>
  decodeRejected(
    sql`SELECT staged.line, ${sql.literal(reason(duplicates, setting))} AS reason ${sql.literal(joined)}
      WHERE ${sql.literal(rejected)} ORDER BY staged.line LIMIT 1`
  )

/** Writes the issues of the snapshot into the ledger. */
export const recordIssues = (sql: SqlClient.SqlClient, duplicates: Duplicates, setting: string): Statement<unknown> =>
  sql`INSERT INTO row_issue (place, line, product_id, kind, reason)
    SELECT row_number() OVER (ORDER BY staged.line), staged.line, staged.id,
      CASE WHEN ${sql.literal(rejected)} THEN 'rejected' ELSE 'negative' END,
      CASE WHEN ${sql.literal(rejected)} THEN ${sql.literal(reason(duplicates, setting))} ELSE 'the stock is negative: taken as 0' END
    ${sql.literal(joined)} WHERE ${sql.literal(rejected)} OR staged.kind = 'negative'`
