/** Calls by `got` with its defaults: retries, node:http and keep-alive. */
import got from "got"
import { Agent } from "node:http"
import { apiKey } from "../ApiKey.js"
import { inLoops, serve, stock } from "./Caller.js"

serve((baseUrl) => {
  const client = got.extend({
    prefixUrl: baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    agent: { http: new Agent({ keepAlive: true }) }
  })
  return inLoops({
    me: () => client.get("me").json(),
    setStock: () => client.patch(`store/products/${stock.id}/stock`, { json: { stock: stock.stock } }).json()
  })
})
