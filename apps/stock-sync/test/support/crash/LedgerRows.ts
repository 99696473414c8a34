/** The products of a ledger, read from its tables while no program uses it. */
import { Reactivity } from "@effect/experimental"
import { type SqlClient, SqlSchema } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import * as SqliteClient from "@plaza-legacy/client/sqlite"
import { Effect, Redacted, Schema, type Scope } from "effect"
import * as PostgresAddress from "../../../src/ledger/PostgresAddress.ts"

const Row = Schema.Struct({
  id: Schema.String,
  wanted: Schema.Number,
  confirmed: Schema.NullOr(Schema.Number),
  doubt_until: Schema.NullOr(Schema.Number),
  state: Schema.Literal("settled", "pending", "sending", "doubtful", "quarantined")
})
export interface LedgerRow extends Schema.Schema.Type<typeof Row> {}

const rows = (sql: SqlClient.SqlClient, there: Effect.Effect<ReadonlyArray<object>, unknown>, table: string) =>
  Effect.gen(function*() {
    // A process that was killed early has created no tables.
    if ((yield* there).length === 0) return []
    // Postgres would return whole numbers as texts.
    return yield* SqlSchema.findAll({
      Request: Schema.Void,
      Result: Row,
      execute: () =>
        sql.unsafe(`SELECT id, CAST(wanted AS DOUBLE PRECISION) AS wanted, CAST(confirmed AS DOUBLE PRECISION) AS confirmed,
          CAST(doubt_until AS DOUBLE PRECISION) AS doubt_until, state FROM ${table}`)
    })()
  })

const inPostgres = (address: string) =>
  Effect.gen(function*() {
    const { schema, url } = yield* PostgresAddress.parse(address)
    const sql = yield* PgClient.make({ url: Redacted.make(url) })
    return yield* rows(sql, sql`SELECT 1 FROM pg_tables WHERE schemaname = ${schema} AND tablename = 'product'`, `${schema}.product`)
  })

const inFile = (path: string) =>
  Effect.gen(function*() {
    const sql = yield* SqliteClient.make({ filename: path })
    return yield* rows(sql, sql`SELECT 1 FROM sqlite_master WHERE name = 'product'`, "product")
  })

const read = (place: string): Effect.Effect<ReadonlyArray<LedgerRow>, unknown, Scope.Scope | Reactivity.Reactivity> =>
  place.startsWith("postgres:") ? inPostgres(place) : inFile(place)

/** All of its products. */
export const all = (place: string): Effect.Effect<ReadonlyArray<LedgerRow>> =>
  read(place).pipe(Effect.scoped, Effect.provide(Reactivity.layer), Effect.orDie)
