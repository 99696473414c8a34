/** The rows of a snapshot, which are staged as they are, a few batches ahead of the database. */
import { describe, expect, it } from "@effect/vitest"
import type { Row } from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import * as Postgres from "@plaza/testing/Postgres"
import { Arbitrary, Effect, Fiber, Schedule, Stream } from "effect"
import { Statement } from "effect/sql"
import { RowsAhead } from "../src/ledger/snapshot/Apply.ts"
import * as Stage from "../src/ledger/snapshot/Stage.ts"
import { inDatabase } from "./support/ledger/places.ts"
import { id, intake, policy, row } from "./support/ledger/using.ts"
import { shared } from "./support/shared.ts"
import { memoryLedger } from "./support/simulation.ts"

let server = ""
shared(Postgres.scoped, ({ url }) => {
  server = url
})

// Among them all characters with a meaning in an array of Postgres, and its word for null.
const parts = ["\"", "\\", "{", "}", ",", " ", "\n", "\t", "'", "NULL", "null", "a", "é", "𝄞"]
const text = Generate.oneOf(
  Arbitrary.map(Generate.arrayOf(Generate.elementOf(parts), { maxLength: 8 }), (all) => all.join("")),
  Arbitrary.map(Generate.unicode(), (all) => all.replaceAll("\0", ""))
)
const stock = Generate.between(0, Number.MAX_SAFE_INTEGER)
const name = Arbitrary.map(text, (each) => each === "" ? "NULL" : each)
type Staged = readonly [id: string | null, stock: number | null, kind: string, reason: string | null]
/** A row without its line, and what is staged of it. */
const staged = Generate.oneOf<readonly [(line: number) => Row, Staged]>(
  Arbitrary.map(Arbitrary.all([name, stock]),
    ([productId, stock]) => [(line) => ({ _tag: "Valid", line, productId: id(productId), stock }), [productId, stock, "good", null]]),
  Arbitrary.map(name, (productId) => [
    (line) => ({ _tag: "Valid", line, productId: id(productId), stock: 0, negative: true }),
    [productId, 0, "negative", null]
  ]),
  Arbitrary.map(Arbitrary.all([name, text]),
    ([productId, reason]) => [(line) => ({ _tag: "Rejected", line, productId, reason }), [productId, null, "bad", reason]]),
  Arbitrary.map(text, (reason) => [
    (line) => ({ _tag: "Rejected", line, productId: undefined, reason }),
    [null, null, "bad", reason]
  ])
)

describe("staged rows", () => {
  for (const [database, place] of [["SQLite", () => ":memory:"], ["Postgres", () => server]] as const) {
    it.effect.prop(`are read from ${database} as they were written`, [Generate.arrayOf(staged, { maxLength: 20 })], ([rows]) =>
      Effect.gen(function*() {
        const read = yield* inDatabase(place(), (sql) =>
          Effect.gen(function*() {
            yield* Stage.prepare(sql)
            yield* Stage.insert(sql, rows.map(([make], index) =>
              make(index + 2)
            ), new Set())
            return yield* sql`SELECT line, id, stock, kind, reason FROM staged_row ORDER BY line`.values
          }))
        expect(read.map(([line, id, stock, kind, reason]) => [Number(line), id, stock === null ? null : Number(stock), kind, reason]))
          .toEqual(rows.map(([, expected], index) => [index + 2, ...expected]))
      }), { arbitrary: { runs: 30 } })
  }

  it.effect("are read a few batches ahead, however many there are", () =>
    Effect.gen(function*() {
      const { ledger } = yield* memoryLedger()
      let batches = 0
      const rows = Stream.forever(Stream.suspend(() => {
        batches++
        return Stream.fromIterable(Array.from({ length: Stage.batchSize }, (_, index) => row(`P${batches}-${index}`, 1)))
      }))
      // The first batch is written for ever.
      const blocked: typeof Statement.CurrentTransformer["Service"] = (statement) =>
        statement.compile()[0].startsWith("INSERT INTO staged_row") ? Effect.never : Effect.succeed(statement)
      const applied = yield* ledger.applySnapshot(intake(rows), policy).pipe(
        Effect.provideService(Statement.CurrentTransformer, blocked),
        Effect.provideService(RowsAhead, 0),
        Effect.forkChild
      )
      yield* Effect.repeat(Effect.yieldNow, { until: () => batches > 1 })
      yield* Effect.repeat(Effect.yieldNow, Schedule.recurs(1_000))
      expect(batches).toBeLessThan(6)
      expect(applied.pollUnsafe()).toBeUndefined()
      yield* Fiber.interrupt(applied)
    }).pipe(Effect.scoped))
})
