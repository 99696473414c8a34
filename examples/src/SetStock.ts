/**
 * Sets the stock of several products concurrently. Reports products that the store doesn't have, and those whose outcome is unknown. Any
 * other failure ends the program.
 */
import { ClientError, FailureScope, Store } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import { Effect } from "effect"

export const setStock = Effect.fn("setStock")(function*(wanted: Readonly<Record<string, number>>) {
  const store = yield* Store
  return yield* Effect.forEach(
    Object.entries(wanted),
    ([id, stock]) =>
      store.setStock(ProductId.make(id), stock).pipe(
        Effect.as({ id, outcome: "set" as const }),
        Effect.catchIf(FailureScope.mayHaveHappened, () => Effect.succeed({ id, outcome: "may be set: repeat it" as const })),
        ClientError.catchCategory("NotFound", () => Effect.succeed({ id, outcome: "unknown product" as const }))
      ),
    { concurrency: 4 }
  )
})
