/**
 * An order ships once.
 */
import { it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { describe, expect } from "vitest"
import { AlreadyShipped, ship, ShippingState } from "../src/Shipping.ts"

const shipment = FastCheck.record({ carrier: FastCheck.string(), trackingNumber: FastCheck.string() })

describe("an order", () => {
  it.prop("is shipped by the first shipment, whose carrier and tracking number it keeps", [shipment], ([first]) => {
    expect(ship(ShippingState.NotShipped(), first)).toEqual(Either.right(ShippingState.Shipped({ shipment: first })))
  })

  it.prop("never changes after its first shipment", [shipment, FastCheck.array(shipment, { minLength: 1 })], ([first, more]) => {
    const shipped = Either.getOrThrow(ship(ShippingState.NotShipped(), first))
    let state = shipped
    for (const next of [first, ...more]) {
      const answer = ship(state, next)
      expect(answer).toEqual(Either.left(new AlreadyShipped({ shipment: first })))
      state = Either.getOrElse(answer, () => state)
    }
    expect(state).toEqual(ShippingState.Shipped({ shipment: first }))
  })
})
