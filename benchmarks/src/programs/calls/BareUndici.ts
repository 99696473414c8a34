/** Calls by `undici.request` and `JSON.parse`, close to the minimum cost of a call over a socket. */
import { request } from "undici"
import { apiKey } from "../ApiKey.ts"
import { inLoops, serve } from "./Caller.ts"

serve((baseUrl) => {
  const headers = { authorization: `Bearer ${apiKey}`, accept: "application/json" }
  return inLoops(async () => {
    const { body, statusCode } = await request(`${baseUrl}/me`, { headers })
    if (statusCode !== 200) throw new Error(`status ${statusCode}`)
    return JSON.parse(await body.text()) as unknown
  })
})
