/**
 * The built program with its settings from files: a config file, the key's file and the webhook's secret.
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer } from "effect"
import { createServer } from "node:http"
import { account, run, start } from "./support/program.ts"

const layer = Layer.merge(NodeServices.layer, Sandbox.layerServer())

const inFolder = <A, E, R>(test: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.provide(Effect.scoped(Effect.flatMap(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()), test)),
    layer)
const write = (path: string, content: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.writeFileString(path, content))

/** The bodies that are posted to an address of this machine. */
const receiver = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly bodies: Array<string>; readonly close: () => void }>((resume) => {
    const bodies: Array<string> = []
    const server = createServer((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (text: string) => (body += text)).on("end", () => {
        bodies.push(body)
        response.writeHead(204).end()
      })
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}/hook`, bodies, close: () => void server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const until = (isSo: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => isSo() ? Effect.void : Effect.delay(until(isSo), "50 millis"))

describe("a program with its settings in files", () => {
  it.live("sends with the key of a file, and leaves the environment stronger than the config file", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { PLAZA_API_KEY, PLAZA_BASE_URL } = yield* account
        yield* write(`${cwd}/stock.csv`, "productId,stock\n007,3\n")
        yield* write(`${cwd}/key`, `${PLAZA_API_KEY}\n`)
        yield* write(`${cwd}/sync.toml`,
          `source = "stock.csv"\nledger = "sub.sqlite"\nbase-url = "${PLAZA_BASE_URL}"\napi-key-file = "key"\ntimeout = "10s"\n`)
        const once = yield* run(["once", "--config", "sync.toml", "--json"], { cwd })
        expect(once).toMatchObject({ status: 0, stderr: "" })
        expect(once.stdout).toContain("\"confirmed\":1")
        expect(yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.exists(`${cwd}/sub.sqlite`))).toBe(true)
        const other = yield* run(["status", "--config", "sync.toml", "--json"], { cwd, env: { STOCK_SYNC_LEDGER: "none.sqlite" } })
        expect(`${other.stdout}${other.stderr}`).toContain("none.sqlite")
      })
    ))

  it.live("ends with 2 and one sentence for a misspelt variable and for a key's file that can't be read", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { PLAZA_BASE_URL } = yield* account
        yield* write(`${cwd}/stock.csv`, "productId,stock\n007,3\n")
        expect(yield* run(["status"], { cwd, env: { STOCK_SYNC_LEDGR: "x" } })).toMatchObject({
          status: 2,
          stderr: "plaza-stock-sync: STOCK_SYNC_LEDGR is not a setting: did you mean STOCK_SYNC_LEDGER?\n"
        })
        const env = { PLAZA_BASE_URL, PLAZA_API_KEY_FILE: "nowhere" }
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({
          status: 2,
          stderr: "plaza-stock-sync: PLAZA_API_KEY_FILE is invalid: the file that it names does not exist\n"
        })
        // No key is needed, and none is read.
        expect((yield* run(["plan", "--source", "stock.csv"], { cwd, env })).status).toBe(0)
      })
    ))

  it.live("posts to its webhook what it can't send, and ends on SIGTERM as always", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { bodies, url } = yield* receiver
        yield* write(`${cwd}/stock.csv`, "productId,stock\nNO-SUCH-PRODUCT,1\n")
        yield* write(`${cwd}/secret`, `whsec_${Buffer.from("an example secret of 24 b.").toString("base64")}\n`)
        yield* write(`${cwd}/sync.json`,
          JSON.stringify({ source: "stock.csv", webhook: url, "webhook-secret-file": "secret", "log-level": "debug" }))
        const running = yield* start(["run", "--config", "sync.json"], { cwd, env: yield* account })
        yield* until(() => bodies.length > 0)
        expect(JSON.parse(bodies[0] ?? "")).toMatchObject({
          type: "product.quarantined",
          data: { products: [{ productId: "NO-SUCH-PRODUCT", value: 1, code: "NOT_FOUND" }], more: 0 }
        })
        yield* until(() => running.stderr().includes("webhook.delivered"))
        yield* running.kill("SIGTERM")
        const { status, stderr } = yield* running.ended
        expect(status).toBe(0)
        expect(stderr).not.toContain("/hook")
      })
    ))
})
