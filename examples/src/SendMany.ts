/**
 * Sends many stock values with one key, the most urgent first. A refused product doesn't stop the others. While the service accepts
 * none, the circuit breaker permits one at a time.
 */
import { CircuitBreaker, FailureScope, Profiles, StockPriority, Store } from "@plaza/client"
import type { ProductId } from "@plaza/domain"
import { Array, Effect, Either, Order } from "effect"

interface Change {
  readonly product: ProductId
  readonly wanted: number
  readonly confirmed: number | undefined
}

const urgencyOf = ({ confirmed, wanted }: Change) =>
  StockPriority.priorities.indexOf(StockPriority.of({ wanted, confirmed, doubt: undefined }))

export const sendMany = (changes: ReadonlyArray<Change>) =>
  Effect.gen(function*() {
    const store = yield* Store
    const { me } = yield* Profiles
    const breaker = yield* CircuitBreaker.make<ProductId>({
      probe: me,
      onState: (state) => Effect.logInfo("circuit_breaker.changed", state._tag === "Open" ? state.reason : state._tag)
    })
    return yield* Effect.forEach(Array.sortWith(changes, urgencyOf, Order.number), ({ product, wanted }) =>
      Effect.gen(function*() {
        const permit = yield* breaker.acquire
        const failure = Either.getOrUndefined(Either.flip(yield* Effect.either(store.setStock(product, wanted))))
        yield* breaker.record(permit, product, failure)
        return { product, failure: failure?._tag, mayHaveHappened: failure !== undefined && FailureScope.mayHaveHappened(failure) }
      }))
  })
