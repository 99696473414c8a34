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

/** An agent that was found by its files. */
export interface Found {
  readonly agent: string
  readonly scope: Scope
  /** The file with its MCP servers, which may not exist. */
  readonly file: string
  /** The name of the table of servers in the file. */
  readonly table: string
  readonly add: AddEntry
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

interface Place extends Omit<Found, "agent" | "scope" | "skills"> {
  readonly agent: string
  /** The files and folders that show the agent. */
  readonly signs: ReadonlyArray<string>
}

const claudeCode = "Claude Code"
const codex = "Codex"

const json = { table: "mcpServers", add: ConfigText.addToJson }
const toml = { table: "mcp_servers", add: ConfigText.addToToml }
const vsCode = { agent: "VS Code", table: "servers", add: ConfigText.addToJson }

const ofProject = (folder: string): ReadonlyArray<Place> => {
  const at = (name: string) => Path.join(folder, name)
  return [
    { agent: claudeCode, ...json, signs: [".mcp.json", ".claude", "CLAUDE.md"].map(at), file: at(".mcp.json") },
    { agent: codex, ...toml, signs: [at(".codex")], file: at(".codex/config.toml") },
    { agent: "Cursor", ...json, signs: [at(".cursor")], file: at(".cursor/mcp.json") },
    { ...vsCode, signs: [at(".vscode")], file: at(".vscode/mcp.json") }
  ]
}

const ofUser = ({ codex: codexHome, home, settings }: UserFolders): ReadonlyArray<Place> => {
  const at = (name: string) => Path.join(home, name)
  const ofCodex = codexHome ?? at(".codex")
  return [
    { agent: claudeCode, ...json, signs: [".claude.json", ".claude"].map(at), file: at(".claude.json") },
    { agent: codex, ...toml, signs: [ofCodex], file: Path.join(ofCodex, "config.toml") },
    { agent: "Cursor", ...json, signs: [at(".cursor")], file: at(".cursor/mcp.json") },
    ...settings.map((folder) => ({ ...vsCode, signs: [Path.join(folder, "Code/User")], file: Path.join(folder, "Code/User/mcp.json") }))
  ]
}

const found = (scope: Scope, folder: string, places: ReadonlyArray<Place>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const exists = (path: string) => Effect.orElseSucceed(fs.exists(path), () => false)
    const present = yield* Effect.filter(places, ({ signs }) => Effect.map(Effect.forEach(signs, exists), (found) => found.includes(true)))
    // The other agents read the skills of Claude Code too.
    const shared = present.some(({ agent }) => agent === claudeCode) ? ".claude/skills" : ".agents/skills"
    return present.map(({ signs: _, ...place }): Found => ({
      ...place,
      scope,
      skills: Path.join(folder, place.agent === codex ? ".agents/skills" : shared)
    }))
  })

/** The agents of a project folder and of a user. */
export const find = (
  { project, user }: { readonly project: string | undefined; readonly user: UserFolders | undefined }
): Effect.Effect<ReadonlyArray<Found>, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    // The home folder is no project.
    const inProject = project === undefined || project === user?.home ? [] : yield* found("project", project, ofProject(project))
    return [...inProject, ...(user === undefined ? [] : yield* found("user", user.home, ofUser(user)))]
  })
