/**
 * A post with a picture: the picture is uploaded first and the post names it. The post is never made twice, whatever happens on the way.
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
