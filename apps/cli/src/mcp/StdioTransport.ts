/**
 * A transport of the MCP SDK on standard input and output. It knows which requests have no response yet, so that the end of the input
 * loses none; the SDK's own transport ignores the end. Why the SDK: docs/decisions/009.
 */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  CallToolRequestSchema,
  ErrorCode,
  InitializeRequestSchema,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
  ListToolsRequestSchema,
  type RequestId
} from "@modelcontextprotocol/sdk/types.js"
import { Output } from "@plaza/cli-kit/Output"
import { Streams } from "@plaza/cli-kit/Streams"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as HashSet from "effect/HashSet"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"

export interface StdioTransport {
  readonly transport: Transport
  /** Handles one line of the input. */
  readonly receive: (line: string) => Effect.Effect<void>
  /** Completes when every request has a response. */
  readonly idle: Effect.Effect<void>
  /** Completes when the reader of the output has gone. */
  readonly outputClosed: Effect.Effect<void>
}

const isId = (value: unknown): value is RequestId => Predicate.isString(value) || Predicate.isNumber(value)

/** The id of an invalid message, if it has one. */
const idOf = (json: unknown): RequestId | undefined => Predicate.hasProperty(json, "id") && isId(json.id) ? json.id : undefined

// The SDK reports invalid parameters as an internal error, with its own list of problems as the message.
const requests = [InitializeRequestSchema, ListToolsRequestSchema, CallToolRequestSchema]

/** The first problem of the parameters of a request. */
const problemOf = (request: JSONRPCRequest): string | undefined => {
  const schema = requests.find(({ shape }) => shape.method.value === request.method)
  const [issue] = schema?.safeParse(request).error?.issues ?? []
  return issue === undefined ? undefined : `${issue.path.join(".")}: ${issue.message}`
}

export const make: Effect.Effect<StdioTransport, never, Streams | Output> = Effect.gen(function*() {
  const { stdout } = yield* Streams
  const { note } = yield* Output
  const run = Runtime.runPromise(yield* Effect.runtime())
  const open = yield* SubscriptionRef.make(HashSet.empty<RequestId>())
  const closed = yield* Deferred.make<void>()
  const close = (id: RequestId) => SubscriptionRef.update(open, HashSet.remove(id))

  const write = (message: unknown) => {
    const json = JSON.stringify(message)
    return Effect.catchAll(stdout.write(`${json}\n`), () =>
      // The only place left for the outcome of a write.
      Effect.zipRight(note(`The reader of the output is gone. This was not delivered: ${json}`), Deferred.succeed(closed, undefined)))
  }
  const send = (message: JSONRPCMessage) =>
    (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) && message.id !== undefined
      ? Effect.ensuring(write(message), close(message.id))
      : write(message)
  const refuse = (code: ErrorCode, message: string, id?: RequestId) =>
    write({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error: { code, message } })

  const transport: Transport = {
    start: () => Promise.resolve(),
    send: (message) => run(Effect.asVoid(send(message))),
    close: () => Promise.resolve(transport.onclose?.())
  }

  const receive = (line: string) =>
    Effect.gen(function*() {
      if (line.trim() === "") return
      const json = Either.try((): unknown => JSON.parse(line))
      if (Either.isLeft(json)) return yield* refuse(ErrorCode.ParseError, "the line is not valid JSON: send one message per line")
      const { data: message, success } = JSONRPCMessageSchema.safeParse(json.right)
      if (!success) return yield* refuse(ErrorCode.InvalidRequest, "the line is not a JSON-RPC 2.0 message", idOf(json.right))
      const problem = isJSONRPCRequest(message) ? problemOf(message) : undefined
      if (problem !== undefined) return yield* refuse(ErrorCode.InvalidParams, problem, idOf(message))
      if (isJSONRPCRequest(message)) yield* SubscriptionRef.update(open, HashSet.add(message.id))
      // A cancelled request gets no response.
      if (isJSONRPCNotification(message) && message.method === "notifications/cancelled" && isId(message.params?.["requestId"])) {
        yield* close(message.params["requestId"])
      }
      yield* Effect.sync(() => transport.onmessage?.(message))
    })

  return {
    transport,
    receive,
    idle: Effect.asVoid(Stream.runHead(Stream.filter(open.changes, (ids) => HashSet.size(ids) === 0))),
    outputClosed: Deferred.await(closed)
  }
})
