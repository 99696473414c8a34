/** `plaza completions`: prints the completion script of a shell. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CompletionScript from "@plaza/cli-kit/CompletionScript"
import { about } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import { output, withOutput } from "../Flags.js"
import { name } from "../version.js"

const shell = Args.choice(CompletionScript.shells.map((shell) => [shell, shell] as const), { name: "SHELL" })

export const completions = Command.make("completions", { shell, ...output },
  ({ shell, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const output = yield* Output
      const script = CompletionScript.script(name, shell)
      yield* flags.json ? output.value({ shell, script }) : output.text(script.trimEnd())
    }))).pipe(Command.withDescription(about(
      "Print what makes a shell complete commands and options; its first line tells where to put it.",
      "completions bash"
    )))
