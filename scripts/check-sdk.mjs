/**
 * Installs the tarball of the SDK alone, beside Effect 3 and beside Effect 4, by each package manager, and runs a program with it against a
 * sandbox: as an ES module and as CommonJS on several versions of Node, on Bun and Deno, and in the edge runtimes workerd and that of Vercel.
 * Checks its types with each supported TypeScript. `node scripts/check-sdk.mjs [VERSION...]`, with versions of Node. Requires built packages,
 * the registry, and Linux on x64, for which npm has Node itself.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { managers, npmInstall, npmNode } from "./managers.mjs"
import { pack } from "./manifest.mjs"
import { support } from "./support.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const versions = process.argv.length > 2 ? process.argv.slice(2) : support.node

/** What is installed beside the SDK. */
const neighbours = [[], ...support.effectBesideSdk.map((version) => [`effect@${version}`])]

const main = `const main = async ({ createPlaza, isPlazaError, NotFound }, entry, options) => {
  const plaza = options === undefined ? createPlaza.fromEnv() : createPlaza(options)
  const { username } = await plaza.profiles.me()
  const { stock } = await plaza.store.setStock("MUG-BLUE-350", 7)
  const content = new Uint8Array([1, 2, 3])
  const { mediaId } = options === undefined
    ? await plaza.media.uploadFile("package.json", { contentType: "image/png" })
    : await plaza.media.upload({ fileName: "a.png", content })
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

/** A program with the types that applications use first. */
const typed = {
  "program.mts": `import { createPlaza, type Failures, isPlazaError, NotFound, type Post } from "@plaza/sdk"
`,
  "program.cts": `import sdk = require("@plaza/sdk")
import Failures = sdk.Failures
import Post = sdk.Post
const { createPlaza, isPlazaError, NotFound } = sdk
`
}
const typedMain = `
export const run = async (): Promise<ReadonlyArray<Post>> => {
  await using plaza = createPlaza({ baseUrl: "https://host/open/v1", apiKey: "a key", retry: false })
  const posts: Array<Post> = []
  for await (const post of plaza.posts.list({ limit: 3 })) posts.push(post)
  return posts
}
export const explain = (error: unknown): string => {
  if (!isPlazaError(error)) throw error
  return error instanceof NotFound ? error.code : error._tag
}
export const tag = (failure: Failures["store"]["ship"]): string => failure._tag
`

/** A handler of requests for an edge runtime. */
const worker = `import * as sdk from "@plaza/sdk"
${main}
const handle = async (options) => {
  try {
    return new Response(await main(sdk, "index.js", options))
  } catch (error) {
    return new Response(String(error), { status: 500 })
  }
}
`

/** How each edge runtime runs a bundle. The folder has the runtime, the file is the bundle. */
const edges = /** @type {const} */ ([
  {
    name: "workerd",
    packages: support.workerd.map((version) => `miniflare@${version}`),
    condition: "workerd",
    entry: "export default { fetch: (request, env) => handle({ baseUrl: env.PLAZA_BASE_URL, apiKey: env.PLAZA_API_KEY }) }\n",
    run: `import { Miniflare } from "miniflare"
import { env } from "node:process"
const { PLAZA_API_KEY, PLAZA_BASE_URL } = env
const runtime = new Miniflare({
  modules: true,
  scriptPath: "bundle.js",
  bindings: { PLAZA_API_KEY, PLAZA_BASE_URL },
  // Without a date, it has the URL of 2021.
  compatibilityDate: "2025-01-01"
})
console.log(await (await runtime.dispatchFetch("http://localhost/")).text())
await runtime.dispose()
`
  },
  {
    name: "the edge runtime of Vercel",
    packages: support.vercelEdge.map((version) => `edge-runtime@${version}`),
    condition: "edge-light",
    entry: `addEventListener("fetch", (event) => event.respondWith(handle({ baseUrl: PLAZA_BASE_URL, apiKey: PLAZA_API_KEY })))\n`,
    run: `import { EdgeRuntime } from "edge-runtime"
import { readFileSync } from "node:fs"
import { env } from "node:process"
const { PLAZA_API_KEY, PLAZA_BASE_URL } = env
const runtime = new EdgeRuntime({
  extend: (context) => Object.assign(context, { PLAZA_API_KEY, PLAZA_BASE_URL }),
  initialCode: readFileSync("bundle.js", "utf8")
})
console.log(await (await runtime.dispatchFetch("http://localhost/")).text())
`
  }
])

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
    node: npmNode(join(work, `node-${version}`), version)
  }))
  const [bun = "", deno = ""] = /** @type {const} */ (["bun", "deno"]).map((name) =>
    join(npmInstall(join(work, name), support[name].map((version) => `${name}@${version}`)), "node_modules/.bin", name)
  )

  for (const { condition, entry, name, packages, run } of edges) {
    const folder = npmInstall(join(work, name), [file, ...packages])
    writeFileSync(join(folder, "worker.js"), `${worker}${entry}`)
    writeFileSync(join(folder, "run.mjs"), run)
    const build = await rolldown({
      cwd: folder,
      input: "worker.js",
      platform: "browser",
      resolve: { conditionNames: [condition] },
      transform: { define: { "import.meta": "{}" } },
      onLog: (_, { message }) => {
        throw new Error(message)
      }
    })
    await build.write({ file: join(folder, "bundle.js"), format: condition === "workerd" ? "es" : "iife" })
    await build.close()
    await check(name, "index.js", folder, [nodes.at(-1)?.node ?? process.execPath, "run.mjs"])
  }

  const compilers = [...new Set([...support.typescriptOfSdk, ...support.typescriptOfSdkInCommonJs])]
  const folder = npmInstall(join(work, "types"), [file, ...compilers.map((version) => `typescript-${version}@npm:typescript@${version}`)])
  for (const [name, head] of Object.entries(typed)) writeFileSync(join(folder, name), `${head}${typedMain}`)
  for (const version of compilers) {
    for (
      const [program, resolution] of /** @type {const} */ ([
        ["program.mts", ["--module", "nodenext"]],
        ["program.mts", ["--module", "esnext", "--moduleResolution", "bundler"]],
        ["program.cts", ["--module", "nodenext"]]
      ])
    ) {
      const supported = program === "program.cts" ? support.typescriptOfSdkInCommonJs : support.typescriptOfSdk
      if (!supported.includes(version)) continue
      const tsc = join(folder, `node_modules/typescript-${version}/bin/tsc`)
      const strict = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false", "--target", "es2022"]
      const { status, stdout } = spawnSync(process.execPath, [tsc, ...strict, ...resolution, program], { cwd: folder, encoding: "utf8" })
      const title = `TypeScript ${version}, ${resolution.join(" ")}, ${program}`
      if (status !== 0) throw new Error(`${title}: ${stdout}`)
      process.stdout.write(`${title}: no error\n`)
    }
  }

  for (const packages of neighbours) {
    const neighbour = packages[0] ?? "no Effect"
    const reference = new Set(["stranger", "@plaza/sdk", ...installedIn(npmInstall(join(work, `reference ${neighbour}`), packages), [])])
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
