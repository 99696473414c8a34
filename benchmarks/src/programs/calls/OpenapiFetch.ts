/** Calls by `openapi-fetch`, with types as openapi-typescript generates them. */
import createClient from "openapi-fetch"
import { apiKey } from "../ApiKey.js"
import { inLoops, serve, stock } from "./Caller.js"

interface Success<A> {
  readonly 200: { readonly content: { readonly "application/json": A } }
}

interface Paths {
  readonly "/me": { readonly get: { readonly responses: Success<{ readonly id: string }> } }
  readonly "/store/products/{id}/stock": {
    readonly patch: {
      readonly parameters: { readonly path: { readonly id: string } }
      readonly requestBody: { readonly content: { readonly "application/json": { readonly stock: number } } }
      readonly responses: Success<{ readonly id: string }>
    }
  }
}

const checked = <A>({ data, response }: { readonly data?: A; readonly response: Response }): A => {
  if (data === undefined) throw new Error(`status ${response.status}`)
  return data
}

serve((baseUrl) => {
  const client = createClient<Paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } })
  return inLoops({
    me: async () => checked(await client.GET("/me")),
    setStock: async () =>
      checked(await client.PATCH("/store/products/{id}/stock", { params: { path: { id: stock.id } }, body: { stock: stock.stock } }))
  })
})
