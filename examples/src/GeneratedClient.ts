/**
 * A client generated from the OpenAPI file for users without Effect: types by openapi-typescript (`pnpm --filter
 * @plaza/examples types` writes `openapi.d.ts`), calls by openapi-fetch. Rate limit and retries are up to the user.
 */
import createClient from "openapi-fetch"
import type { components, paths } from "./openapi.d.ts"

export type Post = components["schemas"]["Post"]

export const makeClient = (baseUrl: string, apiKey: string) =>
  createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } })

/** All of the account's posts, read a page at a time. */
export const allPosts = async (client: ReturnType<typeof makeClient>, limit: number): Promise<ReadonlyArray<Post>> => {
  const posts: Array<Post> = []
  const query: { limit: number; cursor?: string } = { limit }
  for (;;) {
    const { data, error } = await client.GET("/me/posts", { params: { query } })
    if (data === undefined) {
      throw new Error(`${error.error.code}: ${error.error.message}`)
    }
    posts.push(...data.data)
    if (typeof data.next_cursor !== "string") {
      return posts
    }
    query.cursor = data.next_cursor
  }
}
