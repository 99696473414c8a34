/** Calls by openapi-fetch on Node's fetch, with the types of one operation. */
import createClient from "openapi-fetch"
import { apiKey } from "../ApiKey.ts"
import { inLoops, serve } from "./Caller.ts"

interface Paths {
  readonly "/me": {
    readonly get: {
      readonly responses: { readonly 200: { readonly content: { readonly "application/json": { readonly id: string } } } }
    }
  }
}

serve((baseUrl) => {
  const client = createClient<Paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } })
  return inLoops(async () => {
    const { data, response } = await client.GET("/me")
    if (data === undefined) throw new Error(`status ${response.status}`)
    return data
  })
})
