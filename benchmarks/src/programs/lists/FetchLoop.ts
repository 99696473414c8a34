/** A list read by a hand-written loop: fetch, `JSON.parse`, the next cursor, dates parsed where needed. */
import { setTimeout } from "node:timers/promises"
import { apiKey } from "../ApiKey.ts"
import { serve } from "./ListReader.ts"

interface Page {
  readonly data: ReadonlyArray<{ readonly id: string; readonly createdAt: string }>
  readonly next_cursor: string | null
}

const headers = { authorization: `Bearer ${apiKey}` }

const each = async (baseUrl: string, onPage: (page: Page) => unknown) => {
  let cursor: string | null = null
  do {
    const response: Response = await fetch(`${baseUrl}/me/posts?limit=100${cursor === null ? "" : `&cursor=${cursor}`}`, { headers })
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    // No validation, as in most such loops.
    const page = JSON.parse(await response.text()) as Page
    await onPage(page)
    cursor = page.next_cursor
  } while (cursor !== null)
}

serve({
  items: (baseUrl, onItem) =>
    each(baseUrl, ({ data }) => {
      for (const post of data) onItem({ ...post, createdAt: new Date(post.createdAt) })
    }),
  pages: (baseUrl, workMillis) => each(baseUrl, () => setTimeout(workMillis))
})
