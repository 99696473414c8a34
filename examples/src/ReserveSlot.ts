/**
 * Chooses the next request only when a slot of the rate limit is free.
 */
import { RateLimit, Store } from "@plaza/client"
import type { ProductId } from "@plaza/domain"
import { Duration, Effect } from "effect"

export const sendMostUrgent = <E, R>(mostUrgent: Effect.Effect<readonly [ProductId, number], E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    const limit = yield* RateLimit.RateLimit
    const store = yield* Store
    const slot = yield* limit.reserve(Duration.minutes(5))
    const [product, stock] = yield* mostUrgent
    return yield* RateLimit.inSlot(slot)(store.setStock(product, stock))
  }))
