/**
 * How a snapshot becomes what is wanted: rows are gathered beside the ledger as they come, however many, compared once the last one has
 * been read, and only what differs is taken over, in one transaction. Knows nothing of where rows come from nor of what is sent.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Row } from "@plaza/rows/Stock"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Brake from "../Brake.js"
import { type Held, type Ledger, type LedgerFault, type Received, SnapshotHeld, type Terms } from "../Ledger.js"
import type { Access } from "./Access.js"
import * as Staging from "./Staging.js"

/**
 * What differs, as `taken`. A line is renewed only where it will be shown: one more row at the top of a file moves all of them. `was`
 * is what was wanted so far.
 */
const compare = (sql: SqlClient.SqlClient) =>
  sql`CREATE TEMP TABLE taken AS
    SELECT staged.id, staged.stock, staged.line, 'named' AS part, product.wanted AS was
    FROM staged LEFT JOIN product ON product.id = staged.id
    WHERE ${sql.literal(Staging.good)} AND (
      product.id IS NULL OR product.wanted <> staged.stock OR product.part <> 'named' OR
      (product.state = 'quarantined' AND product.line <> staged.line)
    )`

// A row that was set aside still names its product, so that is not gone.
const zeroGone = (sql: SqlClient.SqlClient) =>
  sql`INSERT INTO taken (id, stock, line, part, was)
    SELECT product.id, 0, product.line, 'zeroed', product.wanted
    FROM product WHERE product.part <> 'zeroed' AND NOT EXISTS (SELECT 1 FROM staged WHERE staged.id = product.id)`

const weigh = (sql: SqlClient.SqlClient) =>
  Effect.map(
    Effect.all([
      sql<{ n: number }>`SELECT count(*) AS n FROM taken WHERE part = 'named' AND stock = 0 AND was > 0`,
      sql<{ n: number }>`SELECT count(*) AS n FROM taken WHERE part = 'zeroed' AND was > 0`,
      sql<{ n: number }>`SELECT count(*) AS n FROM product WHERE part = 'named'`,
      sql<{ n: number }>`SELECT count(*) AS n FROM taken WHERE was IS NULL OR was <> stock`
    ]),
    ([[zeroed], [dropped], [catalogue], [changed]]) => ({
      damage: { zeroed: zeroed?.n ?? 0, dropped: dropped?.n ?? 0, catalogue: catalogue?.n ?? 0 },
      changed: changed?.n ?? 0
    })
  )

/** Compares, and tells what it would do. */
const examine = (sql: SqlClient.SqlClient, terms: Terms): Effect.Effect<Received, SqlError> =>
  Effect.gen(function*() {
    yield* Staging.close(sql)
    yield* compare(sql)
    const goneSpared = terms.gone === "zero" && (yield* Staging.unclaimed(sql))
    if (terms.gone === "zero" && !goneSpared) yield* zeroGone(sql)
    const { changed, damage } = yield* weigh(sql)
    return { changed, damage, braked: Brake.holds(terms.brake, damage), goneSpared }
  })

// A doubt outlives a new wanted value, because what the service holds is still not known. A refusal holds for the value that was refused.
const change = (sql: SqlClient.SqlClient, now: number) =>
  sql`INSERT INTO product (id, wanted, attempts, state, part, since, line, updated_at)
    SELECT id, stock, 0, 'pending', part, ${now}, line, ${now} FROM taken WHERE true
    ON CONFLICT (id) DO UPDATE SET
      wanted = excluded.wanted,
      part = excluded.part,
      line = excluded.line,
      attempts = CASE WHEN product.wanted = excluded.wanted THEN product.attempts ELSE 0 END,
      updated_at = CASE WHEN product.wanted = excluded.wanted THEN product.updated_at ELSE excluded.updated_at END,
      state = CASE
        WHEN product.state IN ('sending', 'doubtful') THEN product.state
        WHEN product.state = 'quarantined' AND product.refused = excluded.wanted THEN product.state
        WHEN product.state = 'quarantined' AND product.doubt IS NOT NULL THEN 'doubtful'
        WHEN product.confirmed = excluded.wanted THEN 'settled'
        ELSE 'pending'
      END,
      sent = CASE
        WHEN product.state = 'quarantined' AND product.refused <> excluded.wanted AND product.doubt IS NOT NULL THEN product.doubt
        ELSE product.sent
      END,
      doubt = CASE WHEN product.state = 'quarantined' AND product.refused <> excluded.wanted THEN NULL ELSE product.doubt END,
      since = CASE
        WHEN product.state = 'quarantined' AND product.refused = excluded.wanted THEN product.since
        WHEN product.state IN ('pending', 'settled') AND product.confirmed = excluded.wanted THEN coalesce(product.confirmed_at, excluded.since)
        WHEN product.state = 'quarantined' AND product.doubt IS NULL AND product.confirmed = excluded.wanted
          THEN coalesce(product.confirmed_at, excluded.since)
        WHEN product.state IN ('pending', 'doubtful') AND product.part <> 'left' THEN product.since
        ELSE excluded.since
      END`

const leave = (sql: SqlClient.SqlClient) =>
  sql`UPDATE product SET part = 'left' WHERE part = 'named' AND NOT EXISTS (
    SELECT 1 FROM staged WHERE staged.id = product.id AND ${sql.literal(Staging.good)})`

// Begins with a write, because SQLite refuses to write for good where another process wrote after this one had begun to read.
const takeOver = (sql: SqlClient.SqlClient, now: number) =>
  sql.withTransaction(Effect.all([
    sql`UPDATE snapshot SET taken_at = ${now}, held_since = NULL, held_at = NULL, zeroed = NULL, dropped = NULL, catalogue = NULL`,
    Staging.noteSetAside(sql),
    change(sql, now),
    leave(sql)
  ], { discard: true }))

const hold = (sql: SqlClient.SqlClient, now: number, { catalogue, dropped, zeroed }: Brake.Damage) =>
  Effect.map(
    sql<{ held_since: number }>`UPDATE snapshot SET held_since = coalesce(held_since, ${now}), held_at = ${now},
      zeroed = ${zeroed}, dropped = ${dropped}, catalogue = ${catalogue} RETURNING held_since`,
    ([row]): Held => ({ since: row?.held_since ?? now, at: now, zeroed, dropped, catalogue })
  )

const heldBy = (brake: Brake.Brake, held: Held) =>
  new SnapshotHeld({
    held,
    message: `the source would take ${held.zeroed + held.dropped} of ${held.catalogue} products out of sale (${held.zeroed} with stock 0, ` +
      `${held.dropped} no longer named), more than ${Number((brake.share * 100).toFixed(2))}% and more than ${brake.count}: nothing of it ` +
      "was taken. If it is right, run it again with --confirm; if not, mend the source"
  })

/**
 * Takes rows over as the next snapshot. If they fail or the brake holds them, nothing of them is left.
 *
 * @since 0.1.0
 * @category constructors
 */
export const receive = ({ run, sql }: Access): Ledger["Type"]["receive"] =>
<E, R>(rows: Stream.Stream<Row, E, R>, terms: Terms): Effect.Effect<Received, E | LedgerFault | SnapshotHeld, R> =>
  Effect.gen(function*() {
    yield* run(Staging.open(sql))
    yield* rows.pipe(
      Stream.rechunk(Staging.batch),
      Stream.runForEachChunk((chunk) => run(Staging.gather(sql, chunk)))
    )
    const received = yield* run(examine(sql, terms))
    const now = yield* Clock.currentTimeMillis
    if (received.braked && !terms.confirmed) return yield* heldBy(terms.brake, yield* run(hold(sql, now, received.damage)))
    yield* run(takeOver(sql, now))
    return received
  }).pipe(Effect.ensuring(Effect.ignore(run(Staging.drop(sql)))))
