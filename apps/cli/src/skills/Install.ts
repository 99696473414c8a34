/** Installs the skills for coding agents: a folder with a `SKILL.md` each. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Folder from "@plaza/cli-kit/Folder"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "node:path"
import client from "./plaza-client/SKILL.md"
import command from "./plaza/SKILL.md"

const skills = [{ skill: "plaza", text: command }, { skill: "plaza-client", text: client }] as const

/** The skills for a folder, each with its file and the text before, which is undefined if there is no file. Writes nothing. */
export const plan = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.forEach(skills, ({ skill, text }) =>
    Effect.gen(function*() {
      const file = Path.join(folder, skill, "SKILL.md")
      return { skill, file, text, before: (yield* fs.exists(file)) ? yield* fs.readFileString(file) : undefined }
    }))
})

/**
 * Writes every skill into its folder below `folder`, and reports whether its text changed. Without `force`, fails before the first one is
 * written if a file with other content exists.
 */
export const install = Effect.fnUntraced(function*(folder: string, { force }: { readonly force: boolean }) {
  const fs = yield* FileSystem.FileSystem
  const planned = yield* plan(folder)
  const other = planned.find(({ before, text }) => before !== undefined && before !== text)
  if (other !== undefined && !force) {
    return yield* new UsageError({ message: `${other.file} has other content: add --force to replace it, or use another --dir` })
  }
  return yield* Effect.forEach(planned, ({ before, file, skill, text }) =>
    Effect.gen(function*() {
      const changed = before !== text
      if (changed) {
        yield* Folder.make(Path.dirname(file))
        yield* fs.writeFileString(file, text)
      }
      return { skill, file, changed }
    }))
})
