/**
 * Installs the tarballs of the libraries beside the newest Effect by npm, pnpm, Yarn 1, Yarn 4 and Bun, and runs a program with each of their
 * entry points on the given Nodes (default: this one): `node scripts/check-managers.mjs [NODE...]`. Requires built packages and the registry.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { managers } from "./managers.mjs"
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

const nodes = process.argv.length > 2 ? process.argv.slice(2) : [process.execPath]
const work = mkdtempSync(join(tmpdir(), "plaza-managers-"))
try {
  const tarballs = publishedFolders().filter((folder) => readManifest(folder).peerDependencies !== undefined).map((folder) => {
    const { name } = readManifest(folder)
    const file = join(work, `${name.replace("@plaza/", "")}.tgz`)
    pack(folder, ["--out", file])
    return { name, file }
  })
  for (const { flags, install, name } of managers) {
    const folder = join(work, name)
    mkdirSync(folder)
    writeFileSync(join(folder, "program.mjs"), program)
    install(folder, peers, tarballs)
    for (const each of nodes) {
      const printed = execFileSync(each, [...flags, "program.mjs"], { cwd: folder, encoding: "utf8" }).trim()
      if (printed !== "corner-shop 1 true") throw new Error(`${name}: the program printed ${printed}`)
      const version = execFileSync(each, ["--version"], { encoding: "utf8" }).trim()
      process.stdout.write(`${name}, Node ${version}: installed and run\n`)
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
