/** `plaza completions`: prints the completion script of a shell. */
import { shells } from "@plaza/cli-kit/Completions"
import * as Argument from "effect/cli/Argument"
import { command } from "./Definition.ts"

export const completions = command(
  "completions",
  {
    summary: "Print a completion script for a shell.",
    details: ["The script says at its beginning how to install it."],
    examples: ["completions bash"],
    output: "completions"
  },
  { shell: Argument.Literals("SHELL", shells).pipe(Argument.withDescription("The shell: bash, zsh, fish or powershell.")) },
  () => import("./CompletionsHandlers.ts").then(({ print }) => print)
)
