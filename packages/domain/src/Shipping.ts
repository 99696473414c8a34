/**
 * The two states of an order that are named and the one move between them. Pure; knows nothing of storage.
 *
 * Source: interface v1, "States and transitions".
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"

/** @since 0.1.0 @category models */
export interface Shipment {
  readonly carrier: string
  readonly trackingNumber: string
}

/** @since 0.1.0 @category models */
export type ShippingState = Data.TaggedEnum<{
  readonly NotShipped: {}
  readonly Shipped: { readonly shipment: Shipment }
}>

/** @since 0.1.0 @category constructors */
export const ShippingState = Data.taggedEnum<ShippingState>()

/**
 * The order has been shipped already and stays as it is.
 *
 * @since 0.1.0
 * @category errors
 */
export class AlreadyShipped extends Data.TaggedError("AlreadyShipped")<{ readonly shipment: Shipment }> {}

/**
 * Ships an order: the first shipment is recorded, any further one is refused (409 CONFLICT on the wire).
 *
 * @since 0.1.0
 * @category transitions
 */
export const ship = (
  state: ShippingState,
  shipment: Shipment
): Either.Either<ShippingState, AlreadyShipped> =>
  ShippingState.$match(state, {
    NotShipped: () => Either.right(ShippingState.Shipped({ shipment })),
    Shipped: ({ shipment }) => Either.left(new AlreadyShipped({ shipment }))
  })
