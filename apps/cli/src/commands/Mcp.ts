/** `plaza mcp`: the account as tools for agents, by the Model Context Protocol on standard input and output. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import { command } from "./Definition.ts"

const flags = {
  allowWrites: Flags.boolean(
    "allow-writes",
    "Offer the writes that the arguments name, or every write if there are none (default: reads only)."
  ),
  // The names are not listed here: the catalogue would be loaded at each start of the program.
  written: Argument.variadic(Flags.argument(
    "WRITE",
    "A write to offer, with --allow-writes, such as createPost, setStock or shipOrder. A wrong name prints all of them."
  )),
  confirmWrites: Flags.boolean(
    "confirm-writes",
    "Ask the person before each write, through the client's form. Without such a form nothing is written (default: the client decides)."
  ),
  uploads: Flag.optional(
    Flags.text("uploads", "DIR", "The folder whose files uploadMedia may upload, without hidden ones (default: none, and no uploadMedia).")
  )
}

export const mcp = command(
  "mcp",
  {
    summary: "Serve the account to agents by the Model Context Protocol.",
    details: [
      "An MCP client starts this command and talks to it on standard input and output. Tools only read, unless --allow-writes adds writes.",
      "uploadMedia also requires --uploads, and reads no file outside of that folder.",
      "With --sandbox there are further tools for the sandbox: faults, clock, snapshots and the log of requests.",
      "It shares the rate limit of the key with other commands, through a file in XDG_STATE_HOME.",
      "At the end of the input, running calls have 10 seconds to finish.",
      "plaza agent setup adds it to Claude Code, Codex, Cursor and VS Code."
    ],
    examples: [
      "mcp",
      "mcp --allow-writes setStock shipOrder",
      "mcp --allow-writes createPost uploadMedia --uploads /srv/photos",
      "mcp --allow-writes --confirm-writes",
      "mcp --sandbox --allow-writes"
    ]
  },
  flags,
  () => import("./McpHandlers.ts").then(({ serve }) => serve)
)
