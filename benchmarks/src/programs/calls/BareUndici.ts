/** Calls by `undici.request` and `JSON.parse`, close to the minimum cost of a call over a socket. */
import { type Dispatcher, request } from "undici"
import { apiKey } from "../ApiKey.js"
import { inLoops, serve, stock } from "./Caller.js"

serve((baseUrl) => {
  const headers = { authorization: `Bearer ${apiKey}`, accept: "application/json" }
  const read = async ({ body, statusCode }: Dispatcher.ResponseData): Promise<unknown> => {
    if (statusCode !== 200) throw new Error(`status ${statusCode}`)
    return JSON.parse(await body.text())
  }
  return inLoops({
    me: async () => read(await request(`${baseUrl}/me`, { headers })),
    setStock: async () =>
      read(await request(`${baseUrl}/store/products/${stock.id}/stock`, {
        method: "PATCH",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ stock: stock.stock })
      }))
  })
})
