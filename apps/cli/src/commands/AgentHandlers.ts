/** What `plaza agent` does. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { Output } from "@plaza/cli-kit/Output"
import { visible } from "@plaza/cli-kit/Text"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Path from "node:path"
import * as Agents from "../agent/Agents.ts"
import type { Entry } from "../agent/ConfigText.ts"
import * as Setup from "../agent/Setup.ts"
import * as Folders from "../Folders.ts"
import { connection } from "../Globals.ts"
import { EphemeralSandbox } from "../sandbox/EphemeralSandbox.ts"
import { name as program } from "../version.ts"

const variable = (name: string) => Effect.map(Config.option(Config.String(name)), Option.getOrUndefined)

/** The current folder; undefined if it was removed. */
const currentFolder = Effect.orElseSucceed(Effect.try((): string | undefined => process.cwd()), () => undefined)

/** Where programs of this system keep their settings. */
const settingsFolders = (home: string) =>
  Effect.gen(function*() {
    if (process.platform === "darwin") return [Path.join(home, "Library", "Application Support")]
    const [roaming, configured] = [yield* variable("APPDATA"), yield* variable("XDG_CONFIG_HOME")]
    if (process.platform === "win32") return [roaming ?? Path.join(home, "AppData", "Roaming")]
    return [...new Set([...configured === undefined ? [] : [configured], Path.join(home, ".config")])]
  })

/** The entry contains no key: the program finds it as every command does. Windows starts scripts such as the program's through `cmd`. */
const entryOf = (args: ReadonlyArray<string>): Entry =>
  process.platform === "win32" ? { command: "cmd", args: ["/c", program, ...args] } : { command: program, args }

const argumentsOf = Effect.gen(function*() {
  const { baseUrl, profile } = yield* connection
  if (yield* EphemeralSandbox) return ["mcp", "--sandbox", "--allow-writes"]
  return [
    "mcp",
    ...Option.match(profile, { onNone: () => [], onSome: (name) => ["--profile", name] }),
    ...Option.match(baseUrl, { onNone: () => [], onSome: (url) => ["--base-url", url] })
  ]
})

/** Whether the program is in a folder of PATH, where agents look for it. */
const isInPath = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folders = ((yield* variable("PATH")) ?? "").split(Path.delimiter).filter((folder) => folder !== "")
  const names = process.platform === "win32" ? [`${program}.cmd`, `${program}.exe`] : [program]
  const files = folders.flatMap((folder) => names.map((name) => Path.join(folder, name)))
  return (yield* Effect.filter(files, (file) => Effect.orElseSucceed(fs.exists(file), () => false))).length > 0
})

/** A path as a person writes it: relative to the current folder, or to the home folder. */
const shorten = (project: string | undefined, home: string | undefined) => (file: string): string => {
  const within = (folder: string | undefined) =>
    folder !== undefined && file.startsWith(folder + Path.sep) ? Path.relative(folder, file) : undefined
  const inHome = within(home)
  return within(project) ?? (inHome === undefined ? file : Path.join("~", inHome))
}

const descriptions: Readonly<Record<Setup.Action, readonly [now: string, dryRun: string]>> = {
  create: ["created", "would be created"],
  add: ["entry added", "entry would be added"],
  none: ["up to date", "up to date"],
  keep: ["kept as it is", "kept as it is"]
}

const noteKept = ({ file, kind }: Setup.Change): string =>
  kind === "mcp"
    ? `${file} has another entry "${Setup.serverName}", which is kept: change it by hand, or remove it and run the command again.`
    : `${file} has other content, which is kept: replace it with ${program} skills install --force --dir ${
      Path.dirname(Path.dirname(file))
    }.`

export const setup = Effect.fnUntraced(function*({ dryRun }: { readonly dryRun: boolean }) {
  const output = yield* Output
  const project = yield* currentFolder
  const home = Option.getOrUndefined(yield* Folders.home)
  if (project === undefined && home === undefined) {
    return yield* new UsageError({
      message: "there is no folder to look in: the current folder is removed, and this user has no home folder"
    })
  }
  const user = home === undefined
    ? undefined
    : { home, codex: yield* variable("CODEX_HOME"), settings: yield* settingsFolders(home) }
  const agents = yield* Agents.find({ project, user })
  const changes = yield* Setup.plan(agents, entryOf(yield* argumentsOf))
  const done = yield* Effect.forEach(changes, (change) =>
    Effect.gen(function*() {
      const written = !dryRun && change.text !== undefined
      if (written) yield* Setup.write(change)
      const { action, added = null, agents, file, kind, scope } = change
      return { agents, scope, kind, file, action, written, added }
    }))
  const short = shorten(project, home)
  yield* output.list(
    Stream.fromIterable(done),
    [{ head: "result", whole: true }, { head: "file", whole: true }, { head: "for", overflow: "wrap" }],
    ({ action, agents, file }) => [descriptions[action][dryRun ? 1 : 0], short(file), agents.join(", ")],
    {
      empty: "No file of Claude Code, Codex, Cursor or VS Code is in this folder or in the home folder. " +
        `To add ${program} mcp to another client, see docs/mcp.md.`
    }
  )
  if (dryRun && !output.json) {
    yield* Effect.forEach(done, ({ added, file }) => added === null ? Effect.void : output.text(visible(`\n${short(file)}:\n${added}`)), {
      discard: true
    })
  }
  yield* Effect.forEach(changes.filter(({ action }) => action === "keep"), (change) => output.note(noteKept(change)), { discard: true })
  if (home === undefined) yield* output.note("This user has no home folder: only the current folder was searched.")
  if (changes.length > 0 && !(yield* isInPath)) {
    yield* output.note(`${program} is not in the PATH, where agents look for it: install it with npm install --global @plaza/cli.`)
  }
})
