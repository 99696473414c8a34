import type { Plaza, Post } from "@plaza/sdk"

/** Whether one of the newest 500 posts has a text. It reads no further page once it has found one. */
export const hasPosted = async (plaza: Plaza, wanted: string) => {
  for await (const { text } of plaza.posts.list({ limit: 500 })) if (text === wanted) return true
  return false
}

/** Passes each page to `save`, with the cursor of the next page: null after the last page. */
export const readFrom = async (
  plaza: Plaza,
  cursor: string | undefined,
  save: (posts: ReadonlyArray<Post>, next: string | null) => Promise<void>
) => {
  for await (const { data, nextCursor } of plaza.posts.pages({ cursor })) await save(data, nextCursor)
}
