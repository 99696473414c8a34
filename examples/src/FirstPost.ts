/**
 * Uploads a picture and creates a post with it. After an ambiguous failure, `create` searches for the post before it sends it again; its
 * docstring has the limits.
 */
import { Media, Posts } from "@plaza/client"
import { Effect } from "effect"

export const firstPost = Effect.fn("firstPost")(function*(text: string, picture: Uint8Array) {
  const media = yield* Media
  const posts = yield* Posts
  const { mediaId } = yield* media.upload({ content: picture, fileName: "picture.png", contentType: "image/png" })
  return yield* posts.create({ text, mediaIds: [mediaId] })
})
