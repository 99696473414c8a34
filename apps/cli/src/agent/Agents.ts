/**
 * Where coding agents keep their MCP servers and skills, for a project and for a user.
 *
 * Sources: the documentation of Claude Code ("MCP", "Skills"), Codex ("Model Context Protocol", "Agent Skills"), Cursor ("MCP", "Agent
 * Skills") and VS Code ("MCP configuration reference", "Agent Skills"), in November 2026.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "node:path"
import type { AddEntry } from "./ConfigText.ts"
import * as ConfigText from "./ConfigText.ts"

export type Scope = "project" | "user"

/** Where an agent has its configuration. */
interface Location {
  readonly agent: string
  /** The file with its MCP servers, which may not exist. */
  readonly file: string
  /** The name of the table of servers in the file. */
  readonly table: string
  readonly add: AddEntry
}

/** An agent that uses a project or belongs to a user. */
export interface Agent extends Location {
  readonly scope: Scope
  /** The folder of the skills that it reads. */
  readonly skills: string
}

/** The folders of the user. */
export interface UserFolders {
  readonly home: string
  /** The home of Codex, if it is not in the home folder. */
  readonly codex: string | undefined
  /** The folder for the settings of programs. */
  readonly settings: ReadonlyArray<string>
}

const claudeCode = { agent: "Claude Code", table: "mcpServers", add: ConfigText.addToJson }
const codex = { agent: "Codex", table: "mcp_servers", add: ConfigText.addToToml }
const cursor = { agent: "Cursor", table: "mcpServers", add: ConfigText.addToJson }
const vsCode = { agent: "VS Code", table: "servers", add: ConfigText.addToJson }

/** A location, with the files and folders whose presence shows that the agent is used. */
type Candidate = readonly [location: Location, markers: ReadonlyArray<string>]

const ofProject = (folder: string): ReadonlyArray<Candidate> => {
  const at = (name: string) => Path.join(folder, name)
  return [
    [{ ...claudeCode, file: at(".mcp.json") }, [".mcp.json", ".claude", "CLAUDE.md"].map(at)],
    [{ ...codex, file: at(".codex/config.toml") }, [at(".codex")]],
    [{ ...cursor, file: at(".cursor/mcp.json") }, [at(".cursor")]],
    [{ ...vsCode, file: at(".vscode/mcp.json") }, [at(".vscode")]]
  ]
}

const ofUser = ({ codex: codexHome, home, settings }: UserFolders): ReadonlyArray<Candidate> => {
  const at = (name: string) => Path.join(home, name)
  const ofCodex = codexHome ?? at(".codex")
  return [
    [{ ...claudeCode, file: at(".claude.json") }, [".claude.json", ".claude"].map(at)],
    [{ ...codex, file: Path.join(ofCodex, "config.toml") }, [ofCodex]],
    [{ ...cursor, file: at(".cursor/mcp.json") }, [at(".cursor")]],
    ...settings.map((folder): Candidate => [{ ...vsCode, file: Path.join(folder, "Code/User/mcp.json") }, [Path.join(folder, "Code/User")]])
  ]
}

const present = (scope: Scope, folder: string, candidates: ReadonlyArray<Candidate>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const exists = (path: string) => Effect.orElseSucceed(fs.exists(path), () => false)
    const locations =
      (yield* Effect.filter(candidates, ([, markers]) => Effect.map(Effect.filter(markers, exists), (files) => files.length > 0))).map((
        [location]
      ) => location)
    // The other agents read the skills of Claude Code too.
    const shared = locations.some(({ agent }) => agent === claudeCode.agent) ? ".claude/skills" : ".agents/skills"
    return locations.map((location): Agent => ({
      ...location,
      scope,
      skills: Path.join(folder, location.agent === codex.agent ? ".agents/skills" : shared)
    }))
  })

/** The agents of a project folder and of a user. */
export const find = (
  { project, user }: { readonly project: string | undefined; readonly user: UserFolders | undefined }
): Effect.Effect<ReadonlyArray<Agent>, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    // The home folder is no project.
    const inProject = project === undefined || project === user?.home ? [] : yield* present("project", project, ofProject(project))
    return [...inProject, ...(user === undefined ? [] : yield* present("user", user.home, ofUser(user)))]
  })
