/** `plaza mcp` with the official clients of both versions of the protocol: tools, failures, and the questions of `--confirm-writes`. */
import { NodeServices } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { names } from "@plaza/domain/Operations"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer } from "effect"
import { expect } from "vitest"
import * as Mcp from "../support/Mcp.ts"

const services = Layer.merge(Sandbox.layerServer({ assumptions: { requestsPerWindow: 10_000 } }), NodeServices.layer)
const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "plaza-mcp-" }))
const requests = Effect.flatMap(Sandbox.Sandbox, ({ requests }) => Effect.map(requests, ({ length }) => length))

const error = (tag: string, outcome = "notDone") => ({
  isError: true,
  _meta: { "plaza/error": { tag, outcome } },
  content: [{ type: "text", text: expect.stringContaining(`"tag":"${tag}"`) as unknown }]
})

layer(services, { excludeTestServices: true })("plaza mcp", (it) => {
  it.effect.each(Mcp.clients)("serves %s", (client) =>
    Effect.gen(function*() {
      const { call, listTools } = yield* Mcp.connect(["--allow-writes", "--uploads", yield* folder], yield* folder, { client })
      expect((yield* listTools).map(({ name }) => name).toSorted()).toEqual(names.toSorted())
      expect(yield* call("getMe")).toMatchObject({ structuredContent: { id: "1001", username: "corner-shop" } })
      expect(yield* call("listPosts", { limit: 1, cursor: null })).toMatchObject({ structuredContent: { data: [{}] } })
      expect(yield* call("createPost", { text: "Of both versions", mediaIds: null })).toMatchObject({
        structuredContent: { text: "Of both versions" }
      })
      expect(yield* call("setStock", { id: "0042", stock: "3" })).toMatchObject(error("InvalidInput"))
      expect(yield* call("setStock", { id: "0042", stock: null })).toMatchObject({
        _meta: { "plaza/error": { message: "stock is missing", details: { field: "stock" } } }
      })
      expect(yield* call("getMe", { extra: 1 })).toMatchObject({
        _meta: { "plaza/error": { message: "extra is not an argument: there are none" } }
      })
      expect(yield* call("getUser", { id: "nobody" })).toMatchObject(error("NotFound"))
      expect(yield* Effect.flip(call("nothing"))).toMatchObject({ code: -32602 })
    }))

  it.effect.each(Mcp.clients)("asks a person before each write, through %s", (client) =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const answers: Array<Mcp.Answer> = [
        { action: "accept", content: { confirm: true } },
        { action: "accept", content: { confirm: false } },
        { action: "decline" },
        { action: "cancel" },
        { action: "accept", content: { confirm: true } }
      ]
      const { call } = yield* Mcp.connect(["--allow-writes", "--confirm-writes"], yield* folder, {
        client,
        answer: (question) => {
          asked.push(question)
          return answers[asked.length - 1] ?? { action: "decline" }
        }
      })
      const set = (stock: number) => call("setStock", { id: "0042", stock })
      expect(yield* set(11)).toMatchObject({ structuredContent: { id: "0042", stock: 11 } })
      const before = yield* requests
      expect(yield* set(12)).toMatchObject(error("NotConfirmed"))
      expect(yield* set(13)).toMatchObject({
        _meta: {
          "plaza/error": {
            message: "the person declined the call",
            advice: "Nothing was changed. Do not repeat this call unless the person asks for it."
          }
        }
      })
      expect(yield* set(14)).toMatchObject({ _meta: { "plaza/error": { message: "the person closed the question without an answer" } } })
      // Invalid arguments and reads ask nobody.
      expect(yield* call("setStock", { id: "0042" })).toMatchObject(error("InvalidInput"))
      expect(yield* requests).toBe(before)
      expect(yield* call("getMe")).toMatchObject({ structuredContent: { id: "1001" } })
      expect(yield* call("createPost", { text: "Line 1\nline 2 \u001b[31m", mediaIds: [] })).toMatchObject({ structuredContent: {} })
      expect(asked).toEqual([
        "Set a product's stock?\nid: 0042\nstock: 11",
        "Set a product's stock?\nid: 0042\nstock: 12",
        "Set a product's stock?\nid: 0042\nstock: 13",
        "Set a product's stock?\nid: 0042\nstock: 14",
        "Create a post?\ntext: Line 1\nline 2 \u241b[31m\nmediaIds: []"
      ])
    }))

  it.effect.each(Mcp.clients)("writes nothing if %s can't ask", (client) =>
    Effect.gen(function*() {
      const { call } = yield* Mcp.connect(["--allow-writes", "--confirm-writes"], yield* folder, { client })
      const before = yield* requests
      expect(yield* call("sendMessage", { id: "conv_301", text: "Unasked" })).toMatchObject(error("ConfirmationUnavailable"))
      expect(yield* requests).toBe(before)
      expect(yield* call("getMe")).toMatchObject({ structuredContent: { id: "1001" } })
    }))

  it.effect("uses an answer once, and only for the call that was asked about", () =>
    Effect.gen(function*() {
      const server = yield* Mcp.raw(["--allow-writes", "--confirm-writes"], yield* folder)
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } }
      }
      const confirmed = { confirm: { action: "accept", content: { confirm: true } } }
      const call = (id: number, stock: number, rest: object = {}) =>
        Effect.gen(function*() {
          const params = { name: "setStock", arguments: { id: "0042", stock }, _meta, ...rest }
          server.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`)
          yield* Mcp.until(() => server.messages().length === id, `response ${id}`)
          // The cast is true: each message is the response to a call.
          return (server.messages().at(-1) as { readonly result: { readonly resultType: string; readonly requestState: string } }).result
        })
      const isQuestion = { resultType: "input_required", inputRequests: { confirm: { method: "elicitation/create" } } }
      // Without a question before.
      expect(yield* call(1, 21, { inputResponses: confirmed })).toMatchObject(isQuestion)
      expect(yield* call(2, 21, { inputResponses: confirmed, requestState: "made up" })).toMatchObject(isQuestion)
      const { requestState } = yield* call(3, 21)
      const answer = { inputResponses: confirmed, requestState }
      const before = yield* requests
      // With other arguments.
      expect(yield* call(4, 22, answer)).toMatchObject(isQuestion)
      expect(yield* requests).toBe(before)
      expect(yield* call(5, 21, answer)).toMatchObject({ resultType: "complete", structuredContent: { stock: 21 } })
      // A second time.
      expect(yield* call(6, 21, answer)).toMatchObject(isQuestion)
      expect(yield* requests).toBe(before + 1)
    }))

  it.effect("ends without an answer of the person when the input ends", () =>
    Effect.gen(function*() {
      const server = yield* Mcp.raw(["--allow-writes", "--confirm-writes"], yield* folder)
      const before = yield* requests
      const handshake = Mcp.handshake.replace("\"capabilities\":{}", "\"capabilities\":{\"elicitation\":{}}")
      server.child.stdin.write(handshake + Mcp.toolCall("w", "setStock", { id: "0042", stock: 31 }))
      yield* Mcp.until(() => server.messages().length === 2, "the question")
      server.child.stdin.end()
      expect(yield* server.ended).toBe(0)
      expect(server.messages().slice(1)).toMatchObject([
        { method: "elicitation/create" },
        { id: "w", result: { isError: true, content: [{ text: expect.stringContaining("the input of plaza mcp ended") as unknown }] } }
      ])
      expect(yield* requests).toBe(before)
    }))
})
