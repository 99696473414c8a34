/** The program of docs/guides/post-with-media.md. */
import { Media, Posts } from "@plaza/client"
import { Effect } from "effect"

/** Uploads files, three at a time, and creates a post that shows them in this order. */
export const postWithMedia = Effect.fn("postWithMedia")(function*(text: string, paths: ReadonlyArray<string>) {
  const media = yield* Media
  const posts = yield* Posts
  const uploaded = yield* Effect.forEach(paths, (path) => media.uploadFile(path), { concurrency: 3 })
  return yield* posts.create({ text, mediaIds: uploaded.map(({ mediaId }) => mediaId) })
})
