/** `plaza agent`: sets up coding agents for this program. */
import * as Flags from "@plaza/cli-kit/Flags"
import { command, group } from "./Definition.ts"

const setup = command(
  "setup",
  {
    summary: "Add plaza mcp and the skills to the coding agents of this folder and of this user.",
    details: [
      "Finds Claude Code, Codex, Cursor and VS Code by their files. Keeps everything else in these files, and never writes a key.",
      "Tools only read. To allow writes, add --allow-writes to the arguments in the written entry.",
      "The entry serves the default profile; with --profile, that profile; with --sandbox, a sandbox."
    ],
    examples: ["agent setup --dry-run", "agent setup", "agent setup --profile shop"],
    output: "agentSetup"
  },
  { dryRun: Flags.boolean("dry-run", "Show what would be written, and write nothing.") },
  () => import("./AgentHandlers.ts").then(({ setup }) => setup)
)

export const agent = group(
  "agent",
  { summary: "Set up coding agents for this program.", examples: ["agent setup --dry-run"] },
  [setup]
)
