/** The interface of the application, with its own errors. They tell the caller what to do; those of the service stay in the log. */
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { PostId, ProductId } from "@plaza/domain"
import { Schema } from "effect"

/** The service doesn't know the product. */
export class UnknownProduct
  extends Schema.TaggedError<UnknownProduct>()("UnknownProduct", { product: ProductId }, HttpApiSchema.annotations({ status: 404 }))
{}

/** The service refuses the content of the request. */
export class Rejected
  extends Schema.TaggedError<Rejected>()("Rejected", { reason: Schema.String }, HttpApiSchema.annotations({ status: 422 }))
{}

/** Nothing happened. The caller sends the request again after some seconds. */
export class TryLater
  extends Schema.TaggedError<TryLater>()("TryLater", { retryAfterSeconds: Schema.Int }, HttpApiSchema.annotations({ status: 503 }))
{}

/** It may have happened. The caller looks at the account before it sends the request again. */
export class OutcomeUnknown
  extends Schema.TaggedError<OutcomeUnknown>()("OutcomeUnknown", {}, HttpApiSchema.annotations({ status: 502 }))
{}

/** The key or the account of the application can't do this. Nothing happened, and the operator reads the log. */
export class Misconfigured extends Schema.TaggedError<Misconfigured>()("Misconfigured", {}, HttpApiSchema.annotations({ status: 500 })) {}

export class ShopApi extends HttpApi.make("shop").add(
  HttpApiGroup.make("shop")
    .add(
      HttpApiEndpoint.put("setStock", "/products/:product/stock")
        .setPath(Schema.Struct({ product: ProductId }))
        .setPayload(Schema.Struct({ pieces: Schema.NonNegativeInt }))
        .addError(UnknownProduct)
    )
    .add(
      HttpApiEndpoint.post("announce", "/announcements")
        .setPayload(Schema.Struct({ text: Schema.NonEmptyTrimmedString }))
        .addSuccess(Schema.Struct({ post: PostId }), { status: 201 })
    )
    .addError(Rejected)
    .addError(TryLater)
    .addError(OutcomeUnknown)
    .addError(Misconfigured)
) {}
