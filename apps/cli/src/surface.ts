/** What `scripts/surface.ts` lists of this program in addition to its manual. The running program does not load this module. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { program } from "./Cli.ts"
import { outputsOf } from "./commands/Definition.ts"
import { listed } from "./mcp/McpServer.ts"
import * as SandboxTools from "./mcp/SandboxTools.ts"
import * as Tools from "./mcp/Tools.ts"
import * as JsonSchema from "./schema/JsonSchema.ts"
import * as Outputs from "./schema/Outputs.ts"

/** The JSON Schema of each output, by the words of its command. */
export const outputs: ReadonlyArray<readonly [command: string, schema: JsonSchema.JsonSchema]> = [
  ...await Effect.runPromise(
    Effect.forEach([...outputsOf(program)],
      ([command, name]) =>
        Effect.map(Outputs.get(name), ({ lines, schema }) => [lines ? `${command}, each line` : command, schema] as const))
  ),
  ["(failure)", JsonSchema.make(Outputs.failure, "allow")]
]

/** Every tool of `plaza mcp`, with `--sandbox`, as clients see it. */
export const tools = [...Tools.offered(Tools.writes, Option.some({ open: () => Effect.never })), ...SandboxTools.tools].map(listed)
