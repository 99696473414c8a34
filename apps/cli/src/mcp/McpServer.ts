/** Serves tools by the Model Context Protocol, in its versions 2025-11-25 and 2026-07-28. Standard output carries only the protocol. */
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { Output } from "@plaza/cli-kit/Output"
import type { Streams } from "@plaza/cli-kit/Streams"
import * as Limits from "@plaza/domain/Limits"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { name, version } from "../version.ts"
import * as Confirmation from "./Confirmation.ts"
import * as LineTransport from "./LineTransport.ts"
import type { Services, Tool } from "./Tool.ts"
import type { ToolFailure } from "./ToolFailure.ts"
import { uploads, writes } from "./Tools.ts"

/** How long calls may go on after the end of the input. */
export const stopLimit = Duration.seconds(10)

/** How long the responses of stopped calls may take. */
const drainLimit = Duration.seconds(1)

/** When to build the client without a first message, for a person who starts the server by hand. */
const silence = Duration.millis(500)

const instructions = [
  "Tools for one account of the Social and Store Developer Interface.",
  "Ids are strings: never change or round them.",
  "A failure is a JSON object with tag, message, outcome and advice. If outcome is unknown or probablyDone, follow the advice before you call " +
  "the tool again. After OutcomeUnknown, do not repeat the call unless the advice says that this is safe.",
  `A key may make ${Limits.requestsPerWindow} requests in ${
    Duration.toSeconds(Limits.rateWindow)
  } seconds, for all of its programs together.`
].join(" ")

/** A tool as clients see it. */
export const listed = ({ delivery, description, isDestructive, isOfService, name, schemas, title }: Tool) => {
  const { input, output } = schemas()
  return {
    name,
    title,
    description,
    inputSchema: { ...input, type: "object" as const },
    outputSchema: { ...output, type: "object" as const },
    annotations: {
      title,
      readOnlyHint: delivery === "Read",
      destructiveHint: isDestructive,
      idempotentHint: delivery === "Read" || delivery === "Repeatable",
      openWorldHint: isOfService
    }
  }
}

const unknown = (tool: string): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    writes.some((write) => write === tool)
      ? `${tool} is a write that is not allowed here: a person can allow it with plaza mcp --allow-writes ${tool}${
        uploads.some((upload) => upload === tool) ? " --uploads DIR" : ""
      }`
      : `there is no tool ${JSON.stringify(tool)}`
  )

/** A failure is in the text and in `_meta`, because clients validate `structuredContent` against the schema of a success. */
const failed = (failure: ToolFailure): CallToolResult => ({
  isError: true,
  content: [{ type: "text", text: JSON.stringify({ error: failure }) }],
  _meta: { "plaza/error": failure }
})

const noteCancelled = ({ name }: Tool) =>
  Effect.flatMap(Output, ({ note }) =>
    note(`${name} was cancelled while it ran. Its outcome is unknown: check it before you call it again.`))

export interface Options {
  /** Read with the first message that requires them. */
  readonly tools: Effect.Effect<ReadonlyArray<Tool>>
  /** Whether a person confirms each write. */
  readonly confirm: boolean
}

/**
 * Serves until the input ends or its reader goes, or until it is interrupted. Calls then have the {@link stopLimit}, or no time after an
 * interruption. The rest is stopped and gets a response that reports what is known. The client is built after the first response, so that
 * an MCP client does not wait for it; its failure ends the server.
 */
export const serve = <E, R, E2, R2>(
  { confirm, tools }: Options,
  client: Layer.Layer<Services, E, R>,
  input: Stream.Stream<Uint8Array, E2, R2>
): Effect.Effect<void, E | E2, R | R2 | Output | Streams> =>
  Effect.acquireUseRelease(
    Scope.make(),
    (scope) =>
      Effect.gen(function*() {
        const stdio = yield* LineTransport.make
        const needed = yield* Latch.make()
        const failures = Effect.promise(() => import("./ToolFailure.ts"))
        const building = yield* Effect.forkIn(
          Effect.raceAllFirst([stdio.hasWritten, needed.await, Effect.sleep(silence)]).pipe(
            Effect.andThen(failures),
            Effect.andThen(Layer.buildWithScope(client, scope))
          ),
          scope
        )
        const services: Effect.Effect<Context.Context<Services>, E> = Effect.andThen(needed.open, Fiber.join(building))
        const run = Effect.runPromiseWith(yield* Effect.context<Output>())
        const decide = Confirmation.make()
        const offered = yield* Effect.cached(tools)
        const toolOf = (name: string) =>
          Effect.flatMap(offered, (tools) => Effect.fromNullishOr(tools.find((tool) => tool.name === name))).pipe(
            Effect.mapError(() => unknown(name))
          )

        const call = (tool: Tool, args: Readonly<Record<string, unknown>>, context: ServerContext, server: Server) =>
          Effect.gen(function*(): Effect.fn.Return<CallToolResult | InputRequiredResult, unknown, Output> {
            const prepared = yield* tool.prepare(args)
            const isConfirmed = !confirm || !tool.isOfService || tool.delivery === "Read"
            const decision = isConfirmed ? { _tag: "Confirmed" as const } : decide(tool, args, context, server.getClientCapabilities())
            if (decision._tag === "Ask") return decision.question
            if (decision._tag === "Refused") return failed(decision.failure)
            const result = yield* Effect.provide(prepared, yield* services).pipe(
              Effect.onInterrupt(() => tool.delivery === "Read" ? Effect.void : noteCancelled(tool))
            )
            return { structuredContent: result, content: [{ type: "text", text: JSON.stringify(result) }] }
          }).pipe(
            Effect.catchCause((cause) => Effect.map(failures, ({ ofCause }) => failed(ofCause(cause, tool))))
          )

        const handle = serveStdio(() => {
          const server = new Server({ name, version }, { capabilities: { tools: {} }, instructions })
          server.setRequestHandler("tools/list", () => run(Effect.map(offered, (tools) => ({ tools: tools.map(listed) }))))
          server.setRequestHandler("tools/call", ({ params }, context) =>
            run(
              Effect.flatMap(toolOf(params.name), (tool) => call(tool, params.arguments ?? {}, context, server)),
              { signal: context.mcpReq.signal }
            ))
          return server
        }, { transport: stdio.transport })

        const inputEnd = Effect.tap(Effect.exit(Stream.runForEach(input, stdio.receive)), stdio.end)
        const end = Effect.raceAllFirst([
          inputEnd,
          Effect.as(stdio.outputClosed, Exit.void),
          Effect.andThen(Fiber.join(building), Effect.never)
        ])
        yield* end.pipe(
          Effect.tap(Effect.timeoutOption(Effect.andThen(services, stdio.idle), stopLimit)),
          // An input that can't be read fails the server, after the calls that have come.
          Effect.flatten,
          Effect.ensuring(Effect.gen(function*() {
            yield* stdio.end
            // Ends the calls: each reports whether its request was sent.
            yield* Scope.close(scope, Exit.void)
            yield* Effect.timeoutOption(Effect.interruptible(stdio.idle), drainLimit)
            yield* Effect.promise(() => handle.close())
          }))
        )
      }),
    (scope, exit) => Scope.close(scope, exit)
  )
