/** What `plaza posts` does. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { Output } from "@plaza/cli-kit/Output"
import { Posts } from "@plaza/client"
import { MediaId, PostId } from "@plaza/domain/Ids"
import type { Post } from "@plaza/domain/Resources"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Client from "./Client.ts"
import * as Uploads from "./media/Uploads.ts"
import { listOptions } from "./Options.ts"
import * as Write from "./Write.ts"

// Without milliseconds, which --json has.
const formatTime = (time: DateTime.Utc | undefined): string | undefined => time && DateTime.formatIso(time).replace(/\.\d+Z$/, "Z")

const columns = [{ head: "id", whole: true }, { head: "created", whole: true }, { head: "media", align: "right" }, {
  head: "text"
}] as const
const row = (post: Post) => [post.id, formatTime(post.createdAt), post.mediaIds?.length ?? 0, post.text]

/** Uploads all files, or fails with the ids of the files that are uploaded. */
const uploadAll = (files: ReadonlyArray<string>) =>
  files.length === 0
    ? Effect.succeed([])
    // Removes the bar before the post is printed.
    : Effect.scoped(Effect.gen(function*() {
      const { failure, interrupted, stream, uploaded } = yield* Uploads.make(files)
      const output = yield* Output
      const consequence = "The post was not created."
      yield* Effect.onInterrupt(Stream.runDrain(stream), () => output.note(interrupted(consequence)))
      yield* Option.match(failure(consequence), { onNone: () => Effect.void, onSome: Effect.fail })
      return uploaded()
    }))

interface NewPost {
  readonly text: Option.Option<string>
  readonly files: ReadonlyArray<string>
  readonly ids: ReadonlyArray<string>
}

/** Before the uploads, which an invalid post would leave unused. */
const check = ({ files, ids, text }: NewPost): Effect.Effect<void, UsageError> =>
  ids.some((id) => id.trim() === "")
    ? Effect.fail(new UsageError({ message: "--media-id requires the id of an uploaded file: it is empty" }))
    : Option.isNone(text) && ids.length === 0 && files.length === 0
    ? Effect.fail(new UsageError({ message: "a post requires a text or media: use --text, --media or --media-id" }))
    : Effect.void

const createWith = Effect.fnUntraced(function*({ files, ids, text }: NewPost) {
  const posts = yield* Posts
  const uploaded = yield* uploadAll(files)
  const mediaIds = [...ids.map((id) => MediaId.make(id)), ...uploaded.map(({ mediaId }) => mediaId)]
  const post = yield* posts.create({
    ...(Option.isSome(text) ? { text: text.value } : {}),
    ...(mediaIds.length === 0 ? {} : { mediaIds })
  }).pipe(
    Write.follow("createPost"),
    Effect.mapError((error) => uploaded.length === 0 ? error : Uploads.explain(error, uploaded, ""))
  )
  const output = yield* Output
  yield* output.one(post, [
    ["id", post.id],
    ["created", formatTime(post.createdAt)],
    ["media", mediaIds.length === 0 ? undefined : (post.mediaIds ?? mediaIds).join(", ")],
    ["text", post.text]
  ])
})

export const create = (post: NewPost) =>
  Effect.andThen(check(post), (post.files.length > 0 ? Client.provideWithBar : Client.provide())(createWith(post)))

export const list = Effect.fnUntraced(function*(paging: Parameters<typeof listOptions>[0]) {
  const posts = yield* Posts
  const output = yield* Output
  yield* output.list(posts.list(yield* listOptions(paging)), columns, row, { empty: "The account has no posts." })
}, Client.provide())

export const like = Effect.fnUntraced(function*({ id }: { readonly id: string }) {
  const posts = yield* Posts
  yield* Write.follow("likePost")(posts.like(PostId.make(id)))
  const output = yield* Output
  yield* output.done({ postId: id, liked: true }, `The account likes post ${id}.`)
}, Client.provide())

export const comment = Effect.fnUntraced(function*({ id, text }: { readonly id: string; readonly text: string }) {
  const posts = yield* Posts
  const comment = yield* Write.follow("createComment")(posts.comment(PostId.make(id), text))
  const output = yield* Output
  yield* output.done(comment, `The comment on post ${id} is created.`)
}, Client.provide())
