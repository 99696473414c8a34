/** `plaza posts`: the account's posts, and likes and comments on any post. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Flag from "effect/cli/Flag"
import { command, group } from "./Definition.ts"
import { paging } from "./Options.ts"

const handlers = () => import("./PostsHandlers.ts")

const create = command(
  "create",
  {
    summary: "Create a post, with a text, media or both.",
    details: [
      "Files are uploaded first. If an upload fails, no post is created.",
      "If the outcome is unknown and the post can't be found, the command exits with 8. Check plaza posts list before you run it again."
    ],
    examples: [`posts create --text "New mugs" --media mugs.jpg`, `posts create -t "New mugs" --media-id med_301 --json`],
    output: "createPost"
  },
  {
    text: Flags.text("text", "TEXT", "The text of the post (default: none).").pipe(Flag.withAlias("t"), Flag.optional),
    files: Flags.repeatable("media", "FILE", "A file to upload and attach.").pipe(Flag.withAlias("m")),
    ids: Flags.repeatable("media-id", "ID", "The id of an uploaded file to attach.")
  },
  () => handlers().then(({ create }) => create)
)

const list = command(
  "list",
  {
    summary: "List the posts of the account, newest first.",
    examples: ["posts list --limit 50", "posts list --all --json"],
    output: "listPosts"
  },
  paging,
  () => handlers().then(({ list }) => list)
)

const id = Flags.argument("ID", "The id of the post.")

const like = command(
  "like",
  {
    summary: "Like a post.",
    details: ["Retried after a fault of the service: repeating it is safe."],
    examples: ["posts like 9007199254741005"],
    output: "like"
  },
  { id },
  () => handlers().then(({ like }) => like)
)

const comment = command(
  "comment",
  {
    summary: "Comment on a post.",
    details: ["Not retried if its outcome is unknown: the command then exits with 8."],
    examples: [`posts comment 9007199254741005 --text "Lovely"`],
    output: "createComment"
  },
  { id, text: Flags.text("text", "TEXT", "The text of the comment.").pipe(Flag.withAlias("t")) },
  () => handlers().then(({ comment }) => comment)
)

export const posts = group(
  "posts",
  { summary: "Create, list, like and comment on posts.", examples: [`posts create --text "New mugs"`, "posts list"] },
  [create, list, like, comment]
)
