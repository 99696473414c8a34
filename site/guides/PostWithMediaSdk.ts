/** The program of docs/guides/post-with-media.md, without Effect. */
import type { Plaza } from "@plaza/sdk"

/** Uploads files at once, and creates a post that shows them in this order. */
export const postWithMedia = async (plaza: Plaza, text: string, paths: ReadonlyArray<string>) => {
  const uploaded = await Promise.all(paths.map((path) => plaza.media.uploadFile(path)))
  return plaza.posts.create({ text, mediaIds: uploaded.map(({ mediaId }) => mediaId) })
}
