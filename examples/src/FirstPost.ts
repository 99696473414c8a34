/**
 * Creates a post with a picture: uploads the picture first, then names it in the post. After an ambiguous failure
 * `create` looks for the post before it sends it again; its docstring names the limit.
 */
import { Media, Posts } from "@plaza/client"
import { Effect } from "effect"

export const firstPost = (text: string, picture: Uint8Array) =>
  Effect.gen(function*() {
    const media = yield* Media
    const posts = yield* Posts
    const { mediaId } = yield* media.upload({ content: picture, fileName: "picture.png", contentType: "image/png" })
    return yield* posts.create({ text, mediaIds: [mediaId] })
  })
