/** `plaza schema`: prints the JSON Schema of a command's output. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Argument from "effect/cli/Argument"
import { command } from "./Definition.ts"

export const schema = command(
  "schema",
  {
    summary: "Print the JSON Schema of what a command prints with --json.",
    details: ["For a list it is the schema of each line. Objects may get further properties in later versions."],
    examples: ["schema posts list", "schema --failure"],
    output: "schema"
  },
  {
    words: Argument.variadic(Flags.argument("COMMAND", "The words of a command, such as posts list.")),
    failure: Flags.boolean("failure", "Print the schema of a failure, which is the same for every command.")
  },
  () => import("./SchemaHandlers.ts").then(({ print }) => print)
)
