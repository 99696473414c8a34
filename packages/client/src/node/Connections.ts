/**
 * Connections of undici that say when the bytes of a buffer on loan are gone. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import { Agent, buildConnector, type Dispatcher } from "@effect/platform-node/Undici"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Socket } from "node:net"
import * as Buffers from "../Buffers.js"

type Written = (error?: Error | null) => void

const givesBack = (part: Uint8Array): Written => (error) => {
  // What could not be written may be on its way still.
  if (error === undefined || error === null) {
    Buffers.giveBack(part)
  }
}

/**
 * Only a socket's own callback tells for certain that what was written to it is gone. Undici doesn't ask for it, so it is
 * asked for here. Undici hands each part to one socket, in their order, and keeps none.
 */
const givingBack = (socket: Socket): Socket => {
  const write: Socket["write"] = socket.write.bind(socket)
  socket.write = (part: Uint8Array | string, encoding?: BufferEncoding | Written, written?: Written) =>
    typeof encoding === "string"
      ? write(part, encoding, written)
      : write(part, encoding === undefined && typeof part !== "string" && Buffers.isLastPart(part) ? givesBack(part) : encoding)
  return socket
}

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Dispatcher, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const connector = buildConnector({})
    return new Agent({
      connect: (options, callback) =>
        connector(options, (...[error, socket]) => {
          if (error === null) {
            callback(null, givingBack(socket))
          } else {
            callback(error, null)
          }
        })
    })
  }),
  (agent) => Effect.promise(() => agent.destroy())
)
