/**
 * Chooses the next request only when a slot of the rate limit is free.
 */
import { RateLimit, Store } from "@plaza/client"
import type { ProductId } from "@plaza/domain"
import { Effect } from "effect"

export const sendMostUrgent = Effect.fn("sendMostUrgent")(
  function*<E, R>(mostUrgent: Effect.Effect<readonly [ProductId, number], E, R>) {
    const { reserve } = yield* RateLimit.RateLimit
    const { setStock } = yield* Store
    const slot = yield* reserve("5 minutes")
    const [product, stock] = yield* mostUrgent
    return yield* RateLimit.inSlot(slot)(setStock(product, stock))
  },
  Effect.scoped
)
