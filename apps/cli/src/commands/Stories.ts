/** `plaza stories`: creates stories from JSON, because the document doesn't show the payload. */
import * as Command from "@effect/cli/Command"
import { about } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import { connect } from "../Connection.js"
import { flags, text, withOutput } from "../Flags.js"
import * as Input from "../Input.js"

const create = Command.make("create", {
  input: text("input", "FILE", "A file that holds the story as a JSON object; - for standard input."),
  ...flags
}, ({ input, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const story = yield* Input.jsonObject(input)
    const { stories } = yield* connect(flags)
    const answer = yield* stories.create(story)
    const output = yield* Output
    yield* answer === undefined ? output.done(null, "The story is created.") : output.value(answer)
  }))).pipe(Command.withDescription(about(
    "Create a story from a JSON object, and print the response. It is not sent again after a failure that leaves its outcome open.",
    "stories create --input story.json"
  )))

export const stories = Command.make("stories").pipe(
  Command.withDescription(about("Create stories.", "stories create --input story.json")),
  Command.withSubcommands([create])
)
