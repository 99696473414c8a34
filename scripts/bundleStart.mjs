/**
 * Makes a bundled program start fast: a launcher that answers help and version itself, the manual as JSON, and the
 * program's code as compiled by V8.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { rolldown } from "rolldown"

const cliKit = fileURLToPath(new URL("../packages/cli-kit/src", import.meta.url))

/**
 * @param {Partial<import("rolldown").InputOptions>} input
 * @param {import("rolldown").OutputOptions} output
 */
const write = async (input, output) => {
  const bundle = await rolldown(input)
  await bundle.write({ minify: true, ...output })
  await bundle.close()
}

/**
 * `manual.json` for the launcher, and the page of the manual for man, from what `src/manual.ts` of the app exports.
 * @param {{ readonly app: string, readonly dist: string, readonly name: string, readonly input: Partial<import("rolldown").InputOptions> }} program
 */
export const writeManual = async ({ app, dist, input, name }) => {
  const file = Path.join(dist, "manual.mjs")
  await write({ ...input, input: Path.join(app, "src/manual.ts") }, { file, format: "esm", codeSplitting: false })
  // A module of ours: the types of what it exports are those of `src/manual.ts`.
  const { manPage, manual } = /** @type {{ readonly manPage: string, readonly manual: unknown }} */ (await import(pathToFileURL(file).href))
  rmSync(file)
  writeFileSync(Path.join(dist, "manual.json"), JSON.stringify(manual))
  writeFileSync(Path.join(dist, `${name}.1`), manPage)
}

/**
 * The launcher, and the file that is run.
 * @param {{ readonly dist: string, readonly name: string, readonly input: Partial<import("rolldown").InputOptions> }} program
 */
export const writeLauncher = async ({ dist, input, name }) => {
  await write({ ...input, input: Path.join(cliKit, "bootstrap/Launch.ts") }, { file: Path.join(dist, "launch.cjs"), format: "cjs" })
  writeFileSync(
    Path.join(dist, `${name}.mjs`),
    `#!/usr/bin/env node\nimport { createRequire } from "node:module"\ncreateRequire(import.meta.url)("./launch.cjs").launch(import.meta.dirname, ${
      JSON.stringify(name)
    })\n`,
    { mode: 0o755 }
  )
}

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
 * Runs the program once and keeps what V8 has compiled by its end. Compiled before it runs, it would be only the outermost of it.
 * @param {{ readonly dist: string, readonly words: ReadonlyArray<string>, readonly stdin?: string | undefined,
 *   readonly input: Partial<import("rolldown").InputOptions> }} program
 */
export const writeCompiled = async ({ dist, input, stdin = "", words }) => {
  const folder = mkdtempSync(Path.join(tmpdir(), "plaza-bundle-"))
  try {
    await write({ ...input, input: Path.join(cliKit, "bootstrap/Loader.ts") }, { file: Path.join(folder, "loader.cjs"), format: "cjs" })
    writeFileSync(Path.join(folder, "record.cjs"), recorder)
    mkdirSync(Path.join(folder, "home"))
    const { NODE_OPTIONS: _, ...env } = process.env
    const { signal, status, stderr } = spawnSync(process.execPath, [Path.join(folder, "record.cjs"), dist, ...words], {
      cwd: folder,
      env: { ...env, HOME: Path.join(folder, "home") },
      input: stdin,
      encoding: "utf8",
      timeout: 60_000
    })
    // What has run until then is compiled all the same; a test asks for the whole.
    if (status !== 0)
      process.stderr.write(`"${words.join(" ")}" ended with ${status ?? signal}, so that the program will start slower:\n${stderr}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
