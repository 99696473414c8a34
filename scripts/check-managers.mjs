/**
 * Installs all tarballs but the SDK's beside the newest Effect by npm, pnpm, Yarn 1, Yarn 4 and Bun. On each Node it runs a program with the
 * entry points of the libraries, as an ES module and as CommonJS, and both programs against a sandbox:
 * `node scripts/check-managers.mjs [VERSION...]`. Requires built packages, the registry, and Linux on x64, for which npm has Node itself.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { runPrograms } from "./installed-programs.mjs"
import { managers, npmNode } from "./managers.mjs"
import { pack, publishedFolders, readManifest } from "./manifest.mjs"
import { support } from "./support.mjs"

const imports = `
import { Plaza, Posts, Profiles, RateLimit } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import * as Sqlite from "@plaza/client/sqlite"
import { PostId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"
`
const main = `
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
Effect.runPromise(Effect.provide(program, Layer.provideMerge(client, Sandbox.layerServer()))).then(console.log)
`
const programs = {
  "program.mjs": `${imports}${main}`,
  // Node also requires ES modules.
  "program.cjs": `${imports.replace(/import (?:\* as )?(.+) from (.+)/g, "const $1 = require($2)")}${main}`
}

const peers = ["effect", "@effect/platform-node"]

const versions = process.argv.length > 2 ? process.argv.slice(2) : support.node
const work = mkdtempSync(join(tmpdir(), "plaza-managers-"))
try {
  const tarballs = publishedFolders().filter((folder) => readManifest(folder).name !== "@plaza/sdk").map((folder) => {
    const { name } = readManifest(folder)
    const file = join(work, `${name.replace("@plaza/", "")}.tgz`)
    pack(folder, ["--out", file])
    return { name, file }
  })
  const nodes = versions.map((version) => npmNode(join(work, `node-${version}`), version))
  for (const { flags, install, name } of managers) {
    const folder = join(work, name)
    mkdirSync(folder)
    for (const [file, text] of Object.entries(programs)) writeFileSync(join(folder, file), text)
    install(folder, peers, tarballs)
    for (const node of nodes) {
      for (const file of Object.keys(programs)) {
        const printed = execFileSync(node, [...flags, file], { cwd: folder, encoding: "utf8" }).trim()
        if (printed !== "corner-shop 1 true") throw new Error(`${name}: ${file} printed ${printed}`)
      }
      const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim()
      // Without node_modules there are no commands outside of Yarn.
      if (flags.length > 0) {
        process.stdout.write(`${name}, Node ${version}: libraries installed and run\n`)
        continue
      }
      const path = [join(folder, "node_modules/.bin"), dirname(node), process.env["PATH"]].join(delimiter)
      await runPrograms({ folder: mkdtempSync(join(work, "programs-")), path, version: readManifest("apps/cli").version })
      process.stdout.write(`${name}, Node ${version}: libraries and programs installed and run\n`)
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
