/**
 * An order ships once.
 */
import { describe, expect, it } from "@effect/vitest"
import { arrayOf } from "@plaza/testing/Generators"
import { Arbitrary, Result } from "effect"
import { NewShipment } from "../src/Requests.ts"
import { AlreadyShipped, ship, ShippingState } from "../src/Shipping.ts"

const shipment = Arbitrary.schema(NewShipment)

describe("an order", () => {
  it.prop("is shipped by the first shipment, whose carrier and tracking number it keeps", [shipment], ([first]) => {
    expect(ship(ShippingState.NotShipped(), first)).toEqual(Result.succeed(ShippingState.Shipped({ shipment: first })))
  })

  it.prop("never changes after its first shipment", [shipment, arrayOf(shipment, { minLength: 1 })], ([first, more]) => {
    let state = Result.getOrThrow(ship(ShippingState.NotShipped(), first))
    for (const next of [first, ...more]) {
      const second = ship(state, next)
      expect(second).toEqual(Result.fail(new AlreadyShipped({ shipment: first })))
      state = Result.getOrElse(second, () => state)
    }
    expect(state).toEqual(ShippingState.Shipped({ shipment: first }))
  })
})
