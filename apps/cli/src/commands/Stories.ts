/** `plaza stories`: creates stories from JSON, because the document doesn't show the payload. */
import * as Command from "@effect/cli/Command"
import { Stories } from "@plaza-legacy/client"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import { commonOptions, text, withOutput, withServices } from "./CommonOptions.ts"
import * as Input from "./Input.ts"

const create = Command.make("create", {
  input: text("input", "FILE", "A file with the story as a JSON object; - for standard input."),
  ...commonOptions
}, ({ input, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const story = yield* Input.jsonObject(input)
    const created = yield* withServices(flags)(Effect.flatMap(Stories, (stories) => stories.create(story)))
    const output = yield* Output
    yield* created === undefined ? output.done(null, "The story is created.") : output.value(created)
  }))).pipe(Command.withDescription(describe({
    summary: "Create a story from a JSON object, and print the response.",
    details: ["Not retried if its outcome is unknown: the command then exits with 8."],
    examples: ["stories create --input story.json"]
  })))

export const stories = Command.make("stories").pipe(
  Command.withDescription(describe({ summary: "Create stories.", examples: ["stories create --input story.json"] })),
  Command.withSubcommands([create])
)
