/** `plaza skills`: instructions for coding agents. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { outputOptions, text, withOutput } from "./CommonOptions.ts"

const defaultFolder = ".claude/skills"

const install = Command.make("install", {
  folder: text("dir", "D", `The folder of skills (default: ${defaultFolder} in the current folder).`).pipe(
    Options.withDefault(defaultFolder)
  ),
  force: Options.boolean("force").pipe(Options.withDescription("Replace files with other content, such as those of another version.")),
  ...outputOptions
}, ({ folder, force, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const { install } = yield* Effect.promise(() => import("../skills/Install.ts"))
    const installed = yield* install(folder, { force })
    const output = yield* Output
    yield* output.list(Stream.fromIterable(installed), [{ head: "skill", whole: true }, { head: "file" }],
      ({ file, skill }) => [skill, file])
  }))).pipe(Command.withDescription(describe({
    summary: "Install the skills for coding agents.",
    details: [
      "Writes plaza/SKILL.md, about this command, and plaza-client/SKILL.md, about the TypeScript client. A skill is read by the agent."
    ],
    examples: ["skills install", "skills install --dir .agents/skills"]
  })))

export const skills = Command.make("skills").pipe(
  Command.withDescription(describe({ summary: "Install instructions for coding agents.", examples: ["skills install"] })),
  Command.withSubcommands([install])
)
