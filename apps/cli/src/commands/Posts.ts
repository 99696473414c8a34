/** `plaza posts`: the account's posts, and likes and comments on any post. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { Posts } from "@plaza-legacy/client"
import { MediaId, PostId } from "@plaza-legacy/domain/Ids"
import type { Post } from "@plaza-legacy/domain/Resources"
import { UsageError } from "@plaza/cli-kit/CliError"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { commonOptions, paging, text, withClient } from "./CommonOptions.ts"
import * as Uploads from "./media/Uploads.ts"

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
      const { failure, stream, uploaded } = yield* Uploads.make(files)
      const output = yield* Output
      const consequence = "The post was not created."
      yield* Effect.onInterrupt(Stream.runDrain(stream), () => output.note(Uploads.summary(uploaded(), consequence)))
      yield* Option.match(failure(consequence), { onNone: () => Effect.void, onSome: Effect.fail })
      return uploaded()
    }))

const create = Command.make("create", {
  text: text("text", "TEXT", "The text of the post."),
  media: text("media", "FILE", "A file to upload and attach (repeatable).").pipe(Options.repeated),
  mediaId: text("media-id", "ID", "The id of an uploaded file to attach (repeatable).").pipe(Options.repeated),
  ...commonOptions
}, ({ media: files, mediaId: ids, text, ...flags }) =>
  withClient(flags, Effect.gen(function*() {
    // Before the uploads, which a post with an invalid id would leave unused.
    if (ids.some((id) => id.trim() === "")) {
      return yield* new UsageError({ message: "--media-id requires the id of an uploaded file: it is empty" })
    }
    const posts = yield* Posts
    const uploaded = yield* uploadAll(files)
    const mediaIds = [...ids.map((id) => MediaId.make(id)), ...uploaded.map(({ mediaId }) => mediaId)]
    const post = yield* posts.create({ text, ...(mediaIds.length === 0 ? {} : { mediaIds }) }).pipe(
      Effect.mapError((error) => uploaded.length === 0 ? error : Uploads.explain(error, uploaded, ""))
    )
    const output = yield* Output
    yield* output.one(post, [
      ["id", post.id],
      ["created", formatTime(post.createdAt)],
      ["media", mediaIds.length === 0 ? undefined : (post.mediaIds ?? mediaIds).join(", ")],
      ["text", post.text]
    ])
  }), { hasBar: files.length > 0 })).pipe(Command.withDescription(describe({
    summary: "Create a post.",
    details: [
      "Files are uploaded first. If an upload fails, no post is created.",
      "If the outcome is unknown and the post can't be found, the command exits with 8. Check plaza posts list before you run it again."
    ],
    examples: [`posts create --text "New mugs" --media mugs.jpg`, `posts create --text "New mugs" --media-id med_301 --json`]
  })))

const list = Command.make("list", { paging, ...commonOptions }, ({ paging, ...flags }) =>
  withClient(flags, Effect.gen(function*() {
    const posts = yield* Posts
    const output = yield* Output
    yield* output.list(posts.list(paging), columns, row)
  }))).pipe(Command.withDescription(describe({
    summary: "List the posts of the account, newest first.",
    examples: ["posts list --limit 50", "posts list --all --json"]
  })))

const id = Args.text({ name: "ID" }).pipe(Args.withDescription("The id of the post."))

const like = Command.make("like", { id, ...commonOptions }, ({ id, ...flags }) =>
  withClient(flags, Effect.gen(function*() {
    const posts = yield* Posts
    yield* posts.like(PostId.make(id))
    const output = yield* Output
    yield* output.done({ postId: id, liked: true }, `The account likes post ${id}.`)
  }))).pipe(Command.withDescription(describe({
    summary: "Like a post.",
    details: ["Retried after a fault of the service: repeating it is safe."],
    examples: ["posts like 9007199254741005"]
  })))

const comment = Command.make(
  "comment",
  { id, text: text("text", "TEXT", "The text of the comment."), ...commonOptions },
  ({ id, text, ...flags }) =>
    withClient(flags, Effect.gen(function*() {
      const posts = yield* Posts
      const comment = yield* posts.comment(PostId.make(id), text)
      const output = yield* Output
      yield* output.done(comment, `The comment on post ${id} is created.`)
    }))
).pipe(Command.withDescription(describe({
  summary: "Comment on a post.",
  details: ["Not retried if its outcome is unknown: the command then exits with 8."],
  examples: [`posts comment 9007199254741005 --text "Lovely"`]
})))

export const posts = Command.make("posts").pipe(
  Command.withDescription(describe({
    summary: "Create, list, like and comment on posts.",
    examples: [`posts create --text "New mugs"`, "posts list"]
  })),
  Command.withSubcommands([create, list, like, comment])
)
