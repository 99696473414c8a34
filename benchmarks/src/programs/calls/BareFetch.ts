/** Calls by Node's fetch and `JSON.parse`. */
import { apiKey } from "../ApiKey.js"
import { inLoops, serve, stock } from "./Caller.js"

serve((baseUrl) => {
  const headers = { authorization: `Bearer ${apiKey}`, accept: "application/json" }
  const read = async (response: Response): Promise<unknown> => {
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    return JSON.parse(await response.text())
  }
  return inLoops({
    me: async () => read(await fetch(`${baseUrl}/me`, { headers })),
    setStock: async () =>
      read(await fetch(`${baseUrl}/store/products/${stock.id}/stock`, {
        method: "PATCH",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ stock: stock.stock })
      }))
  })
})
