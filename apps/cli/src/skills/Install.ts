/** Installs the skills for coding agents: a folder with a `SKILL.md` each. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Folder from "@plaza/cli-kit/Folder"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Path from "node:path"
import client from "./plaza-client/SKILL.md"
import command from "./plaza/SKILL.md"

const skills = [{ skill: "plaza", text: command }, { skill: "plaza-client", text: client }] as const

/** A skill and the file for it. */
export interface Planned {
  readonly skill: string
  readonly file: string
  readonly text: string
  /** The content of the file; undefined if it does not exist. */
  readonly before: string | undefined
}

/** The skills for a folder, without writing them. */
export const plan = (folder: string): Effect.Effect<ReadonlyArray<Planned>, PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return yield* Effect.forEach(skills, ({ skill, text }) => {
      const file = Path.join(folder, skill, "SKILL.md")
      const read = Effect.flatMap(fs.exists(file), (exists) => exists ? fs.readFileString(file) : Effect.succeed(undefined))
      return Effect.map(read, (before): Planned => ({ skill, file, text, before }))
    })
  })

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
    const planned = yield* plan(folder)
    const other = planned.find(({ before, text }) => before !== undefined && before !== text)
    if (other !== undefined && !force) {
      return yield* new UsageError({ message: `${other.file} has other content: add --force to replace it, or use another --dir` })
    }
    return yield* Effect.forEach(planned, ({ before, file, skill, text }) =>
      before === text
        ? Effect.succeed({ skill, file, changed: false })
        : Folder.make(Path.dirname(file)).pipe(
          Effect.andThen(fs.writeFileString(file, text)),
          Effect.as({ skill, file, changed: true })
        ))
  })
