/**
 * The handlers call the client, and map its failures to responses in one place: first whether the call may have happened, then by
 * category, because the service may have codes that are newer than this program.
 */
import { HttpApiBuilder } from "@effect/platform"
import { ClientError, FailureScope, Posts, Store } from "@plaza/client"
import { Duration, Effect } from "effect"
import { Misconfigured, OutcomeUnknown, Rejected, ShopApi, TryLater, UnknownProduct } from "./ShopApi.ts"

type ErrorResponse = Rejected | TryLater | OutcomeUnknown | Misconfigured

const toResponse = (failure: ClientError.Failure): Effect.Effect<never, ErrorResponse> =>
  Effect.gen(function*() {
    if (FailureScope.mayHaveHappened(failure)) return yield* new OutcomeUnknown()
    switch (ClientError.categoryOf(failure)) {
      case "InvalidRequest":
      case "TooLarge":
      case "NotFound":
      case "Conflict":
        return yield* new Rejected({ reason: failure.message })
      case "RateLimited": {
        const wait = yield* FailureScope.waitOf(failure)
        return yield* new TryLater({ retryAfterSeconds: Math.ceil(Duration.toSeconds(wait)) })
      }
      case "ServiceFault":
        return yield* new TryLater({ retryAfterSeconds: 10 })
      case "Unauthenticated":
      case "Forbidden":
        yield* Effect.logError("shop.refused", failure)
        return yield* new Misconfigured()
    }
  })

export const ShopHandlers = HttpApiBuilder.group(ShopApi, "shop", (handlers) =>
  Effect.gen(function*() {
    const store = yield* Store
    const posts = yield* Posts
    return handlers
      .handle("setStock", ({ path: { product }, payload: { pieces } }) =>
        store.setStock(product, pieces).pipe(
          Effect.asVoid,
          Effect.catchAll((failure): Effect.Effect<never, UnknownProduct | ErrorResponse> =>
            ClientError.categoryOf(failure) === "NotFound" && !FailureScope.mayHaveHappened(failure)
              ? new UnknownProduct({ product })
              : toResponse(failure)
          )
        ))
      .handle("announce", ({ payload }) =>
        posts.create(payload).pipe(
          Effect.map(({ id }) => ({ post: id })),
          Effect.catchAll(toResponse)
        ))
  }))
