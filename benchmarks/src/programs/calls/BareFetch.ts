/** Calls by Node's fetch and `JSON.parse`. */
import { apiKey } from "../ApiKey.ts"
import { inLoops, serve } from "./Caller.ts"

serve((baseUrl) => {
  const headers = { authorization: `Bearer ${apiKey}`, accept: "application/json" }
  return inLoops(async () => {
    const response = await fetch(`${baseUrl}/me`, { headers })
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    return JSON.parse(await response.text()) as unknown
  })
})
