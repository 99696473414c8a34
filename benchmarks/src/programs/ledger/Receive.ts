/**
 * A ledger of `plaza-stock-sync` that is given a snapshot: how long that and opening it take, and how large the process became. Knows
 * nothing of what the figures are compared with.
 *
 * @since 0.1.0
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as SqlClient from "@effect/sql/SqlClient"
import { NodeContext } from "@effect/platform-node"
import { ProductId } from "@plaza/domain/Ids"
import type { Row } from "@plaza/rows/Stock"
import { Chunk, Context, Effect, Layer, Option, Redacted, Stream } from "effect"
import * as Brake from "@plaza/stock-sync/Brake"
import { Ledger } from "@plaza/stock-sync/Ledger"
import * as Open from "@plaza/stock-sync/Ledger/Open"
import { answering } from "../answering.js"

/** @since 0.1.0 @category models */
export interface Task {
  /** As `--ledger` names it. */
  readonly place: string
  readonly products: number
  /** How many of them have another stock than at first. */
  readonly changes: number
  /** Afterwards everything counts as confirmed, as it would be after days of sending. */
  readonly settle: boolean
}

const chunk = 1_000
// Has no factor in common with the number of products, so that ids come in no order: a file is sorted by anything but these.
const step = 7_919

const rows = ({ changes, products }: Task) =>
  Stream.unfoldChunk(0, (from) =>
    from >= products ? Option.none() : Option.some([
      Chunk.makeBy(Math.min(chunk, products - from), (offset): Row => {
        const product = ((from + offset) * step) % products
        return { _tag: "Good", line: from + offset + 2, productId: ProductId.make(`SKU-${product}`), stock: (product % 97) + (product < changes ? 100 : 1) }
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

const elapsed = (since: bigint) => Number(process.hrtime.bigint() - since) / 1e9

const receive = (task: Task) =>
  Effect.gen(function*() {
    const start = process.hrtime.bigint()
    const opened = yield* Layer.build(Layer.provide(Open.layer(task.place), NodeContext.layer))
    const opening = elapsed(start)
    const before = process.hrtime.bigint()
    const { changed } = yield* Context.get(opened, Ledger).receive(rows(task), { gone: "leave", brake: Brake.usual, confirmed: false })
    return { changed, opening, seconds: elapsed(before), peak: process.resourceUsage().maxRSS * 1_024 }
  }).pipe(Effect.scoped)

answering((question) => {
  // The process that asks is ours and asks by this type.
  const task = question as Task
  const received = receive(task)
  return Effect.runPromise(task.settle ? Effect.tap(received, () => settle(task.place)) : received)
})
