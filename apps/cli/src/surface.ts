/** What `scripts/surface.ts` lists of this program in addition to its manual. The running program does not load this module. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { listed } from "./mcp/McpServer.ts"
import * as Tools from "./mcp/Tools.ts"
import { writes } from "./mcp/Writes.ts"
import * as JsonSchema from "./schema/JsonSchema.ts"
import * as Outputs from "./schema/Outputs.ts"

/** The JSON Schema of each output, by the words of its command. */
export const outputs: ReadonlyArray<readonly [command: string, schema: JsonSchema.JsonSchema]> = [
  ...await Effect.runPromise(
    Effect.forEach(Object.entries(Outputs.byCommand),
      ([command, { lines, schema }]) =>
        Effect.map(schema, (schema) => [lines ? `${command}, each line` : command, JsonSchema.make(schema, "allow")] as const))
  ),
  ["(failure)", JsonSchema.make(Outputs.failure, "allow")]
]

/** Every tool of `plaza mcp`, as clients see it. */
export const tools = Tools.offered(writes, Option.some({ open: () => Effect.never })).map(listed)
