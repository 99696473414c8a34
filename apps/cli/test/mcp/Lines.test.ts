/** Lines that break the rules of the protocol: each gets its response, and none stops the server or loses another one. */
import { it } from "@effect/vitest"
import * as Output from "@plaza/cli-kit/Output"
import * as Streams from "@plaza/cli-kit/Streams"
import { Plaza, TestTime } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { expect } from "vitest"
import { maxLineLength } from "../../src/mcp/LineTransport.ts"
import * as McpServer from "../../src/mcp/McpServer.ts"
// Loaded before, because the virtual time passes while a module loads.
import "../../src/mcp/ToolFailure.ts"
import * as Tools from "../../src/mcp/Tools.ts"
import * as Mcp from "../support/Mcp.ts"

/** The messages of a server for an input in these pieces, without the response to the handshake. */
const serve = (...pieces: ReadonlyArray<string | Uint8Array>) =>
  Effect.gen(function*() {
    const stdout: Array<string> = []
    const stderr: Array<string> = []
    const { apiKey, baseUrl } = yield* Sandbox.Sandbox
    const input = Stream.fromIterable([Mcp.handshake, ...pieces]).pipe(Stream.map((piece) => Buffer.from(piece)))
    yield* McpServer.serve({ tools: Effect.succeed(Tools.offered([])), confirm: false }, Plaza.layer({ apiKey, baseUrl }), input).pipe(
      Effect.provide(Layer.provideMerge(Output.layer({ json: false, quiet: false }), Streams.layerTest({ stdout, stderr })))
    )
    expect(stderr).toEqual([])
    return stdout.map((text): unknown => JSON.parse(text)).filter((message) => !JSON.stringify(message).includes("handshake"))
  })

const inSandbox = <A, E>(test: Effect.Effect<A, E, Sandbox.Sandbox | HttpClient.HttpClient>) =>
  test.pipe(TestTime.advancing, Effect.provide(Sandbox.layerHttpClient()))

const pong = (id: unknown) => ({ jsonrpc: "2.0", id, result: {} })
const ping = (id: unknown) => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`
const refusal = (code: number, id?: unknown) => ({
  jsonrpc: "2.0",
  ...(id === undefined ? {} : { id }),
  error: { code, message: expect.any(String) as unknown }
})

it.effect.each<readonly [line: string | Uint8Array, response: object]>([
  ["{not json", refusal(-32700)],
  [Uint8Array.of(0x22, 0xff, 0xfe, 0x22), refusal(-32700)],
  // A text that is cut within a character.
  [Uint8Array.of(0x22, 0xc3, 0x22), refusal(-32700)],
  ["[]", refusal(-32600)],
  ["null", refusal(-32600)],
  ["42", refusal(-32600)],
  ["\"x\"", refusal(-32600)],
  [`[${ping(1).trim()},${ping(2).trim()}]`, refusal(-32600)],
  ["{\"jsonrpc\":\"2.0\",\"id\":3}", refusal(-32600, 3)],
  ["{\"jsonrpc\":\"1.0\",\"id\":\"4\",\"method\":\"ping\"}", refusal(-32600, "4")],
  ["{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", refusal(-32600)],
  ["{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", refusal(-32600)],
  ["{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", refusal(-32600)],
  ["{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"no/such\"}", refusal(-32601, 5)],
  ["{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/call\",\"params\":{\"name\":7}}", refusal(-32602, 6)],
  ["{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{\"cursor\":7}}", refusal(-32602, 7)],
  ["x".repeat(maxLineLength + 1), refusal(-32600)]
])("responds to %s", ([line, response]) =>
  inSandbox(Effect.gen(function*() {
    expect(yield* serve(ping("before"), line, `\n${ping("after")}`)).toEqual(
      expect.arrayContaining([pong("before"), response, pong("after")])
    )
    // In one piece.
    const all = Buffer.concat([ping("before"), line, `\n${ping("after")}`].map((piece) => Buffer.from(piece)))
    expect(yield* serve(all)).toHaveLength(3)
  })))

it.effect("reads blank lines, both line ends, characters in pieces and a last line without an end", () =>
  inSandbox(Effect.gen(function*() {
    const call = Mcp.toolCall("Ü", "getUserByUsername", { username: "ünknown" })
    const bytes = [...Buffer.from(`\n\r\n  \n${ping(1).trim()}\r\n${call}${ping("last").trim()}`)].map((byte) => Uint8Array.of(byte))
    expect(yield* serve(...bytes)).toEqual(expect.arrayContaining([
      pong(1),
      expect.objectContaining({ id: "Ü", result: expect.objectContaining({ isError: true }) as unknown }),
      pong("last")
    ]))
  })))

it.effect("responds to both calls with one id, and to string and number ids as they are", () =>
  inSandbox(Effect.gen(function*() {
    const messages = yield* serve([9, 9, "9", "007"].map((id) => Mcp.toolCall(id, "getMe")).join(""))
    // The cast is true: each message is a response.
    const ids = messages.map((message) => JSON.stringify((message as { readonly id: unknown }).id))
    expect(ids.toSorted()).toEqual(["\"007\"", "\"9\"", "9", "9"])
    for (const message of messages) expect(message).toMatchObject({ result: { structuredContent: { id: "1001" } } })
  })))

it.effect("does not respond to a cancelled call, and ends without it", () =>
  inSandbox(Effect.gen(function*() {
    const { addFault } = yield* Sandbox.Sandbox
    yield* addFault({ kind: "delay", when: "before", millis: 60_000 })
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }
    expect(yield* serve(Mcp.toolCall(1, "getMe"), `${JSON.stringify(cancel)}\n${ping(2)}`)).toEqual([pong(2)])
  })))
