/**
 * Lines of an MCP client: a defect, an end of the server before the end of its input, or output that is not JSON-RPC is a mistake.
 */
import { NodeServices } from "@effect/platform-node"
import * as Output from "@plaza/cli-kit/Output"
import * as Streams from "@plaza/cli-kit/Streams"
import { Plaza } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import * as Fuzz from "@plaza/testing/Fuzz"
import { Effect, Exit, Layer, References, Stream } from "effect"
import { expect, it } from "vitest"
import * as McpServer from "../../src/mcp/McpServer.ts"
import * as Tools from "../../src/mcp/Tools.ts"

const request = (id: unknown, method: string, params: unknown = {}) => JSON.stringify({ jsonrpc: "2.0", id, method, params })
const call = (id: unknown, name: string, args: unknown) => request(id, "tools/call", { name, arguments: args })

const hello = request(0, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "fuzz", version: "1" } })
const seeds = [
  [hello, JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }), request(1, "tools/list"), call("2", "getMe", {})],
  [hello, call(1, "createPost", { text: "hello" }), call(2, "listPosts", { limit: 2 }), request("ping", "ping")],
  [
    hello,
    call(1, "setStock", { id: "0042", stock: 3 }),
    JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
  ]
].map((lines) => `${lines.join("\n")}\n`)

const tools = Effect.succeed(Tools.offered(["createPost", "setStock"]))

it("gets messages of JSON-RPC, and a response to the last request", () =>
  Fuzz.run({
    seeds,
    words: ["\"id\":null", "\"method\":", "\"params\":", "\"arguments\":null", "\"_meta\":", "getUser", "\"2.0\""],
    check: (bytes, choice) =>
      Effect.gen(function*() {
        const stdout: Array<string> = []
        const streams = Streams.layerTest({ stdout, stderr: [] })
        const { apiKey, baseUrl } = yield* Sandbox.Sandbox
        const client = Plaza.layer({ apiKey, baseUrl, allowInsecureHttp: true })
        const at = choice % (bytes.length + 1)
        const input = Stream.make(bytes.subarray(0, at), bytes.subarray(at), Buffer.from(`\n${request("last", "ping")}\n`))
        const exit = yield* Fuzz.outcome(McpServer.serve({ tools, confirm: false }, client, input)).pipe(
          Effect.provide(Layer.provideMerge(Output.layer({ json: false, quiet: false }), streams))
        )
        expect(Exit.isSuccess(exit)).toBe(true)
        const messages = stdout.join("").trim().split("\n").map((line): unknown => JSON.parse(line))
        for (const message of messages) expect(message).toMatchObject({ jsonrpc: "2.0" })
        expect(messages).toContainEqual({ jsonrpc: "2.0", id: "last", result: {} })
      }).pipe(
        Effect.provide([Sandbox.layerHttpClient(), NodeServices.layer]),
        Effect.provideService(References.CurrentLoggers, new Set())
      )
  }))
