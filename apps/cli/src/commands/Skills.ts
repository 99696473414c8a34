/** `plaza skills`: instructions for coding agents. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Flag from "effect/cli/Flag"
import { command, group } from "./Definition.ts"

const defaultFolder = ".claude/skills"

const install = command(
  "install",
  {
    summary: "Install the skills for coding agents.",
    details: [
      "Writes plaza/SKILL.md, about this command, and plaza-client/SKILL.md, about the TypeScript client. A skill is read by the agent."
    ],
    examples: ["skills install", "skills install --dir .agents/skills"],
    output: "skills"
  },
  {
    folder: Flags.text("dir", "D", `The folder of skills (default: ${defaultFolder} in the current folder).`).pipe(
      Flag.withDefault(defaultFolder)
    ),
    force: Flags.boolean("force", "Replace files with other content, such as those of another version.")
  },
  () => import("./SkillsHandlers.ts").then(({ install }) => install)
)

export const skills = group(
  "skills",
  { summary: "Install instructions for coding agents.", examples: ["skills install"] },
  [install]
)
