/** A service of an application: sets the stock of a product, and announces it when it is back in stock. */
import { type ClientError, FailureScope, Posts, Store } from "@plaza/client"
import type { ProductId } from "@plaza/domain"
import { Clock, Duration, Effect, SynchronizedRef } from "effect"

/** The time during which a product is announced once. */
const quietTime = Duration.days(1)

/** `unknown`: the post may exist. The service announces the product again after the quiet time, and not before. */
export type Announcement = "announced" | "unknown" | "not announced"

export class RestockAlerts extends Effect.Service<RestockAlerts>()("app/RestockAlerts", {
  effect: Effect.gen(function*() {
    const store = yield* Store
    const posts = yield* Posts
    const quietUntil = yield* SynchronizedRef.make<ReadonlyMap<ProductId, number>>(new Map())

    const announce = (product: ProductId): Effect.Effect<Announcement, ClientError.Failure> =>
      SynchronizedRef.modifyEffect(quietUntil, (quiet) =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          if (now < (quiet.get(product) ?? 0)) return ["not announced" as const, quiet] as const
          const announced = yield* posts.create({ text: `${product} is back in stock.` }).pipe(
            Effect.as("announced" as const),
            Effect.catchIf(FailureScope.mayHaveHappened, () => Effect.succeed("unknown" as const))
          )
          return [announced, new Map(quiet).set(product, now + Duration.toMillis(quietTime))] as const
        }))

    return {
      /** Sends the new stock. Announces the product if it was sold out before and is not any more. */
      restock: (product: ProductId, { from, to }: { readonly from: number; readonly to: number }) =>
        Effect.zipRight(
          store.setStock(product, to),
          from === 0 && to > 0 ? announce(product) : Effect.succeed<Announcement>("not announced")
        )
    }
  })
}) {}
