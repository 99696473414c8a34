/**
 * A post with a picture: the picture is uploaded first and the post names it. After a failure that leaves the outcome open, `create`
 * looks for the post before it sends it again; its docstring names the limit.
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
