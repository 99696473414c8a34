/** The endpoint as a route handler of Next: `app/orders/[id]/ship/route.ts`. */
import { getPlaza } from "./Client.ts"
import { shipOrder } from "./ShipOrder.ts"

export const POST = async (request: Request, { params }: { readonly params: Promise<{ readonly id: string }> }) => {
  const { id } = await params
  const json: unknown = await request.json().catch(() => undefined)
  const { body, headers, status } = await shipOrder(getPlaza(), id, json, request.signal)
  return Response.json(body, { headers, status })
}
