/**
 * Sends many stock values with one key, sold-out products first. A refused product doesn't stop the others. While the service accepts
 * none, the circuit breaker permits one at a time.
 */
import { CircuitBreaker, FailureScope, Profiles, Store } from "@plaza/client"
import type { ProductId } from "@plaza/domain"
import { Array, Effect, Order, Result } from "effect"

interface Change {
  readonly product: ProductId
  readonly wanted: number
  readonly confirmed: number | undefined
}

/** Sold-out products first, then those with less stock than before. */
const priorityOf = ({ confirmed, wanted }: Change) => wanted === 0 ? 0 : confirmed !== undefined && wanted < confirmed ? 1 : 2

export const sendMany = Effect.fn("sendMany")(function*(changes: ReadonlyArray<Change>) {
  const { setStock } = yield* Store
  const { me } = yield* Profiles
  const breaker = yield* CircuitBreaker.make<ProductId>({
    probe: me,
    onState: (state) => Effect.logInfo("circuit_breaker.changed", state._tag === "Open" ? state.reason : state._tag)
  })
  const send = Effect.fn("sendMany.send")(function*({ product, wanted }: Change) {
    const permit = yield* breaker.acquire
    const result = yield* Effect.result(setStock(product, wanted))
    const failure = Result.isFailure(result) ? result.failure : undefined
    yield* breaker.record(permit, product, failure)
    return { product, failure: failure?._tag, mayHaveHappened: failure !== undefined && FailureScope.mayHaveHappened(failure) }
  })
  return yield* Effect.forEach(Array.sortWith(changes, priorityOf, Order.Number), send)
})
