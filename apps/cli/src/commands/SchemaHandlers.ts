/** What `plaza schema` does. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { Program } from "@plaza/cli-kit/CommandLine"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as JsonSchema from "../schema/JsonSchema.ts"
import * as Outputs from "../schema/Outputs.ts"
import { outputsOf } from "./Definition.ts"

interface Input {
  readonly words: ReadonlyArray<string>
  readonly failure: boolean
}

export const print = Effect.fnUntraced(function*({ failure, words }: Input) {
  const output = yield* Output
  if (failure) return yield* output.value({ $schema: JsonSchema.dialect, ...JsonSchema.make(Outputs.failure, "allow") })
  const command = words.join(" ").trim()
  if (command === "") return yield* new UsageError({ message: "plaza schema requires a command, such as posts list, or --failure" })
  const byCommand = outputsOf((yield* Program).command)
  const name = byCommand.get(command)
  if (name === undefined) {
    const similar = [...byCommand.keys()].filter((name) => name.startsWith(`${words[0]} `))
    return yield* new UsageError({
      message: `"${command}" is not a command with JSON output: ${
        similar.length === 0 ? "see plaza --help" : `use one of ${similar.join(", ")}`
      }`
    })
  }
  const { lines, schema } = yield* Outputs.get(name)
  yield* output.value({
    $schema: JsonSchema.dialect,
    title: `plaza ${command} --json`,
    $comment: lines ? "The schema of each line of the output." : "The schema of the output.",
    ...schema
  })
})
