/** The program that sends the stock of a Postgres table, with a real Postgres, in real time. */
import { PgClient } from "@effect/sql-pg"
import { expect, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { sendStock } from "../src/stock-from-postgres/StockFromPostgres.ts"
import { commitsOf, world } from "./support/World.ts"

const database = Layer.unwrap(Effect.map(Postgres.scoped, ({ url }) => PgClient.layer({ url: Redacted.make(url) })))
const service = world({ retry: Schedule.recurs(4) }, {
  fixtures: { products: ["MUG", "CAP", "TEA"].map((id) => ({ id, stock: 50 })) }
})

const stocks = Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ state }) => state),
  ({ products }) => Object.fromEntries(products.filter(({ id }) => ["MUG", "CAP", "TEA"].includes(id)).map(({ id, stock }) => [id, stock])))

layer(Layer.merge(database, service), { excludeTestServices: true })("the stock of a table", (it) => {
  it.effect("is sent without reservations, sold-out products first, and products that the store doesn't have are reported", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { addFault } = yield* Sandbox.Sandbox
      yield* sql`CREATE TABLE inventory (sku text PRIMARY KEY, on_hand numeric NOT NULL, reserved numeric NOT NULL, is_published boolean NOT NULL)`
      yield* sql`INSERT INTO inventory VALUES ('CAP', 9, 2, true), ('TEA', 1, 3, true), ('MUG', 4, 4, true), ('NONE', 1, 0, true), ('HIDDEN', 1, 0, false)`
      yield* addFault({ kind: "drop", when: "after", method: "PATCH" })
      const { refused, sent } = yield* sendStock
      expect([sent, refused.map(({ sku }) => sku)]).toEqual([4, ["NONE"]])
      expect(yield* stocks).toEqual({ MUG: 0, CAP: 7, TEA: 0 })
      const order = (yield* commitsOf("setStock")).map(({ params }) => params["id"])
      expect(order.indexOf("CAP")).toBeGreaterThan(order.indexOf("MUG"))
    }))

  it.effect("is equal again after a run that the service ended", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { addFault } = yield* Sandbox.Sandbox
      yield* sql`UPDATE inventory SET on_hand = 20 WHERE sku <> 'NONE'`
      yield* addFault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED", method: "PATCH", nth: 2 })
      expect(yield* Effect.flip(sendStock)).toMatchObject({ _tag: "StoreBlocked" })
      yield* sendStock
      expect(yield* stocks).toEqual({ MUG: 16, CAP: 18, TEA: 17 })
    }))
})
