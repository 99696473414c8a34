/**
 * Writes the files that make a bundled program start fast: a launcher for help and version, the manual as JSON, and the program's code
 * as compiled by V8. Why: docs/decisions/015-launcher.md.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { rolldown } from "rolldown"

const cliKit = fileURLToPath(new URL("../packages/cli-kit/src", import.meta.url))

/**
 * @param {Partial<import("rolldown").InputOptions>} input
 * @param {import("rolldown").OutputOptions} output
 */
export const write = async (input, output) => {
  const bundle = await rolldown(input)
  await bundle.write({ minify: true, ...output })
  await bundle.close()
}

/** @typedef {import("../packages/cli-kit/src/help/Manual.ts").CommandSyntax} Syntax */

/** @type {(command: Syntax) => Syntax} */
const syntaxOf = ({ args, commands, name, options }) => ({
  name,
  args: args.map(({ choices, name, repeated, required }) => ({ name, required, repeated, ...(choices === undefined ? {} : { choices }) })),
  options: options.map(({ choices, name, repeated, required, value }) => ({
    name,
    required,
    repeated,
    ...(value === undefined ? {} : { value }),
    ...(choices === undefined ? {} : { choices })
  })),
  commands: commands.map(syntaxOf)
})

/**
 * Writes `manual.json` for the launcher and the manual page, from the exports of `src/manual.ts` of the app. Returns what the program
 * itself needs of the manual, which is the syntax of its commands.
 * @param {{ readonly app: string, readonly dist: string, readonly name: string, readonly input: Partial<import("rolldown").InputOptions> }} program
 */
export const writeManual = async ({ app, dist, input, name }) => {
  const file = Path.join(dist, "manual.mjs")
  await write({ ...input, input: Path.join(app, "src/manual.ts") }, { file, format: "esm", codeSplitting: false })
  // The cast is true: this file is the bundle of `src/manual.ts`, which exports these.
  const { manPage, manual } =
    /** @type {{ readonly manPage: string, readonly manual: { readonly page: Syntax } }} */ (await import(pathToFileURL(file).href))
  rmSync(file)
  writeFileSync(Path.join(dist, "manual.json"), JSON.stringify(manual))
  writeFileSync(Path.join(dist, `${name}.1`), manPage)
  return syntaxOf(manual.page)
}

/**
 * The executable file. A Node that is too old must be able to read it, so it is in the JavaScript of 2009 and loads nothing before the check.
 * @param {string} name @param {string} oldest the oldest Node, such as `22.19`
 */
const executable = (name, oldest) => {
  const [major, minor] = oldest.split(".")
  return `#!/usr/bin/env node
"use strict"
var version = process.versions.node.split(".")
if (version[0] < ${major} || (version[0] == ${major} && version[1] < ${minor})) {
  console.error("${name} needs Node ${oldest} or later, and this is Node " + process.versions.node + ": install a later one from https://nodejs.org")
  process.exitCode = 2
} else {
  require("./launch.cjs").launch(__dirname, "${name}")
}
`
}

/**
 * Writes the executable file and the launcher. Both are CommonJS, because Node starts its loader of modules for a module only.
 * @param {{ readonly dist: string, readonly name: string, readonly oldest: string,
 *   readonly input: Partial<import("rolldown").InputOptions> }} program
 */
export const writeLauncher = async ({ dist, input, name, oldest }) => {
  writeFileSync(Path.join(dist, `${name}.cjs`), executable(name, oldest), { mode: 0o755 })
  await write({ ...input, input: Path.join(cliKit, "bootstrap/Launch.ts") }, { file: Path.join(dist, "launch.cjs"), format: "cjs" })
}

/** A script that runs the program and, at its exit, writes the code that V8 has compiled. */
const recorder = `
const { mkdirSync, writeFileSync } = require("node:fs")
const { dirname } = require("node:path")
const { cacheOf, load } = require("./loader.cjs")
const [, , dist, ...words] = process.argv
process.argv.splice(2, 1)
const scripts = []
process.on("exit", () => {
  for (const [file, script] of scripts) {
    mkdirSync(dirname(cacheOf(dist, file)), { recursive: true })
    writeFileSync(cacheOf(dist, file), script.createCachedData())
  }
})
load(dist, "program.cjs", (file, script) => scripts.push([file, script]))
`

/**
 * Runs the program once and writes the code that V8 has compiled by its end. Before a run, V8 would compile the outermost code only.
 * @param {{ readonly dist: string, readonly words: ReadonlyArray<string>, readonly stdin?: string | undefined,
 *   readonly input: Partial<import("rolldown").InputOptions> }} program
 */
export const writeCompiled = async ({ dist, input, stdin = "", words }) => {
  const folder = mkdtempSync(Path.join(tmpdir(), "plaza-bundle-"))
  try {
    await write({ ...input, input: Path.join(cliKit, "bootstrap/Loader.ts") }, { file: Path.join(folder, "loader.cjs"), format: "cjs" })
    writeFileSync(Path.join(folder, "record.cjs"), recorder)
    mkdirSync(Path.join(folder, "home"))
    // Without the settings of whoever builds the program.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(node_options|plaza_|stock_sync_|https?_proxy$)/i.test(name))
    )
    // A service that accepts every request, for commands that send one.
    const service = createServer((_, response) => response.setHeader("content-type", "application/json").end(`{"id":"1"}`))
    await new Promise((resolve) => service.listen(0, "127.0.0.1", () => resolve(undefined)))
    const address = service.address()
    const program = spawn(process.execPath, [Path.join(folder, "record.cjs"), dist, ...words], {
      cwd: folder,
      env: {
        ...env,
        HOME: Path.join(folder, "home"),
        PLAZA_BASE_URL: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/open/v1`,
        PLAZA_API_KEY: "key_warm"
      },
      timeout: 60_000
    })
    let stderr = ""
    program.stdout.resume()
    program.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text
    })
    program.stdin.on("error", () => {}).end(stdin)
    await once(program, "close")
    const { exitCode: status, signalCode: signal } = program
    service.closeAllConnections()
    service.close()
    // Not an error: the code that ran until then is compiled. A test requires a complete run.
    if (status !== 0)
      process.stderr.write(`"${words.join(" ")}" exited with ${status ?? signal}, so the program will start slower:\n${stderr}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
