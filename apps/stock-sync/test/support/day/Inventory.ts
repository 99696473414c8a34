/**
 * The stock of a shop in an inventory system (sold, sold out, refilled, recounted), as a source that reports its changes.
 */
import { ProductId } from "@plaza/domain/Ids"
import type { Row } from "@plaza/tabular/Stock"
import { Effect, Option, Queue, Random, Stream } from "effect"
import type { Source } from "../../../src/source/Source.ts"

export interface Inventory {
  readonly source: Source["Service"]
  readonly stock: ReadonlyMap<ProductId, number>
  /** Reduces the stock of a number of products, a third of which sell out. */
  readonly sell: (products: number) => Effect.Effect<void>
  /** Sets a random stock for a number of products. */
  readonly recount: (products: number) => Effect.Effect<void>
  /** Refills all products that are sold out. */
  readonly fillUp: Effect.Effect<void>
  /** Makes the current stock the snapshot of the source, and signals a change. */
  readonly publish: Effect.Effect<void>
}

export const make = (products: number): Effect.Effect<Inventory> =>
  Effect.gen(function*() {
    const ids = Array.from({ length: products }, (_, index) => ProductId.make(`P${index}`))
    const stock = new Map(ids.map((id) => [id, 10]))
    const changes = yield* Queue.sliding<void>(1)
    let version = 0
    let published: ReadonlyArray<Row> = []

    const some = (count: number) =>
      Effect.replicateEffect(Effect.map(Random.nextIntBetween(0, products - 1), (index) => ids[index] ?? ProductId.make("P0")), count)
    const among = (count: number, change: (id: ProductId, random: number) => void) =>
      Effect.flatMap(some(count), Effect.forEach((id) => Effect.map(Random.next, (random) => change(id, random)), { discard: true }))

    const publish = Effect.suspend(() => {
      version++
      published = ids.map((productId, index): Row => ({ _tag: "Valid", line: index + 2, productId, stock: stock.get(productId) ?? 0 }))
      return Queue.offer(changes, undefined)
    })
    yield* publish

    return {
      stock,
      sell: (count) =>
        among(count, (id, random) => stock.set(id, random < 1 / 3 ? 0 : Math.max(0, (stock.get(id) ?? 0) - Math.ceil(random * 3)))),
      recount: (count) => among(count, (id, random) => stock.set(id, Math.floor(random * 100))),
      fillUp: Effect.sync(() => ids.filter((id) => stock.get(id) === 0).forEach((id) => stock.set(id, 25))),
      publish,
      source: {
        name: "an inventory",
        open: (taken) =>
          Effect.sync(() =>
            Option.contains(taken, String(version))
              ? Option.none()
              : Option.some({
                version: Option.some(String(version)),
                unit: "row" as const,
                excluded: new Set<string>(),
                rows: Stream.fromIterable(published)
              })
          ),
        changes: Stream.fromQueue(changes)
      }
    }
  })
