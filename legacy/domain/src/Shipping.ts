/**
 * The state machine of an order: the two states that the document names and the transition between them, as a pure function.
 *
 * Source: interface v1, "States and transitions".
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Either from "effect/Either"

/**
 * The carrier and tracking number of a shipped order.
 *
 * @since 0.1.0
 * @category models
 */
export interface Shipment {
  readonly carrier: string
  readonly trackingNumber: string
}

/**
 * The shipping state of an order.
 *
 * @since 0.1.0
 * @category models
 */
export type ShippingState = Data.TaggedEnum<{
  readonly NotShipped: {}
  readonly Shipped: { readonly shipment: Shipment }
}>

/** @since 0.1.0 @category constructors */
export const ShippingState = Data.taggedEnum<ShippingState>()

/**
 * The order is already shipped; its shipment doesn't change.
 *
 * @since 0.1.0
 * @category errors
 */
export class AlreadyShipped extends Data.TaggedError("AlreadyShipped")<{ readonly shipment: Shipment }> {}

/**
 * Ships an order. A second shipment fails with `AlreadyShipped` (409 CONFLICT).
 * Source: interface v1, "States and transitions".
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
