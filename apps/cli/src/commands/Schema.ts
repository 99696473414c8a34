/** `plaza schema`: prints the JSON Schema of a command's output. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { UsageError } from "@plaza/cli-kit/CliError"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import { outputOptions, withOutput } from "./CommonOptions.ts"

const words = Args.text({ name: "COMMAND" }).pipe(
  Args.withDescription("The words of a command, such as posts list."),
  Args.repeated
)

export const schema = Command.make("schema", {
  words,
  failure: Options.boolean("failure").pipe(
    Options.withDescription("Print the schema of a failure, which is the same for every command.")
  ),
  ...outputOptions
}, ({ failure, words, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const [JsonSchema, Outputs] = yield* Effect.promise(() =>
      Promise.all([import("../schema/JsonSchema.ts"), import("../schema/Outputs.ts")])
    )
    const output = yield* Output
    if (failure) return yield* output.value({ $schema: JsonSchema.dialect, ...JsonSchema.make(Outputs.failure, "allow") })
    const command = words.join(" ").trim()
    if (command === "") return yield* new UsageError({ message: "plaza schema requires a command, such as posts list, or --failure" })
    const found = Object.hasOwn(Outputs.byCommand, command) ? Outputs.byCommand[command] : undefined
    if (found === undefined) {
      const similar = Object.keys(Outputs.byCommand).filter((name) => name.startsWith(`${words[0]} `))
      return yield* new UsageError({
        message: `"${command}" is not a command with JSON output: ${
          similar.length === 0 ? "see plaza --help" : `use one of ${similar.join(", ")}`
        }`
      })
    }
    yield* output.value({
      $schema: JsonSchema.dialect,
      title: `plaza ${command} --json`,
      $comment: found.lines ? "The schema of each line of the output." : "The schema of the output.",
      ...JsonSchema.make(yield* found.schema, "allow")
    })
  }))).pipe(Command.withDescription(describe({
    summary: "Print the JSON Schema of what a command prints with --json.",
    details: ["For a list it is the schema of each line. Objects may get further properties in later versions."],
    examples: ["schema posts list", "schema --failure"]
  })))
