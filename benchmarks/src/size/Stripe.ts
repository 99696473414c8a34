/** One call of `stripe` in a page. Only its size is measured. */
import Stripe from "stripe"

export const call = (): Promise<unknown> => new Stripe("key").products.update("1", { name: "map" })
