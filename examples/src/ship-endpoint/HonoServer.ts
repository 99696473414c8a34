/** The endpoint on Hono. */
import type { Plaza } from "@plaza/sdk"
import { Hono } from "hono"
import { shipOrder } from "./ShipOrder.ts"

export const honoServer = (plaza: Plaza) => {
  const app = new Hono()
  app.post("/orders/:id/ship", async ({ req }) => {
    const json: unknown = await req.json().catch(() => undefined)
    // The signal is aborted when the caller goes away.
    const { body, headers, status } = await shipOrder(plaza, req.param("id"), json, req.raw.signal)
    return Response.json(body, { headers, status })
  })
  return app
}
