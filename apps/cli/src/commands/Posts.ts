/** `plaza posts`: the account's posts, and likes and comments on any. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { about } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import { MediaId, PostId } from "@plaza/domain/Ids"
import type { Post } from "@plaza/domain/Resources"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Client, connect } from "../Connection.js"
import { flags, limitOf, paging, text, withOutput } from "../Flags.js"
import * as Uploads from "../Uploads.js"

// Without the milliseconds, which say nothing to eyes; --json has them.
const moment = (time: DateTime.Utc | undefined): string | undefined => time && DateTime.formatIso(time).replace(/\.\d+Z$/, "Z")

const columns = [{ head: "id", whole: true }, { head: "created", whole: true }, { head: "media", align: "right" }, {
  head: "text"
}] as const
const row = (post: Post) => [post.id, moment(post.createdAt), post.mediaIds?.length ?? 0, post.text]

/** All files, or a failure that says which ids may be used the next time. */
const uploadAll = (media: Client["media"], files: ReadonlyArray<string>) =>
  files.length === 0
    ? Effect.succeed([])
    // Removes the bar before the post is printed.
    : Effect.scoped(Effect.gen(function*() {
      const { each, failure, uploaded } = yield* Uploads.make(media, files)
      const output = yield* Output
      yield* Effect.onInterrupt(Stream.runDrain(each), () => output.note(Uploads.summary(uploaded(), "Nothing was posted.")))
      yield* Option.match(failure("Nothing was posted."), { onNone: () => Effect.void, onSome: Effect.fail })
      return uploaded()
    }))

const create = Command.make("create", {
  text: text("text", "TEXT", "The text of the post."),
  media: text("media", "FILE", "A file to upload and to show in the post; may be given more than once.").pipe(Options.repeated),
  mediaId: text("media-id", "ID", "The id of a file uploaded before; may be given more than once.").pipe(Options.repeated),
  ...flags
}, ({ media: files, mediaId: ids, text, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const { media, posts } = yield* connect(flags)
    const uploaded = yield* uploadAll(media, files)
    const mediaIds = [...ids.map((id) => MediaId.make(id)), ...uploaded.map(({ mediaId }) => mediaId)]
    const post = yield* posts.create({ text, ...(mediaIds.length === 0 ? {} : { mediaIds }) }).pipe(
      Effect.mapError((error) => uploaded.length === 0 ? error : Uploads.explain(error, uploaded, ""))
    )
    const output = yield* Output
    yield* output.one(post, [
      ["id", post.id],
      ["created", moment(post.createdAt)],
      ["media", mediaIds.length === 0 ? undefined : (post.mediaIds ?? mediaIds).join(", ")],
      ["text", post.text]
    ])
  }))).pipe(Command.withDescription(about(
    "Create a post. Files are uploaded first; if one of them fails, nothing is posted.",
    `posts create --text "New mugs" --media mugs.jpg`
  )))

const list = Command.make("list", { ...paging, ...flags }, ({ all, limit, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const wanted = yield* limitOf({ limit, all })
    const { posts } = yield* connect(flags)
    const output = yield* Output
    yield* output.list(posts.list(wanted), columns, row)
  }))).pipe(
    Command.withDescription(about("List the account's posts, the newest first.", "posts list --limit 50", "posts list --all --json"))
  )

const id = Args.text({ name: "ID" }).pipe(Args.withDescription("The id of the post."))

const like = Command.make("like", { id, ...flags }, ({ id, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const { posts } = yield* connect(flags)
    yield* posts.like(PostId.make(id))
    const output = yield* Output
    yield* output.done({ postId: id, liked: true }, `The account likes post ${id}.`)
  }))).pipe(Command.withDescription(about("Like a post. Sent again after a fault of the service.", "posts like 9007199254741005")))

const comment = Command.make(
  "comment",
  { id, text: text("text", "TEXT", "The text of the comment."), ...flags },
  ({ id, text, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const { posts } = yield* connect(flags)
      const comment = yield* posts.comment(PostId.make(id), text)
      const output = yield* Output
      yield* output.done(comment, `Commented on post ${id}.`)
    }))
).pipe(
  Command.withDescription(
    about("Comment on a post. It is not sent again after a failure that leaves its outcome open.",
      `posts comment 9007199254741005 --text "Lovely"`)
  )
)

export const posts = Command.make("posts").pipe(
  Command.withDescription(about("Create and list posts, like them and comment on them.", `posts create --text "New mugs"`)),
  Command.withSubcommands([create, list, like, comment])
)
