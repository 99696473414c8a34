/**
 * One call of `stripe` in a page. Only its size is measured.
 *
 * @since 0.1.0
 */
import Stripe from "stripe"

export const call = (): Promise<unknown> => new Stripe("key").products.update("1", { name: "map" })
