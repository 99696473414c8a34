/** A bundled program contains undici. The test sends requests of every kind that the client supports, by both transports. */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener, type Server } from "node:http"
import { type AddressInfo, connect } from "node:net"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const run = promisify(execFile)

/** Sends the requests of its arguments, the transport and `METHOD URL` of each, and prints a line for each response or failure. */
const bin = `
import * as Undici from "@plaza/client/node"
import * as NodeHttp from "@plaza/client/node-http"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"

const requests: Readonly<Record<string, (url: string) => HttpClientRequest.HttpClientRequest>> = {
  GET: HttpClientRequest.get,
  POST: (url) => HttpClientRequest.bodyText(HttpClientRequest.post(url), "posted"),
  UPLOAD: (url) => HttpClientRequest.bodyStream(HttpClientRequest.post(url), Stream.make(new TextEncoder().encode("uploaded")))
}
const codeOf = (error: unknown): unknown =>
  !(error instanceof Error) ? error : error.cause !== undefined ? codeOf(error.cause) : "code" in error && error.code !== undefined ? error.code : error.name
const [, , transport, ...words] = process.argv
const program = Effect.gen(function*() {
  const client = yield* HttpClient.HttpClient
  for (let index = 0; index < words.length; index += 2) {
    const request = requests[words[index] ?? ""]?.(words[index + 1] ?? "")
    if (request === undefined) continue
    const line = yield* client.execute(request).pipe(
      Effect.flatMap((response) => Effect.map(response.text, (text) => response.status + " " + text)),
      Effect.catch((error) => Effect.succeed(String(codeOf(error))))
    )
    console.log(line)
    // Undici puts a connection back after its response has ended.
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
})
Effect.runPromise(Effect.provide(program, transport === "undici" ? Undici.layer : NodeHttp.layer)).then(() => process.exit(0))
`
const manual = `
const page = { name: "probe", summary: "Probes.", details: [], args: [], options: [], examples: [], commands: [] }
export const manual = { name: "probe", version: "9.8.7", page, sections: [] }
export const manPage = ".TH PROBE 1\\n"
`

const servers: Array<Server> = []
const listen = async (listener: RequestListener): Promise<Server> => {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return server
}
// A listening server on TCP has an address with a port.
const portOf = (server: Server): number => (server.address() as AddressInfo).port

let app = ""

beforeAll(() => {
  // Inside apps/cli, whose dependencies it uses, in a folder that git ignores.
  mkdirSync(Path.join(root, "apps/cli/build"), { recursive: true })
  app = mkdtempSync(Path.join(root, "apps/cli/build/http-"))
  mkdirSync(Path.join(app, "src"))
  writeFileSync(Path.join(app, "src/bin.ts"), bin)
  writeFileSync(Path.join(app, "src/manual.ts"), manual)
  writeFileSync(
    Path.join(app, "package.json"),
    JSON.stringify({ name: "probe", version: "9.8.7", type: "module", engines: { node: ">=22.19" }, bin: { probe: "./dist/probe.cjs" } })
  )
  return run(process.execPath, [Path.join(root, "scripts/bundle.mjs"), app])
})

afterAll(() => {
  rmSync(app, { recursive: true, force: true })
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

const sent = async (
  env: Readonly<Record<string, string>>,
  transport: "undici" | "http",
  ...words: ReadonlyArray<string>
): Promise<ReadonlyArray<string>> => {
  const { stdout } = await run(process.execPath, [Path.join(app, "dist/probe.cjs"), transport, ...words], { env: { ...env } })
  return stdout.split("\n").slice(0, -1)
}

/** Responds with the method, the body and the number of the connection. */
const echo = async () => {
  const connections: Array<unknown> = []
  return listen((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text
    }).on("end", () => {
      if (!connections.includes(request.socket)) connections.push(request.socket)
      response.end([request.method, body, connections.indexOf(request.socket)].join(" "))
    })
  })
}

describe("a bundled program", () => {
  it("keeps the connection of requests that may be sent twice", async () => {
    const url = `http://127.0.0.1:${portOf(await echo())}/`
    expect(await sent({}, "undici", "GET", url, "GET", url, "POST", url, "UPLOAD", url, "GET", url)).toEqual([
      "200 GET  0",
      "200 GET  0",
      "200 POST posted 1",
      "200 POST uploaded 2",
      "200 GET  0"
    ])
  })

  it("opens a connection for each request of a command", async () => {
    const url = `http://127.0.0.1:${portOf(await echo())}/`
    expect(await sent({}, "http", "GET", url, "POST", url, "UPLOAD", url)).toEqual([
      "200 GET  0",
      "200 POST posted 1",
      "200 POST uploaded 2"
    ])
  })

  it("reports the codes of failures below HTTP", async () => {
    const closing = await listen((request) => request.socket.destroy())
    const malformed = await listen((request) => request.socket.end("HTTP/1.1 x\r\n\r\n"))
    const refusing = await listen(() => {})
    const closed = portOf(refusing)
    await new Promise((resolve) => refusing.close(resolve))
    const urls = [`http://127.0.0.1:${closed}/`, `http://127.0.0.1:${portOf(malformed)}/`, `https://127.0.0.1:${portOf(closing)}/`]
    const words = ["POST", `http://127.0.0.1:${portOf(closing)}/`, ...urls.flatMap((url) => ["GET", url])]
    expect((await sent({}, "undici", ...words)).slice(0, 4)).toEqual([
      "UND_ERR_SOCKET",
      "ECONNREFUSED",
      "HTTPParserError",
      "ERR_SSL_WRONG_VERSION_NUMBER"
    ])
    expect((await sent({}, "http", ...words)).slice(0, 4)).toEqual(["ECONNRESET", "ECONNREFUSED", "HPE_INVALID_STATUS", "EPROTO"])
  })

  it("sends requests through a proxy of the environment", async () => {
    const port = portOf(await echo())
    const tunnels: Array<string> = []
    const proxy = await listen(() => {})
    proxy.on("connect", (request, socket) => {
      tunnels.push(request.url ?? "")
      const upstream = connect(port, "127.0.0.1", () => socket.write("HTTP/1.1 200 Connection established\r\n\r\n"))
      upstream.pipe(socket).pipe(upstream)
      for (const end of [upstream, socket]) end.on("error", () => {})
    })
    expect(
      await sent({ http_proxy: `http://127.0.0.1:${portOf(proxy)}` }, "undici", "GET", "http://shop.example/", "POST",
        "http://shop.example/")
    )
      .toEqual(["200 GET  0", "200 POST posted 1"])
    expect(tunnels).toEqual(["shop.example:80", "shop.example:80"])
  })
})
