/** A service of an application: sets the stock of a product, and announces it when it is back in stock. */
import { FailureScope, Posts, Store } from "@plaza/client"
import type { ProductId } from "@plaza/domain"
import { Clock, Context, Duration, Effect, Layer, SynchronizedRef } from "effect"

/** The time during which a product is announced once. */
const quietTime = Duration.days(1)

/** `unknown`: the post may exist. The service announces the product again after the quiet time, and not before. */
export type Announcement = "announced" | "unknown" | "not announced"

export class RestockAlerts extends Context.Service<RestockAlerts, {
  /** Sends the new stock. Announces the product if it was sold out before and is not any more. */
  readonly restock: (
    product: ProductId,
    change: { readonly from: number; readonly to: number }
  ) => Effect.Effect<Announcement, Store.SetStockFailure | Posts.CreateFailure>
}>()("app/RestockAlerts") {
  static readonly layer = Layer.effect(
    RestockAlerts,
    Effect.gen(function*() {
      const store = yield* Store
      const posts = yield* Posts
      const quietUntil = yield* SynchronizedRef.make<ReadonlyMap<ProductId, number>>(new Map())

      const announce = (product: ProductId) =>
        SynchronizedRef.modifyEffect(
          quietUntil,
          Effect.fnUntraced(function*(quiet) {
            const now = yield* Clock.currentTimeMillis
            if (now < (quiet.get(product) ?? 0)) return ["not announced" as const, quiet] as const
            const announced = yield* posts.create({ text: `${product} is back in stock.` }).pipe(
              Effect.as("announced" as const),
              Effect.catchIf(FailureScope.mayHaveHappened, () => Effect.succeed("unknown" as const))
            )
            return [announced, new Map(quiet).set(product, now + Duration.toMillis(quietTime))] as const
          })
        )

      const restock = Effect.fn("RestockAlerts.restock")(
        function*(product: ProductId, { from, to }: { readonly from: number; readonly to: number }) {
          yield* store.setStock(product, to)
          return from === 0 && to > 0 ? yield* announce(product) : "not announced"
        }
      )

      return RestockAlerts.of({ restock })
    })
  )
}
