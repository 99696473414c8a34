/** Plans what to write for the coding agents, and writes it. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Folder from "@plaza/cli-kit/Folder"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as Path from "node:path"
import * as OutputFile from "../OutputFile.ts"
import * as Skills from "../skills/Install.ts"
import type { Agent, Scope } from "./Agents.ts"
import type { Entry } from "./ConfigText.ts"

/** The name of the server in the configuration of the agents. */
export const serverName = "plaza"

/**
 * - `create`: the file is new.
 * - `add`: the file gets an entry.
 * - `none`: the file has it.
 * - `keep`: the file has another entry or other content under the name, which stays.
 */
export type Action = "create" | "add" | "none" | "keep"

export interface Change {
  readonly agents: ReadonlyArray<string>
  readonly scope: Scope
  readonly kind: "mcp" | "skill"
  readonly file: string
  readonly action: Action
  /** What is added to a configuration. */
  readonly added: string | undefined
  /** The new content of the file, if it changes. */
  readonly text: string | undefined
}

type Files = FileSystem.FileSystem

const refuse = (message: string) => Effect.fail(new UsageError({ message }))

/** The text of a file; undefined if it does not exist. A pipe would never end. */
const read = (file: string): Effect.Effect<string | undefined, UsageError | PlatformError, Files> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    if (!(yield* fs.exists(file))) return undefined
    if ((yield* fs.stat(file)).type !== "File") return yield* refuse(`${file} is not a file: move it away. Nothing was written.`)
    return yield* fs.readFileString(file)
  })

const planServer = ({ add, agent, file, scope, table }: Agent, entry: Entry): Effect.Effect<Change, UsageError | PlatformError, Files> =>
  Effect.gen(function*() {
    const before = yield* read(file)
    const edit = yield* Effect.mapError(
      Effect.fromResult(add(before ?? "", table, serverName, entry)),
      (problem) => new UsageError({ message: `${file} ${problem}. Nothing was written: correct the file, or move it away.` })
    )
    const change = { agents: [agent], scope, kind: "mcp" as const, file }
    return edit._tag === "Added"
      ? { ...change, action: before === undefined ? "create" : "add", added: edit.added, text: edit.text }
      : { ...change, action: edit._tag === "Same" ? "none" : "keep", added: undefined, text: undefined }
  })

const planSkills = (agents: ReadonlyArray<Agent>): Effect.Effect<ReadonlyArray<Change>, PlatformError, Files> =>
  Effect.map(
    Effect.forEach(Object.entries(Arr.groupBy(agents, ({ skills }) => skills)), ([folder, [first, ...others]]) =>
      Effect.map(Skills.plan(folder), (planned) =>
        planned.map(({ before, file, text }): Change => ({
          agents: [first, ...others].map(({ agent }) => agent),
          scope: first.scope,
          kind: "skill",
          file,
          action: before === undefined ? "create" : before === text ? "none" : "keep",
          added: undefined,
          text: before === undefined ? text : undefined
        })))),
    (changes) => changes.flat()
  )

/** What to write, without writing it. Fails for a file that can't be read or parsed. */
export const plan = (agents: ReadonlyArray<Agent>, entry: Entry): Effect.Effect<ReadonlyArray<Change>, UsageError | PlatformError, Files> =>
  Effect.gen(function*() {
    const servers = yield* Effect.forEach(agents, (agent) => planServer(agent, entry))
    return [...servers, ...yield* planSkills(agents)]
  })

/** Writes the new content, if there is any. */
export const write = ({ file, text }: Change): Effect.Effect<void, PlatformError, Files> =>
  Effect.gen(function*() {
    if (text === undefined) return
    yield* Folder.make(Path.dirname(yield* OutputFile.target(file)))
    yield* OutputFile.replace(file, text)
  })
