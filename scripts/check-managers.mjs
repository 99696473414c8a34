/**
 * Installs the tarballs of the libraries beside the newest Effect by npm, pnpm, Yarn 1, Yarn 4 and Bun, and runs a program with each of their
 * entry points on the given Nodes (default: this one): `node scripts/check-managers.mjs [NODE...]`. Requires built packages and the registry.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pack, publishedFolders, readManifest } from "./manifest.mjs"

const program = `
import { Plaza, Posts, Profiles, RateLimit } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import * as Sqlite from "@plaza/client/sqlite"
import { PostId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"

const client = Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) =>
  Plaza.layerWithoutRateLimit({ apiKey, baseUrl }).pipe(
    Layer.provideMerge(RateLimitSql.layer({ apiKey })),
    Layer.provide(Sqlite.layer({ filename: ":memory:" })),
    Layer.provide(NodeClient.layer)
  )))
const program = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  const posts = yield* Posts
  yield* sandbox.addFault({ kind: "status", when: "after", status: 503, method: "POST" })
  const { username } = yield* (yield* Profiles).me
  const { id } = yield* posts.create({ text: "Installed." })
  yield* posts.like(PostId.make(id))
  const { free } = yield* (yield* RateLimit.RateLimit).status
  const stored = (yield* sandbox.state).posts.filter(({ text }) => text === "Installed.")
  return [username, stored.length, free < 120].join(" ")
})
console.log(await Effect.runPromise(Effect.provide(program, Layer.provideMerge(client, Sandbox.layerServer()))))
`

const peers = ["effect", "@effect/platform-node"]

/** @typedef {{ readonly name: string, readonly file: string }} Tarball */
/** @type {(tarballs: ReadonlyArray<Tarball>) => ReadonlyArray<string>} */
const files = (tarballs) => tarballs.map(({ file }) => file)
/** @type {(tarballs: ReadonlyArray<Tarball>) => ReadonlyArray<string>} */
const named = (tarballs) => tarballs.map(({ file, name }) => `${name}@file:${file}`)

/**
 * The command of each manager, the file that it needs, and what Node needs to find its packages.
 * @type {Readonly<Record<string, { readonly command: (tarballs: ReadonlyArray<Tarball>) => ReadonlyArray<string>,
 *   readonly settings?: readonly [file: string, text: string], readonly node?: ReadonlyArray<string> }>>}
 */
const managers = {
  npm: { command: (tarballs) => ["npm", "install", "--no-audit", "--no-fund", ...peers, ...files(tarballs)] },
  pnpm: { command: (tarballs) => ["npx", "-y", "pnpm@12.21.0", "add", ...peers, ...files(tarballs)] },
  "Yarn 1": { command: (tarballs) => ["npx", "-y", "yarn@1", "add", ...peers, ...named(tarballs)] },
  "Yarn 4": {
    command: (tarballs) => ["npx", "-y", "@yarnpkg/cli-dist@4", "add", ...peers, ...named(tarballs)],
    settings: [".yarnrc.yml", "nodeLinker: node-modules\n"]
  },
  "Yarn 4 without node_modules": {
    command: (tarballs) => ["npx", "-y", "@yarnpkg/cli-dist@4", "add", ...peers, ...named(tarballs)],
    settings: [".yarnrc.yml", "nodeLinker: pnp\n"],
    node: ["--require", "./.pnp.cjs", "--loader", "./.pnp.loader.mjs", "--no-warnings"]
  },
  Bun: { command: (tarballs) => ["npx", "-y", "bun@1", "add", ...peers, ...files(tarballs)] }
}

const nodes = process.argv.length > 2 ? process.argv.slice(2) : [process.execPath]
const work = mkdtempSync(join(tmpdir(), "plaza-managers-"))
try {
  const tarballs = publishedFolders().filter((folder) => readManifest(folder).bin === undefined).map((folder) => {
    const { name } = readManifest(folder)
    const file = join(work, `${name.replace("@plaza/", "")}.tgz`)
    pack(folder, ["--out", file])
    return { name, file }
  })
  for (const [manager, { command, node = [], settings }] of Object.entries(managers)) {
    const folder = join(work, manager)
    mkdirSync(folder)
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "stranger", version: "1.0.0", type: "module", private: true }))
    writeFileSync(join(folder, "program.mjs"), program)
    if (settings !== undefined) {
      writeFileSync(join(folder, settings[0]), settings[1])
      // Without it, Yarn looks for a project in the folders above.
      writeFileSync(join(folder, "yarn.lock"), "")
    }
    const [name = "", ...args] = command(tarballs)
    execFileSync(name, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, YARN_ENABLE_TELEMETRY: "0" } })
    for (const each of nodes) {
      const printed = execFileSync(each, [...node, "program.mjs"], { cwd: folder, encoding: "utf8" }).trim()
      if (printed !== "corner-shop 1 true") throw new Error(`${manager}: the program printed ${printed}`)
      const version = execFileSync(each, ["--version"], { encoding: "utf8" }).trim()
      process.stdout.write(`${manager}, Node ${version}: installed and run\n`)
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
