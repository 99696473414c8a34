/** `plaza agent setup` on the files of the four agents, in a project folder and in a home folder. */
import { NodeServices } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { parse as parseToml } from "smol-toml"
import { expect } from "vitest"
import { type Options, run } from "../support/Plaza.ts"

/** A project folder and a home folder with these files. */
const folders = (files: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const root = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-agent-" })
    for (const folder of ["home", "project"]) mkdirSync(`${root}/${folder}`)
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(`${root}/${file}`), { recursive: true })
      if (!file.endsWith("/.keep")) writeFileSync(`${root}/${file}`, text)
    }
    const setup = (argv: ReadonlyArray<string> = [], options: Options = {}) =>
      run(["agent", "setup", ...argv], {
        cwd: `${root}/project`,
        ...options,
        env: { HOME: `${root}/home`, XDG_CONFIG_HOME: "", ...options.env }
      })
    const read = (file: string) => readFileSync(`${root}/${file}`, "utf8")
    const json = (file: string): unknown => JSON.parse(read(file))
    /** Every file with its content. */
    const state = () => {
      const names = readdirSync(root, { recursive: true, withFileTypes: true })
      return Object.fromEntries(names.flatMap((entry) =>
        entry.isFile() ? [[`${entry.parentPath}/${entry.name}`, readFileSync(`${entry.parentPath}/${entry.name}`, "utf8")]] : []
      ))
    }
    return { root, setup, read, json, state }
  })

const entry = { type: "stdio", command: "plaza", args: ["mcp"] }

const everywhere = {
  "home/.claude.json": "{\n    \"numStartups\": 3\n}\n",
  "home/.codex/config.toml": "model = \"x\" # mine\n",
  "home/.cursor/.keep": "",
  "home/.config/Code/User/.keep": "",
  "project/.mcp.json": "{ \"mcpServers\": { \"other\": { \"command\": \"x\" } } }",
  "project/.codex/.keep": "",
  "project/.cursor/mcp.json": "",
  "project/.vscode/mcp.json": "{\n\t// ours\n\t\"servers\": {},\n}\n"
}

layer(Layer.mergeAll(NodeServices.layer), { excludeTestServices: true })("plaza agent setup", (it) => {
  it.effect("adds the server and the skills to each agent that it finds", () =>
    Effect.gen(function*() {
      const { json, read, root, setup } = yield* folders(everywhere)
      chmodSync(`${root}/home/.claude.json`, 0o600)
      const { code, stdout } = yield* setup()
      expect(code).toBe(0)
      expect(stdout.trim().split("\n").map((line) => line.split("\t"))).toEqual([
        ["entry added", ".mcp.json", "Claude Code"],
        ["created", ".codex/config.toml", "Codex"],
        ["entry added", ".cursor/mcp.json", "Cursor"],
        ["entry added", ".vscode/mcp.json", "VS Code"],
        ["entry added", "~/.claude.json", "Claude Code"],
        ["entry added", "~/.codex/config.toml", "Codex"],
        ["created", "~/.cursor/mcp.json", "Cursor"],
        ["created", "~/.config/Code/User/mcp.json", "VS Code"],
        ["created", ".claude/skills/plaza/SKILL.md", "Claude Code, Cursor, VS Code"],
        ["created", ".claude/skills/plaza-client/SKILL.md", "Claude Code, Cursor, VS Code"],
        ["created", ".agents/skills/plaza/SKILL.md", "Codex"],
        ["created", ".agents/skills/plaza-client/SKILL.md", "Codex"],
        ["created", "~/.claude/skills/plaza/SKILL.md", "Claude Code, Cursor, VS Code"],
        ["created", "~/.claude/skills/plaza-client/SKILL.md", "Claude Code, Cursor, VS Code"],
        ["created", "~/.agents/skills/plaza/SKILL.md", "Codex"],
        ["created", "~/.agents/skills/plaza-client/SKILL.md", "Codex"]
      ])
      expect(json("project/.mcp.json")).toEqual({ mcpServers: { other: { command: "x" }, plaza: entry } })
      expect(json("project/.cursor/mcp.json")).toEqual({ mcpServers: { plaza: entry } })
      expect(read("project/.vscode/mcp.json")).toMatch(/^\{\n\t\/\/ ours\n\t"servers": \{\n\t\t"plaza": \{\n\t\t\t"type": "stdio",/)
      expect(json("home/.claude.json")).toEqual({ numStartups: 3, mcpServers: { plaza: entry } })
      expect(json("home/.config/Code/User/mcp.json")).toEqual({ servers: { plaza: entry } })
      for (const file of ["home/.codex/config.toml", "project/.codex/config.toml"]) {
        expect(parseToml(read(file))).toMatchObject({ mcp_servers: { plaza: { command: "plaza", args: ["mcp"] } } })
      }
      expect(read("home/.codex/config.toml").startsWith(everywhere["home/.codex/config.toml"])).toBe(true)
      expect(read("project/.agents/skills/plaza/SKILL.md")).toMatch(/^---\nname: plaza\n/)
      expect(statSync(`${root}/home/.claude.json`).mode & 0o777).toBe(0o600)
    }))

  it.effect("changes nothing with --dry-run, and nothing when it runs again", () =>
    Effect.gen(function*() {
      const { setup, state } = yield* folders(everywhere)
      const before = state()
      const dry = yield* setup(["--dry-run"])
      expect(dry.code).toBe(0)
      expect(dry.stdout).toContain("entry would be added\t.mcp.json\tClaude Code\n")
      expect(dry.stdout).toContain(`\n~/.codex/config.toml:\n[mcp_servers.plaza]\ncommand = "plaza"\nargs = [ "mcp" ]\n`)
      expect(state()).toEqual(before)

      yield* setup()
      const after = state()
      expect(Object.keys(after).length).toBeGreaterThan(Object.keys(before).length)
      const again = yield* setup()
      expect(again.stdout).toContain("up to date")
      expect(again.stdout).not.toMatch(/created|added/)
      expect(state()).toEqual(after)
    }))

  it.effect("reports each file as JSON", () =>
    Effect.gen(function*() {
      const { root, setup } = yield* folders({ "project/.vscode/.keep": "" })
      const lines = (text: string) => text.trim().split("\n").map((line): unknown => JSON.parse(line))
      const file = `${root}/project/.vscode/mcp.json`
      const server = { agents: ["VS Code"], scope: "project", kind: "mcp", file, action: "create" }
      expect(lines((yield* setup(["--dry-run", "--json"])).stdout)).toMatchObject([
        { ...server, written: false, added: expect.stringContaining("\"servers\"") as unknown },
        { kind: "skill", written: false, added: null },
        { kind: "skill", written: false }
      ])
      expect(lines((yield* setup(["--json"])).stdout)).toMatchObject([{ ...server, written: true }, { written: true }, { written: true }])
      expect(lines((yield* setup(["--json"])).stdout)).toMatchObject([{ ...server, action: "none", written: false }, {}, {}])
    }))

  it.effect("writes the profile or the sandbox of its flags, and never a key", () =>
    Effect.gen(function*() {
      const key = `key_${"x".repeat(40)}`
      const argsAfter = (argv: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const { json, setup, state } = yield* folders({ "project/.cursor/.keep": "" })
          expect(yield* setup(argv, { env: { PLAZA_API_KEY: key, PLAZA_BASE_URL: "http://127.0.0.1:1/open/v1" } })).toMatchObject({
            code: 0
          })
          expect(JSON.stringify(state())).not.toContain(key)
          return json("project/.cursor/mcp.json")
        })
      const withArgs = (...args: ReadonlyArray<string>) => ({ mcpServers: { plaza: { ...entry, args } } })
      expect(yield* argsAfter([])).toEqual(withArgs("mcp"))
      expect(yield* argsAfter(["--profile", "shop"])).toEqual(withArgs("mcp", "--profile", "shop"))
      expect(yield* argsAfter(["--sandbox"])).toEqual(withArgs("mcp", "--sandbox", "--allow-writes"))
    }))

  it.effect("keeps another entry and a changed skill, and says so", () =>
    Effect.gen(function*() {
      const mine = "{\"mcpServers\":{\"plaza\":{\"command\":\"plaza\",\"args\":[\"mcp\",\"--allow-writes\"]}}}"
      const { read, root, setup } = yield* folders({ "project/.mcp.json": mine, "project/.claude/skills/plaza/SKILL.md": "mine" })
      const { code, stderr, stdout } = yield* setup()
      expect(code).toBe(0)
      expect(stdout).toContain("kept as it is\t.mcp.json\tClaude Code\n")
      expect(stderr).toContain(`${root}/project/.mcp.json has another entry "plaza", which is kept`)
      expect(stderr).toContain(`plaza skills install --force --dir ${root}/project/.claude/skills.\n`)
      expect(read("project/.mcp.json")).toBe(mine)
      expect(read("project/.claude/skills/plaza/SKILL.md")).toBe("mine")
    }))

  it.effect("writes nothing at all if a file can't be understood", () =>
    Effect.gen(function*() {
      for (
        const [file, text, problem] of [
          ["project/.cursor/mcp.json", "{\n  \"a\": 1,\n  oops\n}", "is not valid JSON: see line 3"],
          ["project/.cursor/mcp.json", "[]", "is not an object"],
          ["home/.codex/config.toml", "a = [", "is not valid TOML: see line 1"],
          ["home/.codex/config.toml", "mcp_servers = {}\n", "can't be changed without changing other parts of it"]
        ] as const
      ) {
        const { root, setup, state } = yield* folders({ "home/.claude.json": "{}", "project/.vscode/.keep": "", [file]: text })
        const before = state()
        for (const argv of [[], ["--dry-run"]]) {
          expect(yield* setup(argv)).toEqual({
            code: 2,
            stdout: "",
            stderr: `plaza: ${root}/${file} ${problem}. Nothing was written: correct the file, or move it away.\n`
          })
        }
        expect(state()).toEqual(before)
      }
    }))

  it.effect("changes the file behind a link, and keeps the link", () =>
    Effect.gen(function*() {
      const { json, root, setup } = yield* folders({ "home/dotfiles/claude.json": "{}", "project/.cursor/.keep": "" })
      symlinkSync("dotfiles/claude.json", `${root}/home/.claude.json`)
      symlinkSync("../shared.json", `${root}/project/.cursor/mcp.json`)
      expect(yield* setup()).toMatchObject({ code: 0 })
      expect(json("home/dotfiles/claude.json")).toEqual({ mcpServers: { plaza: entry } })
      expect(json("project/shared.json")).toEqual({ mcpServers: { plaza: entry } })
      for (const link of ["home/.claude.json", "project/.cursor/mcp.json"]) expect(lstatSync(`${root}/${link}`).isSymbolicLink()).toBe(true)
    }))

  it.effect("finds nothing in empty folders, and takes the home folder for no project", () =>
    Effect.gen(function*() {
      const { root, setup, state } = yield* folders()
      expect(yield* setup()).toMatchObject({
        code: 0,
        stdout: "",
        stderr: expect.stringMatching(/^No file of Claude Code, Codex, /) as unknown
      })
      mkdirSync(`${root}/home/.cursor`)
      const { stdout } = yield* setup([], { cwd: `${root}/home` })
      expect(stdout).toBe([
        "created\t.cursor/mcp.json\tCursor\n",
        "created\t.agents/skills/plaza/SKILL.md\tCursor\n",
        "created\t.agents/skills/plaza-client/SKILL.md\tCursor\n"
      ].join(""))
      expect(existsSync(`${root}/home/.agents/skills/plaza/SKILL.md`)).toBe(true)
      expect(Object.keys(state())).toHaveLength(3)
    }))

  it.effect("finds Codex in CODEX_HOME, and VS Code in XDG_CONFIG_HOME", () =>
    Effect.gen(function*() {
      const { json, read, root, setup } = yield* folders({ "codex/.keep": "", "config/Code/User/.keep": "" })
      const { stderr } = yield* setup([], {
        env: { CODEX_HOME: `${root}/codex`, XDG_CONFIG_HOME: `${root}/config`, PATH: "/no/such/folder" }
      })
      expect(read("codex/config.toml")).toContain("[mcp_servers.plaza]")
      expect(json("config/Code/User/mcp.json")).toEqual({ servers: { plaza: entry } })
      expect(stderr).toBe("plaza is not in the PATH, where agents look for it: install it with npm install --global @plaza/cli.\n")
    }))

  it.effect("works for a user without a home folder", () =>
    Effect.gen(function*() {
      const { json, setup } = yield* folders({ "project/.cursor/.keep": "" })
      // A relative path is none.
      const { code, stderr } = yield* setup([], { env: { HOME: "home" } })
      expect(code).toBe(0)
      expect(stderr).toContain("This user has no home folder: only the current folder was searched.")
      expect(json("project/.cursor/mcp.json")).toEqual({ mcpServers: { plaza: entry } })
    }))

  it.effect("names a file that it may not write", () =>
    Effect.gen(function*() {
      const { root, setup } = yield* folders({ "project/.cursor/mcp.json/.keep": "" })
      expect(yield* setup()).toMatchObject({
        code: 2,
        stderr: `plaza: ${root}/project/.cursor/mcp.json is not a file: move it away. Nothing was written.\n`
      })
    }))
})
