/** The interface of the application, with its own errors. They tell the caller what to do; those of the service stay in the log. */
import { PostId, ProductId } from "@plaza/domain"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSchema } from "effect/http-api"

/** The service doesn't know the product. */
export class UnknownProduct
  extends Schema.TaggedError<UnknownProduct>()("UnknownProduct", { product: ProductId }, { httpApiStatus: 404 })
{}

/** The service refuses the content of the request. */
export class Rejected extends Schema.TaggedError<Rejected>()("Rejected", { reason: Schema.String }, { httpApiStatus: 422 }) {}

/** Nothing happened. The caller sends the request again after some seconds. */
export class TryLater extends Schema.TaggedError<TryLater>()("TryLater", { retryAfterSeconds: Schema.Int }, { httpApiStatus: 503 }) {}

/** It may have happened. The caller looks at the account before it sends the request again. */
export class OutcomeUnknown extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {}, { httpApiStatus: 502 }) {}

/** The key or the account of the application can't do this. Nothing happened, and the operator reads the log. */
export class Misconfigured extends Schema.TaggedError<Misconfigured>()("Misconfigured", {}, { httpApiStatus: 500 }) {}

/** The request is not what this interface expects. Nothing happened. */
export class InvalidRequest
  extends Schema.TaggedError<InvalidRequest>()("InvalidRequest", { reason: Schema.String }, { httpApiStatus: 400 })
{}

/** Responds with `InvalidRequest`. Without it the response has no body. */
export class RequestCheck extends HttpApiMiddleware.Service<RequestCheck>()("shop/RequestCheck", { error: InvalidRequest }) {}

const errors = [Rejected, TryLater, OutcomeUnknown, Misconfigured] as const

export class ShopApi extends HttpApi.make("shop").add(
  HttpApiGroup.make("shop").add(
    HttpApiEndpoint.put("setStock", "/products/:product/stock", {
      params: { product: ProductId },
      payload: Schema.Struct({ pieces: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)) }),
      error: [UnknownProduct, ...errors]
    }),
    HttpApiEndpoint.post("announce", "/announcements", {
      payload: Schema.Struct({ text: Schema.Trimmed.check(Schema.isNonEmpty()) }),
      success: Schema.Struct({ post: PostId }).pipe(HttpApiSchema.status(201)),
      error: errors
    })
  ).middleware(RequestCheck)
) {}
