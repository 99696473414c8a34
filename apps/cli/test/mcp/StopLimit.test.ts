/** Calls in flight at the end of the input, in virtual time. */
import { NodeFileSystem } from "@effect/platform-node"
import { it } from "@effect/vitest"
import * as Output from "@plaza/cli-kit/Output"
import * as Streams from "@plaza/cli-kit/Streams"
import { Plaza, TestTime } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Clock, Duration, Effect, Exit, Layer, Stream } from "effect"
import { expect } from "vitest"
import * as McpServer from "../../src/mcp/McpServer.ts"
// Loaded before, because the virtual time passes while a module loads.
import "../../src/mcp/ToolFailure.ts"
import * as Tools from "../../src/mcp/Tools.ts"
import * as Mcp from "../support/Mcp.ts"

/** Serves an input that ends at once, or fails. Returns the messages of the output and the milliseconds that the server ran. */
const serve = (input: string, end: Stream.Stream<never, string> = Stream.empty) =>
  Effect.gen(function*() {
    const stdout: Array<string> = []
    const stderr: Array<string> = []
    const { apiKey, baseUrl } = yield* Sandbox.Sandbox
    const startedAt = yield* Clock.currentTimeMillis
    const exit = yield* McpServer.serve({ tools: Effect.succeed(Tools.offered(["sendMessage", "setStock"])), confirm: false },
      Plaza.layer({ apiKey, baseUrl }), Stream.concat(Stream.make(new TextEncoder().encode(input)), end))
      .pipe(Effect.exit,
        Effect.provide(Layer.provideMerge(Output.layer({ json: false, quiet: false }), Streams.layerTest({ stdout, stderr }))))
    const messages = stdout.map((text): unknown => JSON.parse(text))
    return { exit, messages, stderr, millis: (yield* Clock.currentTimeMillis) - startedAt }
  })

it.effect("calls have the stop limit to finish, and report what is known if they don't", () =>
  Effect.gen(function*() {
    const { addFault, state } = yield* Sandbox.Sandbox
    yield* addFault({ kind: "delay", when: "after", millis: 5_000, method: "PATCH" })
    yield* addFault({ kind: "delay", when: "after", millis: 25_000, path: "/conversations/*" })
    const { messages, millis, stderr } = yield* serve(
      Mcp.handshake + Mcp.toolCall("quick", "setStock", { id: "0042", stock: 5 }) +
        Mcp.toolCall("slow", "sendMessage", { id: "conv_301", text: "Slow" })
    )
    expect(messages.slice(1)).toMatchObject([
      { id: "quick", result: { structuredContent: { id: "0042", stock: 5 } } },
      { id: "slow", result: { isError: true, _meta: { "plaza/error": { tag: "OutcomeUnknown", outcome: "unknown" } } } }
    ])
    expect(stderr).toEqual([])
    expect(millis).toBe(Duration.toMillis(McpServer.stopLimit))
    expect((yield* state).messages.filter(({ text }) => text === "Slow")).toHaveLength(1)
  }).pipe(TestTime.advancing, Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeFileSystem.layer))))

it.effect("an input that can't be read fails the server, after the calls that have come", () =>
  Effect.gen(function*() {
    const { exit, messages } = yield* serve(Mcp.handshake + Mcp.toolCall("quick", "setStock", { id: "0042", stock: 5 }), Stream.fail("EIO"))
    expect(messages.slice(1)).toMatchObject([{ id: "quick", result: { structuredContent: { id: "0042", stock: 5 } } }])
    expect(exit).toEqual(Exit.fail("EIO"))
  }).pipe(TestTime.advancing, Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeFileSystem.layer))))
