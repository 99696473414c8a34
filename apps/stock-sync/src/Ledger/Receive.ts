/**
 * How a snapshot becomes what is wanted: rows are gathered beside the ledger as they come, however many, and taken over in one
 * transaction once the last one has been read. Knows nothing of where rows come from nor of what is sent.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { LedgerFault } from "../Ledger.js"
import type { Row } from "../Source.js"

// Rows a statement: enough that the statement's own cost vanishes, few enough to stay in a page of memory.
const batch = 500
// Lines named in the reason of a product that stands more than once.
const linesNamed = 10

const cells = (row: Row): ReadonlyArray<string | number | null> =>
  row._tag === "Good" ? [row.line, row.productId, row.stock, null] : [row.line, row.productId ?? null, null, row.reason]

const gather = (sql: SqlClient.SqlClient, rows: Chunk.Chunk<Row>) =>
  sql`INSERT INTO staged SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3
      FROM json_each(${JSON.stringify(Chunk.toReadonlyArray(rows).map(cells))})`

// Which of two rows tells the truth can't be known, so neither counts. That holds as well where one of them can't be read.
const findTwice = (sql: SqlClient.SqlClient) =>
  sql`CREATE TEMP TABLE twice AS
      SELECT id, count(*) AS times,
        (SELECT group_concat(line, ', ') FROM (SELECT line FROM staged AS one WHERE one.id = staged.id ORDER BY line LIMIT ${linesNamed})) AS lines
      FROM staged WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1`

const noteSetAside = (sql: SqlClient.SqlClient) =>
  sql`INSERT INTO set_aside (line, product_id, reason)
      SELECT staged.line, staged.id,
        CASE WHEN twice.id IS NULL THEN staged.reason ELSE
          coalesce(staged.reason || '; ', '') || 'the product stands on ' || twice.times || ' lines (' || twice.lines ||
          CASE WHEN twice.times > ${linesNamed} THEN ', …' ELSE '' END || '): keep one of them'
        END
      FROM staged LEFT JOIN twice ON twice.id = staged.id
      WHERE staged.reason IS NOT NULL OR twice.id IS NOT NULL
      ORDER BY staged.line`

// A doubt outlives a new wanted value, because what the service holds is still not known. A refusal holds for the value that was refused.
const takeOver = (sql: SqlClient.SqlClient, now: number) =>
  sql`INSERT INTO product (id, wanted, attempts, state, line, snapshot, updated_at)
      SELECT staged.id, staged.stock, 0, 'pending', staged.line, (SELECT number FROM snapshot), ${now}
      FROM staged LEFT JOIN twice ON twice.id = staged.id
      WHERE staged.reason IS NULL AND twice.id IS NULL
      ON CONFLICT (id) DO UPDATE SET
        wanted = excluded.wanted,
        line = excluded.line,
        snapshot = excluded.snapshot,
        attempts = CASE WHEN wanted = excluded.wanted THEN attempts ELSE 0 END,
        updated_at = CASE WHEN wanted = excluded.wanted THEN updated_at ELSE excluded.updated_at END,
        state = CASE
          WHEN state IN ('sending', 'doubtful') THEN state
          WHEN state = 'quarantined' AND refused = excluded.wanted THEN state
          WHEN confirmed = excluded.wanted THEN 'settled'
          ELSE 'pending'
        END`

/**
 * Takes rows over as the next snapshot. If they fail, nothing of them is left.
 *
 * @since 0.1.0
 * @category constructors
 */
export const receive = (sql: SqlClient.SqlClient, faultOf: (error: SqlError) => LedgerFault) =>
<E, R>(rows: Stream.Stream<Row, E, R>): Effect.Effect<void, E | LedgerFault, R> =>
  Effect.gen(function*() {
    // Temporary tables belong to this connection and vanish with it, also by a crash.
    yield* Effect.mapError(sql`CREATE TEMP TABLE staged (line INTEGER NOT NULL, id TEXT, stock INTEGER, reason TEXT)`, faultOf)
    yield* rows.pipe(
      Stream.rechunk(batch),
      Stream.runForEachChunk((chunk) => Effect.mapError(gather(sql, chunk), faultOf))
    )
    const now = yield* Clock.currentTimeMillis
    yield* Effect.mapError(
      sql.withTransaction(Effect.all([
        sql`CREATE INDEX temp.staged_id ON staged (id)`,
        findTwice(sql),
        sql`UPDATE snapshot SET number = number + 1, taken_at = ${now}`,
        sql`DELETE FROM set_aside`,
        noteSetAside(sql),
        takeOver(sql, now)
      ], { discard: true })),
      faultOf
    )
  }).pipe(
    Effect.ensuring(Effect.ignore(Effect.all([sql`DROP TABLE IF EXISTS temp.staged`, sql`DROP TABLE IF EXISTS temp.twice`])))
  )
