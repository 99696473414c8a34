/** Calls by `ky` with its defaults: retries and a timeout. */
import ky from "ky"
import { apiKey } from "../ApiKey.js"
import { inLoops, serve, stock } from "./Caller.js"

serve((baseUrl) => {
  const client = ky.create({ prefixUrl: baseUrl, headers: { authorization: `Bearer ${apiKey}` } })
  return inLoops({
    me: () => client.get("me").json(),
    setStock: () => client.patch(`store/products/${stock.id}/stock`, { json: { stock: stock.stock } }).json()
  })
})
