/**
 * A source that keeps changing, and what it ever told of each product: enough to say of any order of values whether an older one came
 * behind a newer one. Knows nothing of who reads it.
 */
import { FileSystem } from "@effect/platform"
import { Clock, Effect, Random } from "effect"

interface Told {
  readonly stock: number
  readonly at: number
}

/** A stock that took effect in the shop. */
export interface Applied extends Told {
  readonly product: string
}

export interface Feed {
  /** Wants other stock of some products, and puts a new file in the place of the old one. */
  readonly change: Effect.Effect<void>
  readonly wanted: (product: string) => number | undefined
  /** How often it was changed. */
  readonly changes: () => number
  /** The values that are older than one that took effect before them, or that were never told. */
  readonly outOfOrder: (applied: ReadonlyArray<Applied>) => ReadonlyArray<Applied>
}

// Falls as often as it rises, and but for 0 no product ever has the same stock twice.
const stockOf = (version: number) => version * 7_919 % 100_003 + 1

export const make = (path: string, products: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const told = new Map<string, Array<Told>>(products.map((product) => [product, []]))
    let changes = 0
    const wanted = (product: string) => told.get(product)?.at(-1)?.stock

    const change = Effect.gen(function*() {
      changes++
      // A few sales, or a new list for the whole shop.
      const share = changes === 1 || (yield* Random.next) < 0.1 ? 1 : 0.1
      const at = yield* Clock.currentTimeMillis
      for (const versions of told.values()) {
        if ((yield* Random.next) >= share) continue
        versions.push({ stock: (yield* Random.next) < 0.1 ? 0 : stockOf(versions.length), at })
      }
      yield* files.writeFileString(`${path}.new`, `productId,stock\n${products.map((product) => `${product},${wanted(product)}\n`).join("")}`)
      yield* files.rename(`${path}.new`, path)
    }).pipe(Effect.orDie)

    const outOfOrder = (applied: ReadonlyArray<Applied>) => {
      const reached = new Map<string, number>()
      return applied.filter(({ at, product, stock }) => {
        const from = reached.get(product) ?? 0
        // A 0 may be one of several: the first that fits leaves the most room for what comes behind it.
        const found = (told.get(product) ?? []).findIndex((version, index) => index >= from && version.stock === stock && version.at <= at)
        if (found >= 0) reached.set(product, found)
        return found < 0
      })
    }

    return { change, wanted, changes: () => changes, outOfOrder } satisfies Feed
  })
