/** Calls by `openapi-fetch`, with types as its generator writes them. */
import createClient from "openapi-fetch"
import { apiKey } from "../apiKey.js"
import { inLoops, serve, stock } from "./caller.js"

interface Answer<A> {
  readonly 200: { readonly content: { readonly "application/json": A } }
}

interface Paths {
  readonly "/me": { readonly get: { readonly responses: Answer<{ readonly id: string }> } }
  readonly "/store/products/{id}/stock": {
    readonly patch: {
      readonly parameters: { readonly path: { readonly id: string } }
      readonly requestBody: { readonly content: { readonly "application/json": { readonly stock: number } } }
      readonly responses: Answer<{ readonly id: string }>
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
