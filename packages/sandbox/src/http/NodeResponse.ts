/**
 * Delivers on a socket of Node what the service has decided. Knows nothing of what was asked.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import type { Answer } from "./Envelope.js"
import type { Sent } from "./FaultyResponse.js"
import * as FaultyAnswer from "./FaultyResponse.js"

/**
 * Closes the connection without a word.
 *
 * @since 0.1.0
 * @category delivering
 */
export const hangUp = (response: ServerResponse): Effect.Effect<void> =>
  Effect.sync(() => {
    response.req.socket.destroy()
  })

const headersOf = ({ body, headers, status }: Answer): Record<string, string> =>
  // Where there can't be a body, its length must not be told.
  status === 204 ? { ...headers } : { ...headers, "content-length": String(Buffer.byteLength(body)) }

const begin = (response: ServerResponse, answer: Answer) =>
  Effect.sync(() => {
    if (answer.isDateless === true) {
      response.sendDate = false
    }
    response.writeHead(answer.status, headersOf(answer))
  })

/** A caller who has gone away takes every piece at once. */
const write = (response: ServerResponse, piece: Uint8Array) =>
  Effect.async<void>((resume) => {
    response.write(piece, () => resume(Effect.void))
  })

/** Waits until an answer that has ended has left, or nobody is there to take it. */
const leave = (response: ServerResponse, patience: Duration.Duration) =>
  Effect.async<void>((resume) => {
    response.on("close", () => resume(Effect.void))
    // Whoever doesn't read what they asked for is not waited for without an end.
    response.setTimeout(Duration.toMillis(patience), () => response.socket?.destroy())
  })

/** Ends an answer. What the socket took at once, as it takes nearly all, has left. */
const end = (response: ServerResponse, patience: Duration.Duration, body?: string) =>
  Effect.suspend(() => {
    response.end(body)
    return response.writableFinished || response.socket?.writableLength === 0 ? Effect.void : leave(response, patience)
  })

/**
 * Delivers. A caller who takes nothing of an answer for as long as `patience` loses the connection.
 *
 * @since 0.1.0
 * @category delivering
 */
export const deliver = (response: ServerResponse, sent: Sent, patience: Duration.Duration): Effect.Effect<void> => {
  switch (sent._tag) {
    case "Answer":
      return Effect.zipRight(begin(response, sent.answer), end(response, patience, sent.answer.body))
    case "Drop":
      return hangUp(response)
    case "Cut":
      return begin(response, sent.answer).pipe(
        Effect.zipRight(write(response, FaultyAnswer.half(sent.answer.body))),
        Effect.zipRight(hangUp(response))
      )
    case "Slow":
      return begin(response, sent.answer).pipe(
        Effect.andThen(() => response.flushHeaders()),
        Effect.zipRight(Effect.forEach(
          FaultyAnswer.trickle(sent.answer.body, sent.millis),
          ({ after, piece }) => Effect.zipRight(Effect.interruptible(Effect.sleep(after)), write(response, piece)),
          { discard: true }
        )),
        Effect.zipRight(end(response, patience))
      )
  }
}

/**
 * Answers where there is no request to answer, and closes the connection.
 *
 * @since 0.1.0
 * @category delivering
 */
export const lastWords = (socket: Duplex, answer: Answer): void => {
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}`,
    ...Object.entries({ ...headersOf(answer), connection: "close" }).map(([name, value]) => `${name}: ${value}`)
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${answer.body}`)
}
