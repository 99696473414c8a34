/**
 * A source file that keeps changing, and every stock that it ever had: enough to say of any order of values whether an older
 * one followed a newer one.
 */
import { Clock, Effect, FileSystem, Random } from "effect"

interface Version {
  readonly stock: number
  readonly at: number
}

/** A stock that the service carried out. */
export interface Write extends Version {
  readonly product: string
  readonly isLate: boolean
}

export interface Feed {
  /** Changes the stock of at least one product, and replaces the file. */
  readonly change: Effect.Effect<void>
  readonly wanted: (product: string) => number | undefined
  /** How often it was changed. */
  readonly changes: () => number
  /** The values that are older than one before them, or that the file never had. */
  readonly outOfOrder: (writes: ReadonlyArray<Write>) => ReadonlyArray<Write>
}

// Falls as often as it rises, and but for 0 no product ever has the same stock twice.
const stockOf = (version: number) => version * 7_919 % 100_003 + 1

/** The share of the products that a change changes, and the share of changes that change all products. */
interface Shares {
  readonly changed: number
  readonly complete: number
}

export const make = (path: string, products: ReadonlyArray<string>, { changed, complete }: Shares = { changed: 0.1, complete: 0.1 }) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const history = new Map<string, Array<Version>>(products.map((product) => [product, []]))
    let changes = 0
    const wanted = (product: string) => history.get(product)?.at(-1)?.stock

    const change = Effect.gen(function*() {
      changes++
      // A few sales, or a new list of everything.
      const share = changes === 1 || (yield* Random.next) < complete ? 1 : changed
      const at = yield* Clock.currentTimeMillis
      let differing = 0
      for (const versions of history.values()) {
        if ((yield* Random.next) >= share) continue
        const stock = (yield* Random.next) < 0.1 ? 0 : stockOf(versions.length)
        if (stock !== versions.at(-1)?.stock) differing++
        versions.push({ stock, at })
      }
      // A change after which there is nothing to send would look like an account that is not served.
      if (differing === 0) {
        const versions = history.get((yield* Random.choice(products)) ?? "")
        versions?.push({ stock: stockOf(versions.length), at })
      }
      yield* files.writeFileString(`${path}.new`, `productId,stock\n${
        products.map((product) => `${product},${wanted(product)}\n`).join("")
      }`)
      yield* files.rename(`${path}.new`, path)
    }).pipe(
      Effect.orDie,
      // The history has the change before the file does.
      Effect.uninterruptible
    )

    const outOfOrder = (writes: ReadonlyArray<Write>) => {
      const reached = new Map<string, number>()
      return writes.filter(({ at, product, stock }) => {
        const from = reached.get(product) ?? 0
        // A 0 may be one of several: the first that fits leaves the most room for what follows.
        const found = (history.get(product) ?? []).findIndex((version, index) =>
          index >= from && version.stock === stock && version.at <= at
        )
        if (found >= 0) reached.set(product, found)
        return found < 0
      })
    }

    return { change, wanted, changes: () => changes, outOfOrder } satisfies Feed
  })
