/**
 * Logs each failed attempt of a call, with the wait before the next one.
 */
import { Plaza, Store } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import { Effect } from "effect"

export const observed = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("MUG-BLUE-350"), 12)).pipe(
  Plaza.onAttempt(({ delay, failure, number, operation }) =>
    failure === undefined
      ? Effect.void
      : Effect.logWarning("attempt.failed", { operation, number, failure: failure._tag, delay })
  )
)
