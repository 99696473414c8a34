/**
 * A request as Node's server hands it over. Knows nothing of what is answered.
 *
 * @since 0.1.0
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { IncomingMessage } from "node:http"
import type { Incoming } from "./IncomingRequest.js"
import { Gone } from "./IncomingRequest.js"

/** What is still to come is let go, so that a caller who is writing gets to read. */
const letGo = (message: IncomingMessage): void => {
  message.on("error", () => {})
  message.resume()
}

/**
 * Reads a body without ever destroying its stream: what is refused as too large must still be answered, and what is still
 * to come of it is let go.
 */
const read = (message: IncomingMessage) => (most: number): Effect.Effect<Option.Option<Uint8Array>, Gone> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    let isDone = false
    const done = (result: () => Effect.Effect<Option.Option<Uint8Array>, Gone>) => {
      if (!isDone) {
        isDone = true
        resume(result())
      }
    }
    const onGone = (cause?: unknown) => {
      done(() => Effect.fail(new Gone({ cause })))
    }
    message.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size > most) {
        done(() => Effect.succeed(Option.none()))
      } else if (!isDone) {
        chunks.push(chunk)
      }
    })
    message.on("end", () => {
      done(() => Effect.succeed(Option.some(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))))
    })
    message.on("error", onGone).on("close", onGone)
    return Effect.sync(() => {
      isDone = true
    })
  })

/** The same, piece by piece; the caller waits for whoever takes them. */
const bytes = (message: IncomingMessage): Stream.Stream<Uint8Array, Gone> =>
  NodeStream.fromReadable<Gone>(() => message, (cause) => new Gone({ cause }), { closeOnDone: false }).pipe(
    Stream.ensuring(Effect.sync(() => letGo(message)))
  )

/**
 * Takes a request over.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toIncoming = (message: IncomingMessage): Incoming => ({
  method: message.method ?? "",
  target: message.url ?? "",
  // Node gives `set-cookie` alone as a list, and in a request nobody asks for it.
  headers: message.headers as Incoming["headers"],
  remoteAddress: Option.fromNullable(message.socket.remoteAddress),
  hasBody: message.headers["content-length"] !== undefined || message.headers["transfer-encoding"] !== undefined,
  read: read(message),
  // Few are taken piece by piece.
  get bytes() {
    return bytes(message)
  }
})
