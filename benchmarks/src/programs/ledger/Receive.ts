/**
 * Receives a snapshot into a ledger of `plaza-stock-sync`, and measures the time for it and the largest memory.
 */
import { NodeServices } from "@effect/platform-node"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SqliteClient from "@plaza/client/sqlite"
import { ProductId } from "@plaza/domain/Ids"
import { Ledger, type LedgerOptions } from "@plaza/stock-sync/ledger/Ledger"
import * as Open from "@plaza/stock-sync/ledger/Open"
import type { SnapshotPolicy } from "@plaza/stock-sync/ledger/Snapshot"
import type { Row } from "@plaza/tabular/Stock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { SqlClient } from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import { onRequest } from "../ChildProtocol.ts"
import type { Task } from "./Task.ts"

// Has no factor in common with the number of products, so that every product occurs once and the ids are not sorted.
const step = 7_919

function* rows({ changes, products }: Task): Generator<Row> {
  for (let index = 0; index < products; index++) {
    const product = (index * step) % products
    yield {
      _tag: "Valid",
      line: index + 2,
      productId: ProductId.make(`SKU-${product}`),
      stock: (product % 97) + (product < changes ? 100 : 1)
    }
  }
}

const settle = (place: string) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient
    const product = sql.onDialectOrElse({ pg: () => sql`plaza_stock_sync.product`, orElse: () => sql`product` })
    yield* sql`UPDATE ${product} SET state = 'settled', confirmed = wanted, confirmed_at = queued_at`
  }).pipe(
    Effect.provide(
      place.startsWith("postgres:") ? PgClient.layer({ url: Redacted.make(place) }) : SqliteClient.layer({ filename: place })
    )
  )

const options: LedgerOptions = { historyLimit: 100_000, lateWrites: Duration.minutes(1), rateWindow: Duration.minutes(1) }
const policy: SnapshotPolicy = {
  missing: "leave",
  duplicates: "reject",
  guard: { share: 0.2, count: 10, window: Duration.days(1) },
  maxBadRows: undefined
}

const receive = (task: Task) =>
  Effect.gen(function*() {
    const ledger = Context.get(yield* Layer.build(Layer.provide(Open.layer(task.place, options), NodeServices.layer)), Ledger)
    const before = process.hrtime.bigint()
    yield* ledger.applySnapshot(
      { source: "memory", unit: "row", excluded: new Set(), rows: Stream.fromIterable(rows(task), { chunkSize: 1_000 }) },
      policy
    )
    const seconds = Number(process.hrtime.bigint() - before) / 1e9
    // What a status shows counts for the memory.
    yield* Effect.all([ledger.counts, ledger.backlog, Stream.runDrain(ledger.queue)])
    return { seconds, peak: process.resourceUsage().maxRSS * 1_024 }
  }).pipe(Effect.scoped)

onRequest((request) => {
  // The cast is true: only our parent process sends requests, and of this type.
  const task = request as Task
  const received = receive(task)
  return Effect.runPromise(task.settle ? Effect.tap(received, () => settle(task.place)) : received)
})
