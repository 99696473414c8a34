/**
 * A request of Node's HTTP server.
 *
 * @since 0.1.0
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { IncomingMessage } from "node:http"
import type { Source } from "./ServerRequest.ts"
import { ServerRequest } from "./ServerRequest.ts"

/** Discards the rest of a body, so that a caller that is still sending can read the response. */
const discard = (message: IncomingMessage): void => {
  message.on("error", () => {})
  message.resume()
}

/**
 * Reads a body and never destroys its stream, unlike the platform: a request that is refused as too large must still get its
 * response.
 */
const read = (message: IncomingMessage) => (maxBytes: number): Effect.Effect<Option.Option<Uint8Array>, unknown> =>
  Effect.suspend(() =>
    message.readableLength <= maxBytes && hasArrived(message) ? readArrived(message) : Effect.interruptible(readArriving(message, maxBytes))
  )

/** Most bodies arrive together with the head, so nothing has to wait for them. */
const hasArrived = (message: IncomingMessage): boolean =>
  message.readableLength > 0 && String(message.readableLength) === message.headers["content-length"]

const readArrived = (message: IncomingMessage): Effect.Effect<Option.Option<Uint8Array>> => {
  const body: unknown = message.read()
  return Effect.succeedSome(body instanceof Uint8Array ? body : new Uint8Array())
}

const readArriving = (message: IncomingMessage, maxBytes: number): Effect.Effect<Option.Option<Uint8Array>, unknown> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    let isDone = false
    const done = (result: () => Effect.Effect<Option.Option<Uint8Array>, unknown>) => {
      if (!isDone) {
        isDone = true
        resume(result())
      }
    }
    const onClosed = (cause?: unknown) => {
      done(() => Effect.fail(cause))
    }
    message.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) {
        done(() => Effect.succeed(Option.none()))
      } else if (!isDone) {
        chunks.push(chunk)
      }
    })
    message.on("end", () => {
      done(() => Effect.succeed(Option.some(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))))
    })
    message.on("error", onClosed).on("close", onClosed)
    return Effect.sync(() => {
      isDone = true
    })
  })

/** Reads a body as a stream with backpressure. */
const stream = (message: IncomingMessage): Stream.Stream<Uint8Array, unknown> =>
  NodeStream.fromReadable<unknown>(() => message, (cause) => cause, { closeOnDone: false }).pipe(
    Stream.ensuring(Effect.sync(() => discard(message)))
  )

const sourceOf = (message: IncomingMessage): Source => ({
  method: message.method ?? "",
  url: message.url ?? "",
  // Only `set-cookie` has a list as its value, and no code reads it from a request.
  headers: message.headers as Source["headers"],
  remoteAddress: Option.fromNullable(message.socket.remoteAddress),
  hasBody: message.headers["content-length"] !== undefined || message.headers["transfer-encoding"] !== undefined,
  read: read(message),
  // Lazy, because few requests use it.
  get stream() {
    return stream(message)
  }
})

/** @since 0.1.0 @category constructors */
export const make = (message: IncomingMessage): ServerRequest => new ServerRequest(sourceOf(message))
