/** The first snapshot of a ledger in Postgres: its rows are staged as they are, and the indexes that it fills are created with it. */
import { Reactivity } from "@effect/experimental"
import { NodeContext } from "@effect/platform-node"
import type { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it } from "@effect/vitest"
import * as SqliteClient from "@plaza-legacy/client/sqlite"
import { SourceError } from "@plaza-legacy/tabular/SourceError"
import * as Postgres from "@plaza-legacy/testing/Postgres"
import { Chunk, Effect, FastCheck as fc, Fiber, Redacted, Schedule, Stream } from "effect"
import { randomUUID } from "node:crypto"
import * as ApplySnapshot from "../src/ledger/ApplySnapshot.ts"
import * as Dialect from "../src/ledger/Dialect.ts"
import * as LedgerConnection from "../src/ledger/LedgerConnection.ts"
import * as Migrations from "../src/ledger/Migrations.ts"
import { faultOf } from "../src/ledger/SqliteErrors.ts"
import * as Staging from "../src/ledger/Staging.ts"
import * as Tables from "../src/ledger/Tables.ts"
import { collect, inDatabase, intake, policy, queueOf, receive, row, using } from "./support/ledger/using.ts"
import { shared } from "./support/shared.ts"

let server = ""
shared(Postgres.scoped, ({ url }) => {
  server = url
})

const schemaOf = (place: string) => new URL(place).searchParams.get("schema") ?? ""
const fresh = Effect.sync(() => `${server}?schema=f_${randomUUID().replaceAll("-", "_")}`)

describe("staged rows", () => {
  // Among them all characters with a meaning in an array of Postgres, and its word for null.
  const text = fc.oneof(
    fc.array(fc.constantFrom("\"", "\\", "{", "}", ",", " ", "\n", "\t", "'", "NULL", "null", "a", "é", "𝄞"), { maxLength: 8 })
      .map((parts) => parts.join("")),
    fc.fullUnicodeString().filter(LedgerConnection.isStorable)
  )
  const staged = fc.tuple(
    fc.maxSafeNat(),
    fc.option(text),
    fc.option(fc.maxSafeNat()),
    fc.constantFrom("good" as const, "negative" as const, "excluded" as const, "bad" as const),
    fc.option(text)
  )

  it.effect.prop("are read as they were written", { rows: fc.array(staged, { maxLength: 20 }) }, ({ rows }) =>
    Effect.gen(function*() {
      const sql = yield* PgClient.make({ url: Redacted.make(server), maxConnections: 1 })
      const read = yield* Staging.select(sql, rows).values
      expect(read.map(([line, id, stock, kind, reason]) => [Number(line), id, stock === null ? null : Number(stock), kind, reason]))
        .toEqual(rows)
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer)), { fastCheck: { numRuns: 30 } })

  it.effect("are read a few batches ahead, however many there are", () =>
    Effect.gen(function*() {
      const sql = yield* SqliteClient.make({ filename: ":memory:" })
      yield* Migrations.inOrder(sql, Tables.create(Dialect.sqlite))
      const connection = LedgerConnection.make(sql, "memory", faultOf("memory"))
      let statements = 0
      // The table is created, and the first batch is written for ever.
      const blocked: LedgerConnection.LedgerConnection = {
        ...connection,
        run: (effect) => Effect.suspend(() => ++statements === 2 ? Effect.never : connection.run(effect))
      }
      let batches = 0
      const rows = Stream.repeatEffectChunk(
        Effect.sync(() => {
          batches++
          return Chunk.makeBy(Staging.batchSize, (index) => row(`P${batches}-${index}`, 1))
        })
      )
      const applied = yield* Effect.fork(ApplySnapshot.apply(blocked)(intake(rows), policy))
      yield* Effect.suspend(() => batches > 1 ? Effect.void : Effect.fail("nothing is read ahead")).pipe(
        Effect.retry(Schedule.recurs(10_000))
      )
      yield* Effect.repeat(Effect.yieldNow(), Schedule.recurs(1_000))
      expect(batches).toBeLessThan(6)
      expect(applied.unsafePoll()).toBeNull()
      yield* Fiber.interrupt(applied)
    }).pipe(Effect.scoped, Effect.provide([Reactivity.layer, NodeContext.layer])))
})

describe("the indexes of a new ledger", () => {
  const definitions = (place: string) =>
    inDatabase(place, (sql: SqlClient.SqlClient) =>
      Effect.map(
        sql<{ readonly indexdef: string }>`SELECT indexdef FROM pg_indexes WHERE schemaname = ${schemaOf(place)}
          AND tablename IN ('product', 'request') ORDER BY indexname`,
        (rows) => rows.map(({ indexdef }) => indexdef.replaceAll(`${schemaOf(place)}.`, ""))
      ))
  // All of them, as the tables of a fleet have.
  const complete = Effect.gen(function*() {
    const place = yield* fresh
    yield* inDatabase(place, (sql) =>
      Migrations.inOrder(sql, [
        `CREATE SCHEMA ${schemaOf(place)}`,
        ...Tables.create({ ...Dialect.postgres, indexesLater: false })
      ]))
    return yield* definitions(place)
  })

  it.effect("are complete after the first snapshot that is applied, and stay so", () =>
    Effect.gen(function*() {
      const all = yield* complete
      const place = yield* fresh
      yield* using(place, (ledger) =>
        Effect.gen(function*() {
          const broken = new SourceError({ source: "x", line: 2, message: "broken" })
          yield* Effect.flip(ledger.applySnapshot(intake(Stream.concat(Stream.make(row("A", 1)), Stream.fail(broken))), policy))
          expect(all).toEqual(expect.arrayContaining([...(yield* definitions(place))]))
          expect(yield* definitions(place)).toHaveLength(all.length - 2)
          yield* receive(ledger, row("A", 1))
          expect(yield* definitions(place)).toEqual(all)
          yield* receive(ledger, row("A", 2), row("B", 1))
          expect(yield* definitions(place)).toEqual(all)
        }))
      yield* using(place, (ledger) => Effect.map(queueOf(ledger), (queue) => expect(queue).toHaveLength(2)))
    }))

  it.effect("are completed in a ledger without them that has products", () =>
    Effect.gen(function*() {
      const place = yield* fresh
      yield* using(place, (ledger) => receive(ledger, row("A", 1)))
      yield* inDatabase(place, (sql) => Migrations.inOrder(sql, ["DROP INDEX product_due", "DROP INDEX product_unsettled"]))
      yield* using(place, (ledger) => receive(ledger, row("A", 2)))
      expect(yield* definitions(place)).toEqual(yield* complete)
    }))

  it.effect("are not created by a preview", () =>
    Effect.gen(function*() {
      const place = yield* fresh
      yield* using(place, () => Effect.void)
      const before = yield* definitions(place)
      yield* using(place, (ledger) =>
        Effect.gen(function*() {
          yield* ledger.previewSnapshot(intake(Stream.make(row("A", 1))), policy)
          expect(yield* collect(ledger.all)).toHaveLength(1)
        }), "layerTemporaryCopy")
      expect(yield* definitions(place)).toEqual(before)
    }))
})
