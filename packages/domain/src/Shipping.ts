/**
 * The state machine of an order: the two states that the document names and the transition between them, as a pure function.
 *
 * Source: interface v1, "States and transitions".
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { NewShipment } from "./Requests.ts"

/**
 * The carrier and tracking number of a shipped order.
 *
 * @since 0.1.0
 * @category models
 */
export type Shipment = NewShipment

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
export class AlreadyShipped extends Schema.TaggedError<AlreadyShipped>()("AlreadyShipped", { shipment: NewShipment }) {}

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
): Result.Result<ShippingState, AlreadyShipped> =>
  ShippingState.$match(state, {
    NotShipped: () => Result.succeed(ShippingState.Shipped({ shipment })),
    Shipped: ({ shipment }) => Result.fail(new AlreadyShipped({ shipment }))
  })
