/** `plaza completions`: prints the completion script of a shell. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CompletionScript from "@plaza/cli-kit/CompletionScript"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import { name } from "../version.ts"
import { outputOptions, withOutput } from "./CommonOptions.ts"

const shell = Args.choice(CompletionScript.shells.map((shell) => [shell, shell] as const), { name: "SHELL" }).pipe(
  Args.withDescription("bash, zsh or fish.")
)

export const completions = Command.make("completions", { shell, ...outputOptions },
  ({ shell, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const output = yield* Output
      const script = CompletionScript.script(name, shell)
      yield* flags.json ? output.value({ shell, script }) : output.text(script.trimEnd())
    }))).pipe(Command.withDescription(describe({
      summary: "Print a completion script for a shell.",
      details: ["The first line of the script says how to install it."],
      examples: ["completions bash"]
    })))
