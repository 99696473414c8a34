import type { Order, Plaza } from "@plaza/sdk"

/** Throws for anything else than an order. A schema library has such functions. */
const parseOrder = (json: unknown): Order => {
  if (typeof json !== "object" || json === null || !("id" in json) || typeof json.id !== "string") throw new Error("it is no order")
  const { id } = json
  return "trackingNumber" in json && typeof json.trackingNumber === "string" ? { id, trackingNumber: json.trackingNumber } : { id }
}

/** The orders without a tracking number, of all pages. */
export const unshipped = async (plaza: Plaza) => {
  const ids: Array<string> = []
  for await (const { id, trackingNumber } of plaza.paginate({ path: "/store/orders", parse: parseOrder }))
    if (trackingNumber === undefined) ids.push(id)
  return ids
}

/** One order. The id may contain any characters, so encode it. */
export const orderOf = (plaza: Plaza, id: string) =>
  plaza.request({ method: "GET", path: `/store/orders/${encodeURIComponent(id)}`, parse: parseOrder })
