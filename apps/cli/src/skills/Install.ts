/** Installs the skills for coding agents: a folder with a `SKILL.md` each. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Folder from "@plaza/cli-kit/Folder"
import * as Effect from "effect/Effect"
import * as Path from "node:path"
import client from "./plaza-client/SKILL.md"
import command from "./plaza/SKILL.md"

const skills = [{ skill: "plaza", text: command }, { skill: "plaza-client", text: client }] as const

/** A skill in its folder. */
export interface Installed {
  readonly skill: string
  readonly file: string
  /** Whether the file was written; false if it had this content before. */
  readonly changed: boolean
}

/**
 * Writes every skill into its folder below `folder`. Without `force`, fails before the first one is written if a file with other content
 * exists.
 */
export const install = (
  folder: string,
  { force }: { readonly force: boolean }
): Effect.Effect<ReadonlyArray<Installed>, UsageError | PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const planned = yield* Effect.forEach(skills, ({ skill, text }) =>
      Effect.gen(function*() {
        const file = Path.join(folder, skill, "SKILL.md")
        const before = (yield* fs.exists(file)) ? yield* fs.readFileString(file) : undefined
        return { skill, text, file, before }
      }))
    const other = planned.find(({ before, text }) => before !== undefined && before !== text)
    if (other !== undefined && !force) {
      return yield* new UsageError({ message: `${other.file} has other content: add --force to replace it, or use another --dir` })
    }
    return yield* Effect.forEach(planned, ({ before, file, skill, text }) =>
      before === text
        ? Effect.succeed({ skill, file, changed: false })
        : Folder.make(Path.dirname(file)).pipe(
          Effect.zipRight(fs.writeFileString(file, text)),
          Effect.as({ skill, file, changed: true })
        ))
  })
