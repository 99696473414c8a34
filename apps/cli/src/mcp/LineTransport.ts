/**
 * A transport of the MCP SDK: one message of JSON-RPC per line. It responds to lines that it can't read, and knows which requests have no
 * response yet, so that the end of the input loses none. The SDK's own transport does neither. Why the SDK: docs/decisions/009.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  ProtocolErrorCode,
  type RequestId,
  type Transport
} from "@modelcontextprotocol/server"
import { Output } from "@plaza/cli-kit/Output"
import { Streams } from "@plaza/cli-kit/Streams"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

export interface LineTransport {
  readonly transport: Transport
  /** Handles bytes of the input. */
  readonly receive: (bytes: Uint8Array) => Effect.Effect<void>
  /** Handles the last line, and fails the requests to the client, to which no response can come any more. */
  readonly end: Effect.Effect<void>
  /** Completes when every request has a response. */
  readonly idle: Effect.Effect<void>
  /** Completes after the first message. */
  readonly hasWritten: Effect.Effect<void>
  /** Completes when the reader of the output has gone. */
  readonly outputClosed: Effect.Effect<void>
}

/** The maximum length of a line in bytes, as in the SDK. */
export const maxLineLength = 10 * 1024 * 1024

/** A line without its end; undefined if it is too long. */
type Line = Uint8Array | undefined

/** Splits bytes into lines. Keeps no more of a line than the maximum. */
const makeSplitter = () => {
  let parts: Array<Uint8Array> = []
  let length = 0
  const add = (bytes: Uint8Array): void => {
    length += bytes.length
    if (length > maxLineLength) parts = []
    else if (bytes.length > 0) parts.push(bytes)
  }
  const take = (): Line => {
    const line = length > maxLineLength ? undefined : Buffer.concat(parts)
    parts = []
    length = 0
    return line
  }
  const split = (bytes: Uint8Array): ReadonlyArray<Line> => {
    const lines: Array<Line> = []
    let start = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      add(bytes.subarray(start, end))
      lines.push(take())
      start = end + 1
    }
    add(bytes.subarray(start))
    return lines
  }
  return { split, take }
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const isId = (value: unknown): value is RequestId => Predicate.isString(value) || Number.isInteger(value)

/** The id of an invalid message, if it has one. */
const idOf = (json: unknown): RequestId | undefined => Predicate.hasProperty(json, "id") && isId(json.id) ? json.id : undefined

const isIssue = (value: unknown): value is { readonly path: ReadonlyArray<PropertyKey>; readonly message: string } =>
  Predicate.hasProperty(value, "path") && Array.isArray(value.path) && Predicate.hasProperty(value, "message") &&
  Predicate.isString(value.message)

/** The SDK reports invalid parameters with its own list of problems as the message, mostly as an internal error. */
const readable = (message: JSONRPCMessage): JSONRPCMessage => {
  if (!isJSONRPCErrorResponse(message)) return message
  const { error } = message
  const problems = Result.try((): unknown => JSON.parse(error.message.slice(Math.max(0, error.message.indexOf("[")))))
  const issue: unknown = Result.isSuccess(problems) && Array.isArray(problems.success) ? problems.success[0] : undefined
  return isIssue(issue)
    ? { ...message, error: { code: ProtocolErrorCode.InvalidParams, message: `${issue.path.map(String).join(".")}: ${issue.message}` } }
    : message
}

export const make: Effect.Effect<LineTransport, never, Streams | Output> = Effect.gen(function*() {
  const { stdout } = yield* Streams
  const { note } = yield* Output
  const run = Effect.runPromiseWith(yield* Effect.context())
  const splitter = makeSplitter()
  const idle = yield* Latch.make(true)
  const written = yield* Latch.make()
  const closed = yield* Latch.make()
  // By id, because a client may use an id twice.
  const open = new Map<RequestId, number>()
  const asked = new Set<RequestId>()

  const count = (id: RequestId, change: 1 | -1): void => {
    const number = (open.get(id) ?? 0) + change
    if (number > 0) open.set(id, number)
    else open.delete(id)
    if (open.size === 0) idle.openUnsafe()
    else idle.closeUnsafe()
  }

  const write = (message: JSONRPCMessage | { readonly jsonrpc: "2.0"; readonly error: object }) => {
    const json = JSON.stringify(message)
    return stdout.write(`${json}\n`).pipe(
      // The only place left for the outcome of a write.
      Effect.catch(() => Effect.andThen(note(`The reader of the output is gone. This was not delivered: ${json}`), closed.open)),
      Effect.andThen(written.open)
    )
  }
  const send = (message: JSONRPCMessage) => {
    if (isJSONRPCRequest(message)) asked.add(message.id)
    const { id } = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message) ? message : { id: undefined }
    return Effect.ensuring(write(readable(message)), Effect.sync(() => id === undefined || count(id, -1)))
  }
  const refuse = (code: ProtocolErrorCode, message: string, id?: RequestId) =>
    write({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error: { code, message } })

  const transport: Transport = {
    start: () => Promise.resolve(),
    send: (message) => run(Effect.asVoid(send(message))),
    close: () => Promise.resolve(transport.onclose?.())
  }

  const receiveLine = (line: Line): Effect.Effect<unknown> => {
    if (line === undefined) return refuse(ProtocolErrorCode.InvalidRequest, `the line is longer than ${maxLineLength} bytes`)
    const text = Result.try(() => utf8.decode(line))
    if (Result.isSuccess(text) && text.success.trim() === "") return Effect.void
    const json = Result.flatMap(text, (text) => Result.try((): unknown => JSON.parse(text)))
    if (Result.isFailure(json))
      return refuse(ProtocolErrorCode.ParseError, "the line is not valid JSON in UTF-8: send one message per line")
    const parsed = Result.try(() => parseJSONRPCMessage(json.success))
    if (Result.isFailure(parsed)) {
      return refuse(ProtocolErrorCode.InvalidRequest, "the line is not a JSON-RPC 2.0 message", idOf(json.success))
    }
    const message = parsed.success
    return Effect.sync(() => {
      // A subscription has its response at the end.
      if (isJSONRPCRequest(message) && message.method !== "subscriptions/listen") count(message.id, 1)
      // A cancelled request has no response.
      if (isJSONRPCNotification(message) && message.method === "notifications/cancelled" && isId(message.params?.["requestId"])) {
        count(message.params["requestId"], -1)
      }
      if ("id" in message && message.id !== undefined && !("method" in message)) asked.delete(message.id)
      transport.onmessage?.(message)
    })
  }

  return {
    transport,
    receive: (bytes) => Effect.forEach(splitter.split(bytes), receiveLine, { discard: true }),
    end: Effect.andThen(
      Effect.suspend(() => receiveLine(splitter.take())),
      Effect.sync(() => {
        for (const id of asked) {
          transport.onmessage?.({
            jsonrpc: "2.0",
            id,
            error: { code: ProtocolErrorCode.InternalError, message: "the input of plaza mcp ended" }
          })
        }
        asked.clear()
      })
    ),
    idle: idle.await,
    hasWritten: written.await,
    outputClosed: closed.await
  }
})
