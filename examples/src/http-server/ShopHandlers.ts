/**
 * The handlers call the client, and map its failures to responses in one place: first whether the call may have happened, then by
 * category, because the service may have codes that are newer than this program.
 */
import { ClientError, FailureScope, Posts, Store } from "@plaza/client"
import { Duration, Effect, Layer } from "effect"
import { HttpApiBuilder, HttpApiMiddleware } from "effect/http-api"
import { InvalidRequest, Misconfigured, OutcomeUnknown, Rejected, RequestCheck, ShopApi, TryLater, UnknownProduct } from "./ShopApi.ts"

const toResponse = Effect.fn("ShopHandlers.toResponse")(
  function*(failure: ClientError.Failure): Effect.fn.Return<never, Rejected | TryLater | OutcomeUnknown | Misconfigured> {
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
  }
)

const requestCheck = HttpApiMiddleware.layerSchemaErrorTransform(RequestCheck, (error) =>
  // An error of the body is one of a response.
  Effect.fail(error.kind === "Body" ? error : new InvalidRequest({ reason: error.cause.message })))

export const ShopHandlers = HttpApiBuilder.group(
  ShopApi,
  "shop",
  Effect.fn(function*(handlers) {
    const store = yield* Store
    const posts = yield* Posts
    return handlers.handleAll({
      setStock: ({ params: { product }, payload: { pieces } }) =>
        store.setStock(product, pieces).pipe(
          Effect.asVoid,
          Effect.catchIf(
            (failure) => ClientError.categoryOf(failure) === "NotFound" && !FailureScope.mayHaveHappened(failure),
            () => Effect.fail(new UnknownProduct({ product })),
            toResponse
          )
        ),
      announce: ({ payload }) =>
        posts.create(payload).pipe(
          Effect.map(({ id }) => ({ post: id })),
          Effect.catch(toResponse)
        )
    })
  })
).pipe(Layer.provide(requestCheck))
