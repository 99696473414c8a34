/**
 * Reads resources that the interface names but doesn't document: unshipped orders and the stock of a product. The paths are those of
 * the sandbox. If the service uses other paths, change these two lines.
 */
import { Plaza } from "@plaza/client"
import { Order, PathSegment, Product, type ProductId } from "@plaza/domain"
import { Effect, Stream } from "effect"

/** The orders without a tracking number, of all pages. */
export const unshipped = Plaza.paginate({ path: "/store/orders", item: Order }).pipe(
  Stream.filter(({ trackingNumber }) => trackingNumber === undefined)
)

/** The stock of one product. The id may contain any characters, so encode it. */
export const stockOf = (id: ProductId) =>
  Effect.map(
    Plaza.request({ method: "GET", path: `/store/products/${PathSegment.encode(id)}`, response: Product }),
    ({ stock }) => stock
  )
