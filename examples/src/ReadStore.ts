/**
 * Reads orders that wait for shipment, and the stock of a product. The interface mentions both without paths; these are the paths that the
 * sandbox assumes. Change them if the service uses others.
 */
import { Plaza } from "@plaza/client"
import { Order, PathSegment, Product, type ProductId } from "@plaza/domain"
import { Effect, Stream } from "effect"

/** The orders without a tracking number, of all pages. */
export const unshipped = Plaza.paginate({ path: "/store/orders", item: Order }).pipe(
  Stream.filter(({ trackingNumber }) => trackingNumber === undefined)
)

/** The stock of one product. Its id may hold any characters: one that isn't a plain word has to be encoded. */
export const stockOf = (id: ProductId) =>
  Effect.map(
    Plaza.request({ method: "GET", path: `/store/products/${PathSegment.encode(id)}`, response: Product }),
    ({ stock }) => stock
  )
