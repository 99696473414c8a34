/**
 * A request as Node's server hands it over.
 *
 * @since 0.1.0
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { IncomingMessage } from "node:http"
import type { Source } from "./ServerRequest.js"
import { ServerRequest } from "./ServerRequest.js"

/** Discards the rest of a body, so that a caller who is writing gets to read. */
const discard = (message: IncomingMessage): void => {
  message.on("error", () => {})
  message.resume()
}

/**
 * Reads a body without ever destroying its stream, as the platform does: what is refused as too large must still get its
 * response.
 */
const read = (message: IncomingMessage) => (maxBytes: number): Effect.Effect<Option.Option<Uint8Array>, unknown> =>
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

/** The same, piece by piece; the caller waits for whoever takes them. */
const stream = (message: IncomingMessage): Stream.Stream<Uint8Array, unknown> =>
  NodeStream.fromReadable<unknown>(() => message, (cause) => cause, { closeOnDone: false }).pipe(
    Stream.ensuring(Effect.sync(() => discard(message)))
  )

const sourceOf = (message: IncomingMessage): Source => ({
  method: message.method ?? "",
  url: message.url ?? "",
  // Node gives `set-cookie` alone as a list, and in a request nobody asks for it.
  headers: message.headers as Source["headers"],
  remoteAddress: Option.fromNullable(message.socket.remoteAddress),
  hasBody: message.headers["content-length"] !== undefined || message.headers["transfer-encoding"] !== undefined,
  read: read(message),
  // Few are taken piece by piece.
  get stream() {
    return stream(message)
  }
})

/** @since 0.1.0 @category constructors */
export const make = (message: IncomingMessage): ServerRequest => new ServerRequest(sourceOf(message))
