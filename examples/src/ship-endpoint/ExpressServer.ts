/** The endpoint on Express 5. */
import type { Plaza } from "@plaza/sdk"
import express from "express"
import { shipOrder } from "./ShipOrder.ts"

export const expressServer = (plaza: Plaza) => {
  const app = express()
  app.use(express.json())
  app.post("/orders/:id/ship", async (request, response) => {
    const caller = new AbortController()
    // Also after the response, when the call has ended.
    response.on("close", () => caller.abort())
    const { body, headers, status } = await shipOrder(plaza, request.params.id, request.body, caller.signal)
    response.status(status).set(headers).json(body)
  })
  // A body that is no JSON. The default is a page with the stack.
  app.use((error: unknown, _request: express.Request, response: express.Response, next: express.NextFunction) => {
    if (error instanceof SyntaxError) response.status(400).json({ error: "the body is no JSON" })
    else next(error)
  })
  return app
}
