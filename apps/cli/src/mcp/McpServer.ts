/** Serves tools by the Model Context Protocol. Standard output carries only the protocol. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { CallToolRequestSchema, type CallToolResult, ErrorCode, ListToolsRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js"
import type { Plaza } from "@plaza-legacy/client"
import { Output } from "@plaza/cli-kit/Output"
import type { Streams } from "@plaza/cli-kit/Streams"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { name, version } from "../version.ts"
import * as StdioTransport from "./StdioTransport.ts"
import type { Services, Tool } from "./Tool.ts"
import * as ToolFailure from "./ToolFailure.ts"
import { isWrite } from "./Writes.ts"

/** How long calls may go on after the end of the input. */
export const stopLimit = Duration.seconds(10)

/** How long the responses of stopped calls may take. */
const drainLimit = Duration.seconds(1)

const instructions = [
  "Tools for one account of the Social and Store Developer Interface.",
  "Ids are strings: never change or round them.",
  "A failure is a JSON object with tag, message, outcome and advice. If outcome is unknown or probablyDone, follow the advice before you call " +
  "the tool again. After OutcomeUnknown, do not repeat the call unless the advice says that this is safe.",
  "A key may make 120 requests a minute, for all of its programs together."
].join(" ")

/** A tool as clients see it. */
export const listed = ({ delivery, description, inputSchema, isDestructive, name, outputSchema, title }: Tool) => ({
  name,
  title,
  description,
  inputSchema: { ...inputSchema, type: "object" as const },
  outputSchema: { ...outputSchema, type: "object" as const },
  annotations: {
    title,
    readOnlyHint: delivery === "Read",
    destructiveHint: isDestructive,
    idempotentHint: delivery === "Read" || delivery === "Repeatable",
    openWorldHint: true
  }
})

const unknown = (tool: string): McpError =>
  new McpError(
    ErrorCode.InvalidParams,
    isWrite(tool)
      ? `${tool} is a write that is not allowed here: a person can allow it with plaza mcp --allow-writes ${tool}${
        tool === "uploadMedia" ? " --uploads DIR" : ""
      }`
      : `there is no tool ${JSON.stringify(tool)}`
  )

/** A failure is in the text and in `_meta`, because clients validate `structuredContent` against the schema of a success. */
const failed = (failure: ToolFailure.ToolFailure): CallToolResult => ({
  isError: true,
  content: [{ type: "text", text: JSON.stringify({ error: failure }) }],
  _meta: { "plaza/error": failure }
})

const call = (tool: Tool, args: unknown): Effect.Effect<CallToolResult, never, Services | Output> =>
  tool.call(args).pipe(
    Effect.map((result): CallToolResult => ({
      structuredContent: result,
      content: [{ type: "text", text: JSON.stringify(result) }]
    })),
    Effect.onInterrupt(() =>
      tool.delivery === "Read"
        ? Effect.void
        : Effect.flatMap(Output,
          ({ note }) => note(`${tool.name} was cancelled while it ran. Its outcome is unknown: check it before you call it again.`))
    ),
    Effect.catchAllCause((cause) => Effect.succeed(failed(ToolFailure.ofCause(cause, tool))))
  )

/**
 * Serves until the input ends or its reader goes, or until it is interrupted. Calls then have the {@link stopLimit}, or no time after an
 * interruption. The rest is stopped and gets a response that reports what is known.
 */
export const serve = <E, R, E2>(
  tools: ReadonlyArray<Tool>,
  client: Layer.Layer<Plaza.Services, E, R>,
  input: Stream.Stream<Uint8Array, E2>
): Effect.Effect<void, E, R | Output | Streams> =>
  Effect.acquireUseRelease(
    Scope.make(),
    (scope) =>
      Effect.gen(function*() {
        const stdio = yield* StdioTransport.make
        const services = yield* Layer.buildWithScope(client, scope)
        const run = Runtime.runPromise(yield* Effect.runtime<Output>())
        const byName = new Map<string, Tool>(tools.map((tool) => [tool.name, tool]))
        const server = new Server({ name, version }, { capabilities: { tools: {} }, instructions })
        server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(listed) }))
        server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
          const tool = byName.get(params.name)
          if (tool === undefined) throw unknown(params.name)
          return run(Effect.provide(call(tool, params.arguments ?? {}), services), { signal })
        })
        yield* Effect.promise(() => server.connect(stdio.transport))
        const lines = input.pipe(Stream.decodeText(), Stream.splitLines, Stream.runForEach(stdio.receive))
        yield* Effect.raceFirst(Effect.ignore(lines), stdio.outputClosed).pipe(
          Effect.zipRight(Effect.timeoutOption(stdio.idle, stopLimit)),
          Effect.ensuring(Effect.zipRight(
            // Ends the calls: each reports whether its request was sent.
            Scope.close(scope, Exit.void),
            Effect.timeoutOption(Effect.interruptible(stdio.idle), drainLimit)
          ))
        )
      }),
    (scope, exit) => Scope.close(scope, exit)
  )
