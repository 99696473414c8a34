/** Stages the rows of a snapshot in the temporary tables of a session, one row a product, until the last one is read. */
import type { Row } from "@plaza/tabular/Stock"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { type Adjustments, componentsOf, type Kits, type UnusedRule, whole } from "../../source/rules/ProductRules.ts"
import { idRows, isStorable, type Target, toStorable } from "../Operation.ts"
import * as Rows from "../Rows.ts"
import { createStaging, postgres, sqlite, stagingNames } from "../Schema.ts"
import type { SnapshotInput, SnapshotPolicy } from "../Snapshot.ts"

/** Rows per statement: enough to make the statement's own cost negligible, few enough for little memory. */
export const batchSize = 2_000

/** With fewer rows, Postgres joins well without statistics. */
const manyRows = 10_000

// Lines in the reason of a product that has several rows.
const maxLines = 10

// The longest text that every database can index.
const maxIdLength = 500

// A truncation replaces the files of all tables, which takes longer than a snapshot of usual size. Deleted rows keep their space until a
// truncation: so much space is read in less than a millisecond.
const manyBytes = 262_144
const empty = `IF ${stagingNames.map((name) => `pg_relation_size('${name}')`).join(" + ")} > ${manyBytes}
  THEN TRUNCATE ${stagingNames.join(", ")}; ELSE ${stagingNames.map((name) => `DELETE FROM ${name};`).join(" ")} END IF;`

/** Creates the tables of the session unless it has them. They are empty then, whatever became of the snapshot before. */
export const prepare = (sql: SqlClient): Effect.Effect<unknown, SqlError> =>
  sql.onDialectOrElse({
    // One way to the database. `IF NOT EXISTS` alone would send a notice for each.
    pg: () =>
      sql.unsafe(
        `DO $$ BEGIN IF to_regclass('pg_temp.${stagingNames.at(-1)}') IS NULL THEN ${createStaging(postgres).join("; ")};
          ELSIF EXISTS (${stagingNames.map((name) => `SELECT 1 FROM ${name}`).join(" UNION ALL ")}) THEN ${empty} END IF; END $$`
      ),
    orElse: () =>
      Effect.forEach([
        // In KiB if negative. Comparing a snapshot of a million products reads pages over and over with the 2 MiB of SQLite.
        "PRAGMA main.cache_size = -65536",
        "PRAGMA temp.cache_size = -65536",
        ...createStaging(sqlite)
      ], (statement) => sql.unsafe(statement), { discard: true })
  })

/** Empties the tables of the session. */
export const clear = (sql: SqlClient): Effect.Effect<unknown, SqlError> =>
  sql.onDialectOrElse({
    pg: () => sql.unsafe(`DO $$ BEGIN ${empty} END $$`),
    // Dropped, because SQLite keeps the pages of a table that was emptied.
    orElse: () => Effect.forEach(stagingNames, (name) => sql.unsafe(`DROP TABLE IF EXISTS ${name}`), { discard: true })
  })

type StagedRow = readonly [
  line: number,
  id: string | null,
  stock: number | null,
  kind: "good" | "negative" | "bad",
  reason: string | null
]

const storableId = (id: string | undefined) => id !== undefined && id.length > 0 && id.length <= maxIdLength && isStorable(id) ? id : null

const toStaged = (row: Row): StagedRow => {
  const id = storableId(row.productId)
  if (row._tag === "Rejected") return [row.line, id, null, "bad", toStorable(row.reason)]
  return id === null
    ? [row.line, null, null, "bad", `the product's id is longer than ${maxIdLength} characters or contains an invalid character`]
    : [row.line, id, row.stock, row.negative === true ? "negative" : "good", null]
}

// Few texts have one of these characters, and the test costs less than the replacement.
const element = (value: string | number | null) => {
  if (typeof value !== "string") return value === null ? "NULL" : String(value)
  return /["\\]/.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : `"${value}"`
}

/** Tuples as a relation. One parameter, or one for each column, for any number of rows keeps the statement the same. */
const relation = (sql: SqlClient, rows: ReadonlyArray<ReadonlyArray<string | number | null>>, types: ReadonlyArray<"bigint" | "text">) =>
  sql.onDialectOrElse({
    // As text: the driver encodes arrays more slowly, and can't infer the type of one with nothing but nulls.
    pg: () =>
      sql`SELECT ${
        sql.csv(types.map((type, index) => {
          const column = `{${rows.map((row) => element(row[index] ?? null)).join(",")}}`
          return sql`unnest(${column}::text::${sql.literal(type)}[])`
        }))
      }`,
    orElse: () =>
      sql`SELECT ${sql.literal(types.map((_, index) => `value ->> ${index}`).join(", "))} FROM json_each(${JSON.stringify(rows)})`
  })

/** The products whose rows do not count: excluded ones that no kit contains, and kits. */
export const ignoredOf = (excluded: ReadonlySet<string>, kits: Kits): ReadonlySet<string> => {
  if (kits.size === 0) return excluded
  const components = componentsOf(kits)
  const ignored = new Set(Array.from(excluded).filter((id) => !components.has(id)))
  for (const kit of kits.keys()) ignored.add(kit)
  return ignored
}

/** Stages rows, without those of some products. */
export const insert = (sql: SqlClient, rows: ReadonlyArray<Row>, ignored: ReadonlySet<string>): Effect.Effect<unknown, SqlError> => {
  const named = ignored.size === 0 ? rows : rows.filter(({ productId }) => productId === undefined || !ignored.has(productId))
  return sql`INSERT INTO staged_row (line, id, stock, kind, reason) ${
    relation(sql, named.map(toStaged), ["bigint", "text", "bigint", "text", "text"])
  }`
}

/** Inserts tuples in batches. */
const insertAll = (
  sql: SqlClient,
  into: string,
  types: ReadonlyArray<"bigint" | "text">,
  rows: ReadonlyArray<ReadonlyArray<string | number | null>>
) =>
  Effect.forEach(
    Array.from({ length: Math.ceil(rows.length / batchSize) }, (_, index) => rows.slice(index * batchSize, (index + 1) * batchSize)),
    (batch) => sql`INSERT INTO ${sql.literal(into)} ${relation(sql, batch, types)}`,
    { discard: true }
  )

const insertAdjustments = (sql: SqlClient, { products }: Adjustments) =>
  insertAll(
    sql,
    "adjustment (id, buffer, share, least, most)",
    ["text", "bigint", "bigint", "bigint", "bigint"],
    [...products].flatMap(([id, { atLeast, buffer, bufferShare, max }]) =>
      storableId(id) === null ? [] : [[id, buffer ?? 0, bufferShare ?? 0, atLeast ?? 0, max ?? Number.MAX_SAFE_INTEGER]]
    )
  )

const sum = "sum(CAST(stock AS DOUBLE PRECISION))"

/** The stock to send, as ProductRules.adjust computes it, and the table that it needs. Rules that nobody has set cost nothing. */
const adjusted = (sql: SqlClient, { all, products }: Adjustments, stock: string, id: string) => {
  const [least, greatest] = sql.onDialectOrElse({ pg: () => ["LEAST", "GREATEST"] as const, orElse: () => ["min", "max"] as const })
  const adjustments = [all, ...products.values()]
  // Without rules for single products, as usual, the join would cost a fifth of the statement.
  const ofProduct = (column: string, value: number) => products.size === 0 ? String(value) : `coalesce(adjustment.${column}, ${value})`
  const pieces = ofProduct("buffer", all.buffer ?? 0)
  const share = ofProduct("share", all.bufferShare ?? 0)
  // In two parts, because the product of both can be too large.
  const rounded = `(${stock}) / ${whole} * ${share} + ((${stock}) % ${whole} * ${share} + ${whole - 1}) / ${whole}`
  const buffer = adjustments.some(({ bufferShare = 0 }) => bufferShare > 0) ? `${greatest}(${pieces}, ${rounded})` : pieces
  const rest = `${greatest}(0, (${stock}) - ${buffer})`
  const enough = adjustments.some(({ atLeast = 0 }) => atLeast > 0)
    ? `CASE WHEN ${rest} < ${ofProduct("least", all.atLeast ?? 0)} THEN 0 ELSE ${rest} END`
    : rest
  return {
    value: `${least}(${enough}, ${ofProduct("most", all.max ?? Number.MAX_SAFE_INTEGER)})`,
    join: products.size === 0 ? "" : ` LEFT JOIN adjustment ON adjustment.id = ${id}`
  }
}

/**
 * One row a product: the sum of its rows as the rules reduce it, or a rejection. Nothing shows which of several rows is right, so none of
 * them counts, even if only some can't be read.
 */
const group = (sql: SqlClient, adjustments: Adjustments, duplicates: SnapshotPolicy["duplicates"]) => {
  const { join, value } = adjusted(sql, adjustments, "CAST(total AS BIGINT)", "grouped.id")
  // Floating-point sums do not overflow, and are exact up to the largest stock that is accepted.
  const isAccepted = `bad = 0 AND ${duplicates === "sum" ? `total <= ${Number.MAX_SAFE_INTEGER}` : "n = 1"}`
  return sql.unsafe(`INSERT INTO staged (id, stock, line, n, negative, kind)
    SELECT grouped.id, CASE WHEN ${isAccepted} THEN ${value} END, line, n, negative,
      CASE WHEN ${isAccepted} THEN 'accepted' ELSE 'rejected' END
    FROM (
      SELECT id, ${sum} AS total, min(line) AS line, count(*) AS n, count(CASE WHEN kind = 'negative' THEN 1 END) AS negative,
        count(CASE WHEN kind = 'bad' THEN 1 END) AS bad
      FROM staged_row WHERE id IS NOT NULL GROUP BY id
    ) AS grouped${join}`)
}

/**
 * The stock of kits: as many as the stock that is sent of their components allows. A component that the source does not name counts as sold
 * out, if missing products are; else it is unknown, as is a rejected one. A kit with an unknown component keeps its stock, but no more than
 * the others allow.
 */
const insertKits = (
  { account, sql }: Pick<Target, "account" | "sql">,
  adjustments: Adjustments,
  kits: Kits,
  missing: SnapshotPolicy["missing"]
) =>
  Effect.gen(function*() {
    const rows = [...kits].flatMap(([id, components]) =>
      storableId(id) === null ? [] : Array.from(components, ([component, quantity]) => [id, component, quantity])
    )
    yield* insertAll(sql, "kit (id, component, quantity)", ["text", "text", "bigint"], rows)
    const isUnknown = missing === "zero" ? "staged.kind <> 'accepted'" : "staged.id IS NULL OR staged.kind <> 'accepted'"
    const { join, value } = adjusted(sql, adjustments, "total", "counted.id")
    // Without a known component, there is no limit: LEAST of Postgres would ignore the null.
    const limited = `SELECT counted.id, unknown, CASE WHEN total IS NOT NULL THEN ${value} END AS most
      FROM (
        SELECT kit.id, min(CASE WHEN ${isUnknown} THEN NULL ELSE coalesce(staged.stock, 0) / kit.quantity END) AS total,
          count(CASE WHEN ${isUnknown} THEN 1 END) AS unknown
        FROM kit LEFT JOIN staged ON staged.id = kit.component GROUP BY kit.id
      ) AS counted${join}`
    // Before the kits are staged, so that each of these rows is of a component.
    yield* sql.unsafe(`INSERT INTO staged_row (line, id, kind, reason)
      SELECT 0, kit.id, CASE WHEN ${isUnknown} THEN 'kit' ELSE 'rule' END,
        'its component ' || kit.component || CASE WHEN staged.id IS NOT NULL THEN ' is rejected' ELSE ' is not in the source' END ||
          CASE WHEN ${isUnknown} THEN ', so the kit keeps its stock' || coalesce(', but no more than the others allow: ' || most, '')
          ELSE ', so the kit is sold out' END
      FROM kit JOIN (${limited}) AS limited ON limited.id = kit.id LEFT JOIN staged ON staged.id = kit.component
      WHERE staged.id IS NULL OR staged.kind <> 'accepted'`)
    // A kit with a sold-out component is sold out, also if the ledger does not have it yet.
    const isKnown = "unknown = 0 OR most = 0 OR most < product.wanted"
    yield* sql.unsafe(`INSERT INTO staged (id, stock, line, n, negative, kind)
      SELECT limited.id, CASE WHEN ${isKnown} THEN most END, 0, 1, 0, CASE WHEN ${isKnown} THEN 'accepted' ELSE 'incomplete' END
      FROM (${limited}) AS limited LEFT JOIN product ON product.account = ${account} AND product.id = limited.id`)
  })

/** Staged rows that are none of the source: kits that can't be computed, and rules without an effect. */
const isOfRule = "kind IN ('kit', 'rule')"

/** So many unused rules are named. */
const maxUnused = 20

const insertUnused = (sql: SqlClient, unused: ReadonlyArray<UnusedRule>) => {
  const named = unused.filter(({ id }) => storableId(id) !== null)
  const more = named.length - maxUnused
  return insertAll(
    sql,
    "staged_row (line, id, kind, reason)",
    ["bigint", "text", "text", "text"],
    named.slice(0, maxUnused).map(({ id, reason }, index) => [
      -1,
      id,
      "rule",
      toStorable(index === maxUnused - 1 && more > 0 ? `${reason}; so do ${more.toLocaleString("en")} more rules` : reason)
    ])
  )
}

const decodeCounts = Rows.only(Schema.Struct({ all: Schema.Int, rejected: Schema.Int, negative: Schema.Int, others: Schema.Int }))

/** Rows by kind. */
export type Counts = Effect.Success<ReturnType<typeof finish>>

/** What decides the stock of products besides their rows. */
export type RuleSet = Required<Pick<SnapshotInput<never, never>, "excluded">> & {
  readonly adjustments: Adjustments
  readonly kits: Kits
  readonly unused: ReadonlyArray<UnusedRule>
}

/** Finishes the staging after the last row. */
export const finish = (
  target: Pick<Target, "account" | "sql">,
  { adjustments, excluded, kits, unused }: RuleSet,
  { duplicates, missing }: Pick<SnapshotPolicy, "duplicates" | "missing">
) =>
  Effect.gen(function*() {
    const { sql } = target
    yield* insertAdjustments(sql, adjustments)
    yield* group(sql, adjustments, duplicates)
    if (kits.size > 0) yield* insertKits(target, adjustments, kits, missing)
    if (unused.length > 0) yield* insertUnused(sql, unused)
    if (excluded.size > 0) {
      const ids = [...excluded].filter((id) => storableId(id) !== null)
      // Components of kits.
      if (kits.size > 0) yield* sql`DELETE FROM staged WHERE id IN (SELECT value FROM (${idRows({ sql }, ids)}) AS excluded_id)`
      yield* sql`INSERT INTO staged (id, line, n, negative, kind) SELECT value, 0, 0, 0, 'excluded' FROM (${
        idRows({ sql }, ids)
      }) AS excluded_id`
    }
    // Rows that were added up count as one.
    const counts = yield* decodeCounts(sql`SELECT unnamed + "rows" AS "all", unnamed + rejected AS rejected, negative, others FROM
      (SELECT count(CASE WHEN id IS NULL THEN 1 END) AS unnamed, count(CASE WHEN ${
      sql.literal(isOfRule)
    } THEN 1 END) AS others FROM staged_row
        WHERE id IS NULL OR ${sql.literal(isOfRule)}) AS without_id, (
        SELECT count(CASE WHEN kind = 'accepted' AND negative > 0 THEN 1 END) AS negative,
          CAST(coalesce(sum(CASE kind WHEN 'rejected' THEN n END), 0) AS BIGINT) AS rejected,
          CAST(coalesce(sum(CASE kind WHEN 'rejected' THEN n WHEN 'accepted' THEN 1 END), 0) AS BIGINT) AS "rows"
        FROM staged
      ) AS with_id`)
    if (counts.all > manyRows) yield* sql.onDialectOrElse({ pg: () => sql`ANALYZE staged`, orElse: () => Effect.void })
    return counts
  })

/**
 * Whether a rejected row may be the row of a product that seems to be missing, because it names no product of the ledger, or whether rows
 * may be missing behind it, because it is the last one.
 */
export const mayLackRows = ({ account, sql }: Target): Effect.Effect<boolean, SqlError> =>
  Effect.map(
    sql`SELECT 1 WHERE EXISTS (SELECT 1 FROM staged_row WHERE id IS NULL)
      OR EXISTS (SELECT 1 FROM staged_row WHERE kind = 'bad' AND line = (SELECT max(line) FROM staged_row))
      OR EXISTS (SELECT 1 FROM staged WHERE kind = 'rejected'
        AND NOT EXISTS (SELECT 1 FROM product WHERE product.account = ${account} AND product.id = staged.id))`,
    (rows) => rows.length > 0
  )

/** The rejected rows and the products with a negative stock, with the reason. `setting` names that of duplicates, without a quote. */
const issues = (sql: SqlClient, duplicates: SnapshotPolicy["duplicates"], setting: string) => {
  const advice = duplicates === "sum" ? "), which can''t be added up" : `): keep one of them, or add them up with ${setting} sum`
  return sql.literal(`SELECT staged_row.line, staged_row.id, 'rejected' AS kind, CASE WHEN several.id IS NULL THEN staged_row.reason ELSE
        coalesce(staged_row.reason || '; ', '') || 'the product has ' || several.n || ' rows (' || several.lines ||
        CASE WHEN several.n > ${maxLines} THEN ', …' ELSE '' END || '${advice}' END AS reason
    FROM staged_row LEFT JOIN staged ON staged.id = staged_row.id LEFT JOIN (
      SELECT id, n, string_agg(CASE WHEN place <= ${maxLines} THEN CAST(line AS TEXT) END, ', ' ORDER BY line) AS lines FROM (
        SELECT staged.id, staged.n, staged_row.line, row_number() OVER (PARTITION BY staged.id ORDER BY staged_row.line) AS place
        FROM staged JOIN staged_row ON staged_row.id = staged.id WHERE staged.kind = 'rejected' AND staged.n > 1
      ) AS placed GROUP BY id, n
    ) AS several ON several.id = staged_row.id
    WHERE NOT (staged_row.${isOfRule}) AND (staged_row.id IS NULL OR staged.kind = 'rejected')
    UNION ALL SELECT 0, id, CASE kind WHEN 'kit' THEN 'rejected' ELSE kind END, reason FROM staged_row WHERE ${isOfRule}
    UNION ALL SELECT line, id, 'negative', 'the stock is negative: taken as 0' FROM staged WHERE kind = 'accepted' AND negative > 0`)
}

const decodeFirst = Rows.first(Schema.Struct({ line: Schema.Int, reason: Schema.String }))

export const firstRejected = (
  sql: SqlClient,
  duplicates: SnapshotPolicy["duplicates"],
  setting: string
): Effect.Effect<Option.Option<{ readonly line: number; readonly reason: string }>, SqlError | Schema.SchemaError> =>
  decodeFirst(sql`SELECT line, reason FROM (${issues(sql, duplicates, setting)}) AS issue
    WHERE kind = 'rejected' ORDER BY CASE WHEN line < 1 THEN 1 ELSE 0 END, line LIMIT 1`)

/** Forgets the issues of the last snapshot. */
export const forgetIssues = ({ account, sql }: Target) => sql`DELETE FROM row_issue WHERE account = ${account}`

/** Records the issues of this snapshot. */
export const recordIssues = (
  target: Target,
  { negative, others, rejected }: Counts,
  duplicates: SnapshotPolicy["duplicates"],
  setting: string
) => {
  const { account, sql } = target
  return rejected + negative + others === 0
    ? Effect.void
    : sql`INSERT INTO row_issue (account, place, line, product_id, kind, reason)
      SELECT CAST(${account} AS BIGINT), row_number() OVER (ORDER BY line), line, id, kind, reason FROM (${
      issues(sql, duplicates, setting)
    }) AS issue`
}
