/** What `plaza stock set` and `plaza orders ship` do. */
import { Output } from "@plaza/cli-kit/Output"
import { Store } from "@plaza/client"
import { OrderId, ProductId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as Client from "./Client.ts"
import * as Write from "./Write.ts"

export const set = Effect.fnUntraced(function*({ product, stock }: { readonly product: string; readonly stock: number }) {
  const store = yield* Store
  const updated = yield* Write.follow("setStock")(store.setStock(ProductId.make(product), stock))
  const output = yield* Output
  yield* output.one(updated, [["id", updated.id], ["stock", updated.stock ?? stock]])
}, Client.provide())

interface Shipment {
  readonly order: string
  readonly carrier: string
  readonly trackingNumber: string
}

export const ship = Effect.fnUntraced(function*({ carrier, order, trackingNumber }: Shipment) {
  const store = yield* Store
  const shipped = yield* Write.follow("shipOrder")(store.ship(OrderId.make(order), { carrier, trackingNumber }))
  const output = yield* Output
  yield* output.one(shipped, [
    ["id", shipped.id],
    ["carrier", shipped.carrier ?? carrier],
    ["trackingNumber", shipped.trackingNumber ?? trackingNumber]
  ])
}, Client.provide())
