/** The products of a ledger, read from its tables while no program uses it. */
import { Effect, Schema } from "effect"
import { inDatabase } from "../ledger/places.ts"

const Row = Schema.Struct({
  id: Schema.String,
  wanted: Schema.Finite,
  confirmed: Schema.NullOr(Schema.Finite),
  doubt_until: Schema.NullOr(Schema.Finite),
  state: Schema.Literals(["settled", "pending", "sending", "doubtful", "uncertain", "quarantined"])
})
export type LedgerRow = typeof Row.Type

const decode = Schema.decodeUnknownEffect(Schema.Array(Row))

/** All of its products. A process that was killed early has created no tables. */
export const all = (place: string): Effect.Effect<ReadonlyArray<LedgerRow>> =>
  inDatabase(place, (sql) =>
    Effect.gen(function*() {
      const tables = yield* sql.onDialectOrElse({
        pg: () => sql`SELECT 1 AS found FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'product'`,
        orElse: () => sql`SELECT 1 AS found FROM sqlite_master WHERE name = 'product'`
      })
      if (tables.length === 0) return []
      // Postgres would return whole numbers as texts.
      return yield* decode(
        yield* sql`SELECT id, CAST(wanted AS DOUBLE PRECISION) AS wanted, CAST(confirmed AS DOUBLE PRECISION) AS confirmed,
          CAST(doubt_until AS DOUBLE PRECISION) AS doubt_until, state FROM product`
      )
    }))
