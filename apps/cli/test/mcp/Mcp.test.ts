/** `plaza mcp` as a child process: used by the official client, and by a client that breaks the rules. */
import { NodeServices } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { isWrite, names, operations } from "@plaza/domain/Operations"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Fiber, FileSystem, Layer, Predicate, Redacted, Schedule } from "effect"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { expect } from "vitest"
import { plaza } from "../support/InProcess.ts"
import * as Mcp from "../support/Mcp.ts"
import { run } from "../support/Plaza.ts"

const services = Layer.merge(Sandbox.layerServer({ assumptions: { requestsPerWindow: 10_000 } }), NodeServices.layer)
const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "plaza-mcp-" }))

const state = Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)
const reads = names.filter((name) => !isWrite(name))
const writes = names.filter(isWrite)

/** The failure of a call, which is in the text and in `_meta`. */
const failure = (error: object) => ({
  isError: true,
  content: [{ type: "text", text: expect.stringMatching(/^\{"error":\{/) as unknown }],
  _meta: { "plaza/error": error }
})

layer(services, { excludeTestServices: true })("plaza mcp", (it) => {
  it.effect("offers every read and no write by default, and responds with what its schemas promise", () =>
    Effect.gen(function*() {
      const { call, listTools } = yield* Mcp.connect([], yield* folder)
      const tools = yield* listTools
      expect(tools.map(({ name }) => name)).toEqual(reads)
      expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true)
      expect(JSON.stringify(tools)).not.toMatch(/"\$(?:id|schema|ref)"/)

      // The client validates structured content by the output schema.
      expect(yield* call("getMe")).toMatchObject({ structuredContent: { id: "1001", username: "corner-shop" } })
      expect(yield* call("getUser", { id: "1002" })).toMatchObject({ structuredContent: { id: "1002" } })
      expect(yield* call("getUserByUsername", { username: "corner-shop" })).toMatchObject({ structuredContent: { id: "1001" } })
      expect(yield* call("listConversations", { limit: 100 })).toMatchObject({ structuredContent: { nextCursor: null } })

      const newest = (yield* state).posts.filter(({ authorId }) => authorId === "1001").toReversed()
      const first = yield* call("listPosts", { limit: 2 })
      expect(first).toMatchObject({ structuredContent: { data: [{ id: newest[0]?.id }, { id: newest[1]?.id }] } })
      const { nextCursor } = first["structuredContent"] as { readonly nextCursor: string }
      expect(yield* call("listPosts", { limit: 1, cursor: nextCursor })).toMatchObject({
        structuredContent: { data: [{ id: newest[2]?.id }] }
      })

      expect(yield* call("getUser", { id: "nobody" })).toMatchObject(
        failure({ tag: "NotFound", code: "NOT_FOUND", status: 404, outcome: "notDone" })
      )
      expect(yield* call("listPosts", { limit: 101 })).toMatchObject(failure({ tag: "InvalidInput", details: { field: "limit" } }))
      expect(yield* call("getUser", { id: 1002 })).toMatchObject(
        failure({ tag: "InvalidInput", message: "id: Expected string", outcome: "notDone" })
      )
      expect(yield* call("getUser", { id: "1002", other: 1 })).toMatchObject(failure({ tag: "InvalidInput", details: { field: "other" } }))
      expect(yield* Effect.flip(call("setStock", { id: "0042", stock: 1 }))).toMatchObject({
        code: -32602,
        message: expect.stringContaining("plaza mcp --allow-writes setStock") as unknown
      })
      expect(yield* Effect.flip(call("nothing"))).toMatchObject({ code: -32602 })
    }))

  it.effect("--allow-writes adds a tool for each write, with its delivery class", () =>
    Effect.gen(function*() {
      const uploads = yield* folder
      writeFileSync(`${uploads}/mug.png`, "mug")
      const { call, listTools } = yield* Mcp.connect(["--allow-writes", "--uploads", uploads], yield* folder, { cwd: "/" })
      const tools = yield* listTools
      expect(tools.map(({ name }) => name)).toEqual([...reads, ...writes])
      for (const name of names) {
        const { annotations, description } = tools.find((tool) => tool.name === name) ?? {}
        expect(description).toContain(`Delivery class ${operations[name].delivery}:`)
        expect(annotations?.idempotentHint).toBe(["Read", "Repeatable"].includes(operations[name].delivery))
      }

      const before = yield* state
      const post = before.posts[0]?.id ?? ""
      const order = before.orders.find(({ shipment }) => shipment === null)?.id ?? ""
      const uploaded = yield* call("uploadMedia", { path: "mug.png" })
      const { mediaId } = uploaded["structuredContent"] as { readonly mediaId: string }
      expect(yield* call("createPost", { text: "By an agent", mediaIds: [mediaId] })).toMatchObject({
        structuredContent: { text: "By an agent", mediaIds: [mediaId] }
      })
      expect(yield* call("createComment", { id: post, text: "Lovely" })).toMatchObject({ structuredContent: { text: "Lovely" } })
      expect(yield* call("likePost", { id: post })).toMatchObject({ structuredContent: { id: post, done: true } })
      expect(yield* call("followUser", { id: "1005" })).toMatchObject({ structuredContent: { id: "1005", done: true } })
      expect(yield* call("createStory", { story: { frames: [1] } })).toMatchObject({ structuredContent: { response: {} } })
      expect(yield* call("setStock", { id: "CAP/RED L", stock: 7 })).toMatchObject({ structuredContent: { id: "CAP/RED L", stock: 7 } })
      const ship = call("shipOrder", { id: order, carrier: "DHL", trackingNumber: "0034" })
      expect(yield* ship).toMatchObject({ structuredContent: { id: order, trackingNumber: "0034" } })
      expect(yield* ship).toMatchObject(
        failure({ tag: "Conflict", outcome: "notDone", advice: expect.stringMatching(/Do not repeat/) as unknown })
      )
      expect(yield* call("sendMessage", { id: "conv_301", text: "Hello" })).toMatchObject({ structuredContent: { text: "Hello" } })

      const outside = failure({ tag: "InvalidInput", details: { field: "path" }, outcome: "notDone" })
      expect(yield* call("uploadMedia", { path: "/etc/hostname" })).toMatchObject(outside)
      expect(yield* call("uploadMedia", { path: "etc/hostname" })).toMatchObject(outside)
      expect((yield* state).media.length).toBe(before.media.length + 1)
    }))

  it.effect("offers no upload without --uploads, in whatever folder it starts", () =>
    Effect.gen(function*() {
      const { call, listTools } = yield* Mcp.connect(["--allow-writes"], yield* folder, { cwd: "/" })
      const tools = yield* listTools
      expect(tools.map(({ name }) => name)).toEqual([...reads, ...writes.filter((name) => name !== "uploadMedia")])
      const before = yield* state
      for (const path of ["etc/hostname", "/etc/hostname"]) {
        expect(yield* Effect.flip(call("uploadMedia", { path }))).toMatchObject({
          code: -32602,
          message: expect.stringContaining("plaza mcp --allow-writes uploadMedia --uploads DIR") as unknown
        })
      }
      expect((yield* state).media).toEqual(before.media)
    }))

  it.effect("reads a file for uploadMedia only", () =>
    Effect.gen(function*() {
      const uploads = yield* folder
      writeFileSync(`${uploads}/mug.png`, "content of the file")
      const { call, client } = yield* Mcp.connect(["--allow-writes", "--uploads", uploads], yield* folder)
      expect(Object.keys(client.getServerCapabilities() ?? {})).toEqual(["tools"])
      const path = `${uploads}/mug.png`
      for (const args of [{ text: path, mediaIds: [path] }, { text: `@${path}` }, { text: `file://${path}` }]) yield* call("createPost",
          args)
      yield* call("createStory", { story: { input: path, file: `@${path}` } })
      const { requests } = yield* Sandbox.Sandbox
      expect(JSON.stringify(yield* requests)).not.toContain("content of the file")
      expect(JSON.stringify(yield* state)).not.toContain("content of the file")
    }))

  it.effect("notes an --uploads without effect", () =>
    Effect.gen(function*() {
      for (const argv of [[], ["--allow-writes", "setStock"]]) {
        const { listTools, stderr } = yield* Mcp.connect([...argv, "--uploads", yield* folder], yield* folder)
        const tools = yield* listTools
        expect(tools.map(({ name }) => name)).not.toContain("uploadMedia")
        yield* Mcp.until(() => stderr().includes("--uploads has no effect"), "the note")
      }
    }))

  it.effect("says what is known of a write that fails or is cancelled, and never repeats it when its outcome is unknown", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { call, listTools, stderr } = yield* Mcp.connect(["--allow-writes", "sendMessage,likePost", "setStock"], yield* folder)
      const tools = yield* listTools
      expect(tools.map(({ name }) => name)).toEqual([...reads, "likePost", "setStock", "sendMessage"])

      const before = (yield* sandbox.requests).length
      yield* sandbox.addFault({ kind: "drop", when: "after", path: "/conversations/*" })
      const lost = yield* call("sendMessage", { id: "conv_301", text: "Once" })
      expect(lost).toMatchObject(failure({
        tag: "OutcomeUnknown",
        outcome: "unknown",
        advice: expect.stringMatching(/^Do not repeat this call: the change may have been made\. .*web app/) as unknown
      }))
      expect((yield* sandbox.requests).length).toBe(before + 1)

      yield* sandbox.addFault({ kind: "status", when: "before", status: 403, code: "PROFILE_INCOMPLETE", method: "POST" })
      expect(yield* call("likePost", { id: (yield* state).posts[0]?.id })).toMatchObject(
        failure({ tag: "ProfileIncomplete", outcome: "notDone", advice: expect.stringMatching(/a person must change/) as unknown })
      )
      yield* sandbox.addFault({ kind: "garbage", body: "<html>", method: "POST", path: "/conversations/*" })
      expect(yield* call("sendMessage", { id: "conv_301", text: "Unreadable" })).toMatchObject(
        failure({ tag: "UnreadableSuccess", outcome: "probablyDone" })
      )

      // Stops a cancelled call, and goes on.
      yield* sandbox.addFault({ kind: "delay", when: "before", millis: 60_000, path: "/conversations/*" })
      const controller = new AbortController()
      const sent = (yield* sandbox.requests).length
      const cancelled = yield* Effect.forkChild(Effect.flip(call("sendMessage", { id: "conv_301", text: "Cancelled" }, controller.signal)))
      yield* Effect.repeat(sandbox.requests, { until: (requests) => requests.length > sent, schedule: Schedule.spaced("20 millis") })
      controller.abort("no longer needed")
      expect(String(yield* Fiber.join(cancelled))).toContain("no longer needed")
      yield* Mcp.until(() => stderr().includes("sendMessage was cancelled while it ran. Its outcome is unknown"),
        "the note of the cancelled call")
      expect(yield* call("getMe")).toMatchObject({ structuredContent: { id: "1001" } })
      yield* sandbox.clearFaults
      expect(JSON.stringify(lost) + stderr()).not.toContain(Redacted.value(sandbox.apiKey))
    }))

  it.effect("reports a created story whose response is nested too deeply to be written", () =>
    Effect.gen(function*() {
      const depth = 100_000
      const baseUrl = yield* Effect.acquireRelease(
        Effect.callback<Server>((resume) => {
          const server = createServer((request, response) =>
            request.resume().on("end", () => response.writeHead(201).end(`{"id":${"[".repeat(depth)}${"]".repeat(depth)}}`))
          )
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
        // The cast is true: the server listens on a port.
      ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/open/v1`))
      const { call } = yield* Mcp.connect(["--allow-writes", "createStory"], yield* folder, { env: { PLAZA_BASE_URL: baseUrl } })
      const response = "The response has more than 100 levels of nesting, so it is not shown."
      expect(yield* call("createStory", { story: {} })).toMatchObject({ structuredContent: { response } })
    }))

  it.effect("responds to every request of an input that breaks the rules, and ends with it", () =>
    Effect.gen(function*() {
      const server = yield* Mcp.raw([], yield* folder)
      const umlaut = Buffer.from(Mcp.toolCall("Ü-1", "getUserByUsername", { username: "ünknown" }))
      const cut = umlaut.indexOf(0xc3) + 1
      server.child.stdin.write(Mcp.handshake)
      server.child.stdin.write(`not json\n\n[]\n{"jsonrpc":"2.0","id":7}\n{"jsonrpc":"2.0","method":"notifications/unknown"}\n`)
      for (const params of [undefined, { name: "getMe", arguments: null }, { name: "getMe", arguments: [] }, { arguments: {} }])
        server.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: "invalid", method: "tools/call", params })}\n`)
      const nested = "[".repeat(50_000) + "]".repeat(50_000)
      server.child.stdin.write(
        `{"jsonrpc":"2.0","id":"nested","method":"tools/call","params":{"name":"getUser","arguments":{"id":${nested}}}}\n`
      )
      server.child.stdin.write(umlaut.subarray(0, cut))
      yield* Mcp.until(() => server.messages().length >= 9, "the responses so far")
      server.child.stdin.write(umlaut.subarray(cut))
      server.child.stdin.write(`{"jsonrpc":"2.0","id":"nothing","method":"nothing/at-all"}\r\n`)
      // The input ends while these are open.
      server.child.stdin.end(Mcp.toolCall("007", "getMe") + Mcp.toolCall(7, "getUser", { id: "1002" }))
      expect(yield* server.ended).toBe(0)
      const messages = server.messages()
      expect(messages).toHaveLength(13)
      expect(messages.find((message) => Predicate.hasProperty(message, "id") && message.id === "nested")).toMatchObject({
        result: {
          isError: true,
          _meta: {
            "plaza/error": {
              tag: "InvalidInput",
              message: "the arguments have another form, and are nested in more than 100 levels",
              outcome: "notDone"
            }
          }
        }
      })
      expect(messages.filter((message) => Predicate.hasProperty(message, "id") && message.id === "invalid")).toEqual([
        { jsonrpc: "2.0", id: "invalid", error: { code: -32602, message: expect.stringMatching(/^params: /) as unknown } },
        { jsonrpc: "2.0", id: "invalid", error: { code: -32602, message: expect.stringMatching(/^params\.arguments: /) as unknown } },
        { jsonrpc: "2.0", id: "invalid", error: { code: -32602, message: expect.stringMatching(/^params\.arguments: /) as unknown } },
        { jsonrpc: "2.0", id: "invalid", error: { code: -32602, message: expect.stringMatching(/^params\.name: /) as unknown } }
      ])
      expect(messages).toEqual(expect.arrayContaining([
        expect.objectContaining({ id: "handshake" }),
        { jsonrpc: "2.0", error: expect.objectContaining({ code: -32700 }) as unknown },
        { jsonrpc: "2.0", error: expect.objectContaining({ code: -32600 }) as unknown },
        { jsonrpc: "2.0", id: 7, error: expect.objectContaining({ code: -32600 }) as unknown },
        { jsonrpc: "2.0", id: "nothing", error: expect.objectContaining({ code: -32601 }) as unknown },
        expect.objectContaining({ id: "Ü-1", result: expect.objectContaining({ isError: true }) as unknown }),
        expect.objectContaining({
          id: "007",
          result: expect.objectContaining({ structuredContent: { id: "1001", username: "corner-shop" } }) as unknown
        }),
        expect.objectContaining({
          id: 7,
          result: expect.objectContaining({ structuredContent: expect.objectContaining({ id: "1002" }) as unknown }) as unknown
        })
      ]))
      expect(server.stderr()).toBe("")
    }))

  it.effect("reports the outcome of a write in flight when it is stopped", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.addFault({ kind: "delay", when: "after", millis: 60_000, path: "/conversations/*" })
      const server = yield* Mcp.raw(["--allow-writes", "sendMessage"], yield* folder)
      const before = (yield* state).messages.length
      server.child.stdin.write(Mcp.handshake + Mcp.toolCall("w", "sendMessage", { id: "conv_301", text: "In flight" }))
      yield* Effect.repeat(state, { until: ({ messages }) => messages.length > before, schedule: Schedule.spaced("20 millis") })
      server.child.kill("SIGTERM")
      expect(yield* server.ended).toBe(0)
      expect(server.messages().at(-1)).toMatchObject({ id: "w", result: failure({ tag: "OutcomeUnknown", outcome: "unknown" }) })
      yield* sandbox.clearFaults
    }))

  it.effect("ends when the reader of its output goes, and writes what it could not deliver to standard error", () =>
    Effect.gen(function*() {
      const server = yield* Mcp.raw(["--allow-writes", "setStock"], yield* folder)
      server.child.stdin.write(Mcp.handshake)
      yield* Mcp.until(() => server.messages().length === 1, "the handshake")
      server.child.stdout.destroy()
      server.child.stdin.write(Mcp.toolCall("lost", "setStock", { id: "0042", stock: 3 }))
      expect(yield* server.ended).toBe(0)
      expect(server.stderr()).toMatch(/This was not delivered: .*"id":"lost"/)
    }))

  it.effect("shares the rate limit of the key with other processes", () =>
    Effect.gen(function*() {
      const shared = yield* folder
      const env = { PLAZA_RATE_LIMIT: "2", PLAZA_RATE_WINDOW: "10 minutes" }
      const [one, other] = yield* Effect.all([Mcp.connect([], shared, { env }), Mcp.connect([], shared, { env })], { concurrency: 2 })
      expect(yield* one.call("getMe")).toMatchObject({ structuredContent: { id: "1001" } })
      expect(yield* other.call("getMe")).toMatchObject({ structuredContent: { id: "1001" } })
      expect(yield* one.call("getMe")).toMatchObject(failure({
        tag: "RateLimitWaitExceeded",
        outcome: "notDone",
        advice: expect.stringMatching(/^Call it again at \d{4}-/) as unknown
      }))
    }))

  it.effect("shares the rate limit of the key with other commands, which don't create the file", () =>
    Effect.gen(function*() {
      const shared = yield* folder
      const file = `${shared}/plaza/rate-limit.sqlite`
      const env = { PLAZA_RATE_LIMIT: "2", PLAZA_RATE_WINDOW: "10 minutes" }
      const { apiKey, baseUrl } = yield* Sandbox.Sandbox
      const command = (...argv: ReadonlyArray<string>) =>
        run(argv, { env: { ...env, PLAZA_API_KEY: Redacted.value(apiKey), PLAZA_BASE_URL: baseUrl, XDG_STATE_HOME: shared } })
      // Alone, a command has a rate limit of its own.
      expect(yield* command("me")).toMatchObject({ code: 0 })
      expect(existsSync(file)).toBe(false)
      expect(yield* command("mcp")).toMatchObject({ code: 0 })
      expect(existsSync(file)).toBe(true)

      const { call } = yield* Mcp.connect([], shared, { env })
      expect(yield* call("getMe")).toMatchObject({ structuredContent: { id: "1001" } })
      expect(yield* command("me")).toMatchObject({ code: 0 })
      expect(yield* call("getMe")).toMatchObject(failure({ tag: "RateLimitWaitExceeded", outcome: "notDone" }))
    }))

  it.effect("reports a shared rate limit that can't be opened, as every other command does", () =>
    Effect.gen(function*() {
      const shared = yield* folder
      mkdirSync(`${shared}/plaza/rate-limit.sqlite`, { recursive: true })
      const { apiKey, baseUrl } = yield* Sandbox.Sandbox
      const env = { PLAZA_API_KEY: Redacted.value(apiKey), PLAZA_BASE_URL: baseUrl, XDG_STATE_HOME: shared }
      const unusable = {
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/rate-limit\.sqlite can't be used as a file: check the path/) as unknown
      }
      expect(yield* run(["me"], { env })).toMatchObject(unusable)
      expect(yield* run(["mcp"], { env })).toMatchObject(unusable)
    }))

  it.effect("refuses what it can't offer before it starts", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* plaza(["mcp", "--allow-writes", "deletePost"], {})
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
      expect(stderr).toContain(`"deletePost" is not a write: use one of followUser,`)
      expect(yield* plaza(["mcp", "setStock"], {})).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining("add --allow-writes") as unknown
      })
      expect(yield* plaza(["mcp", "--allow-writes", "uploadMedia"], {})).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: uploadMedia requires a folder: add --uploads DIR, and only its files can be uploaded\n"
      })
      expect(yield* plaza(["mcp", "--allow-writes", "--uploads", "/no/such/folder"], {})).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: --uploads /no/such/folder does not exist: name an existing folder\n"
      })
      // After its input, which it reads first.
      expect(yield* run(["mcp"])).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining("no base URL is set") as unknown
      })
    }))
})
