/** The commands of README.md run as they are, against a sandbox on a socket, until the program prints its result. */
import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, FileSystem, Layer, Redacted, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { SqlClient } from "effect/sql"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const rows = [...readFileSync(`${root}examples/README.md`, "utf8").matchAll(/^\| \[([\w-]+)\]\(([^)]+)\) \|.*\| `([^`]+)` \|$/gm)]
  .map(([, name = "", file = "", command = ""]) => ({ name, file, command }))

/** What each program prints when it has done its work, or is ready. */
const results: Readonly<Record<string, string>> = {
  autoposter: "posted",
  greeter: "skipped",
  "ship-orders": "shipped: 1 of 1",
  "stock-from-postgres": "confirmed: 1 of 1",
  "http-server": "Listening on",
  "ship-endpoint": "Listening on",
  "browser-page": "Listening on",
  "restock-alerts": "passed"
}

describe("README.md", () => {
  it("lists every program, with a file that exists", () => {
    const folders = readdirSync(`${root}examples/src`, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) =>
      name
    )
    expect(rows.map(({ name }) => name).sort()).toEqual(folders.sort())
    expect(rows.filter(({ file }) => !existsSync(`${root}examples/${file}`))).toEqual([])
    expect(Object.keys(results).sort()).toEqual(folders.sort())
  })
})

/** A database with the table that the query of the example reads. */
const database = Effect.gen(function*() {
  const { url } = yield* Postgres.scoped
  yield* Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE inventory (sku text, on_hand int, reserved int, is_published boolean)`
    yield* sql`INSERT INTO inventory VALUES ('MUG-BLUE-350', 3, 1, true)`
  }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })))
  return url
})

const freePort = Effect.callback<number>((resume) => {
  const probe = createServer()
  probe.listen(0, "127.0.0.1", () => {
    const address = probe.address()
    probe.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** A folder with the files of the reader. */
const home = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  yield* fs.makeDirectory(`${folder}/media`)
  yield* fs.writeFileString(`${folder}/media/mug.jpg`, "a picture")
  yield* fs.utimes(`${folder}/media/mug.jpg`, 0, 0)
  yield* fs.writeFileString(`${folder}/shipments.csv`, "orderId,carrier,trackingNumber\nSO/2026/26,DHL,0034\n")
  return folder
})

/** Replaces the values that belong to the reader. */
const adapt = (command: string, folder: string) =>
  Effect.gen(function*() {
    return command
      .replace("MEDIA_FOLDER=media", `MEDIA_FOLDER=${folder}/media`)
      .replace("SHIPMENTS=shipments.csv", `SHIPMENTS=${folder}/shipments.csv`)
      .replace("postgres://localhost/shop", command.includes("DATABASE_URL") ? yield* database : "")
      .replace(/PORT=\d+/, `PORT=${yield* freePort}`)
      // The signal that ends the test must reach the program.
      .replace(/\bnode /, "exec node ")
  })

layer(Layer.merge(Sandbox.layerServer(), NodeServices.layer), { excludeTestServices: true })("the command of", (it) => {
  for (const { command, name } of rows.filter((row) => row.name !== "restock-alerts")) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const { apiKey, baseUrl } = yield* Sandbox.Sandbox
        const folder = yield* home
        const child = yield* ChildProcess.make("sh", ["-c", yield* adapt(command, folder)], {
          cwd: root,
          env: { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: apiKey, JOURNAL: `${folder}/journal.sqlite` },
          extendEnv: true
        })
        const output = yield* child.all.pipe(
          Stream.decodeText(),
          Stream.scan(() => "", (all, text) => all + text),
          Stream.takeUntil((all) => all.includes(results[name] ?? "\0")),
          Stream.runFold(() => "", (_, all) => all)
        )
        expect(output).toContain(results[name])
      }))
  }
})
