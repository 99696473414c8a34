/**
 * Receives a snapshot into a ledger of `plaza-stock-sync`, and measures the time to open it, to receive and to read, and the memory.
 */
import { NodeContext } from "@effect/platform-node"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SqlClient from "@effect/sql/SqlClient"
import * as SqliteClient from "@plaza-legacy/client/sqlite"
import { ProductId } from "@plaza-legacy/domain/Ids"
import { Ledger, type LedgerOptions } from "@plaza-legacy/stock-sync/ledger/Ledger"
import * as Open from "@plaza-legacy/stock-sync/ledger/Open"
import type { SnapshotPolicy } from "@plaza-legacy/stock-sync/ledger/Snapshot"
import type { Row } from "@plaza-legacy/tabular/Stock"
import { onRequest } from "@plaza/benchmarks/programs/ChildProtocol"
import type { Task } from "@plaza/benchmarks/programs/ledger/Task"
import { Chunk, Context, Duration, Effect, Layer, Option, Redacted, Stream } from "effect"

const chunk = 1_000
// Has no factor in common with the number of products, so that every product occurs once and the ids are not sorted.
const step = 7_919

const rows = ({ changes, products }: Task) =>
  Stream.unfoldChunk(0, (from) =>
    from >= products ? Option.none() : Option.some([
      Chunk.makeBy(Math.min(chunk, products - from), (offset): Row => {
        const product = ((from + offset) * step) % products
        return {
          _tag: "Valid",
          line: from + offset + 2,
          productId: ProductId.make(`SKU-${product}`),
          stock: (product % 97) + (product < changes ? 100 : 1)
        }
      }),
      from + chunk
    ]))

const database = (place: string): Layer.Layer<SqlClient.SqlClient, unknown> =>
  place.startsWith("postgres:")
    ? PgClient.layer({ url: Redacted.make(`${place}?options=-c%20search_path%3Dplaza_stock_sync`) })
    : SqliteClient.layer({ filename: place })

const settle = (place: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE product SET state = 'settled', confirmed = wanted, confirmed_at = since`).pipe(
    Effect.provide(database(place))
  )

const options: LedgerOptions = { historyLimit: 100_000, lateWrites: Duration.minutes(1), rateWindow: Duration.minutes(1) }
const policy: SnapshotPolicy = {
  missing: "leave",
  duplicates: "reject",
  guard: { share: 0.2, count: 10, window: Duration.days(1) },
  maxBadRows: undefined
}

const elapsed = (since: bigint) => Number(process.hrtime.bigint() - since) / 1e9

const receive = (task: Task) =>
  Effect.gen(function*() {
    const start = process.hrtime.bigint()
    const opened = yield* Layer.build(Layer.provide(Open.layer(task.place, options), NodeContext.layer))
    const opening = elapsed(start)
    const before = process.hrtime.bigint()
    const ledger = Context.get(opened, Ledger)
    const { changed } = yield* ledger.applySnapshot({ source: "memory", unit: "row", excluded: new Set(), rows: rows(task) }, policy)
    const seconds = elapsed(before)
    const read = process.hrtime.bigint()
    yield* Effect.all([ledger.counts, ledger.backlog, Stream.runDrain(ledger.queue)])
    return { changed, opening, seconds, reading: elapsed(read), peak: process.resourceUsage().maxRSS * 1_024 }
  }).pipe(Effect.scoped)

onRequest((request) => {
  // The cast is true: only our parent process sends requests, and of this type.
  const task = request as Task
  const received = receive(task)
  return Effect.runPromise(task.settle ? Effect.tap(received, () => settle(task.place)) : received)
})
