/**
 * A service on loopback that limits the requests of each key in any window by its own clock, and records the senders by path.
 */
import { Effect } from "effect"
import { createServer, type ServerResponse } from "node:http"

export interface CountingService {
  readonly address: string
  /** When each accepted request was counted, in milliseconds of a monotonic clock, and its path. */
  readonly counted: ReadonlyArray<{ readonly at: number; readonly path: string }>
  /** Requests that were one too many. */
  readonly refused: () => number
  /** Leaves requests of a path without an answer from now on, and tells how many have been. */
  readonly hold: (path: string) => () => number
}

const respond = (response: ServerResponse, status: number, delay: number) =>
  setTimeout(() => response.writeHead(status, { "content-type": "application/json" }).end("{}"), delay)

export const scoped = (limit: number, windowMillis: number) =>
  Effect.acquireRelease(
    Effect.callback<CountingService & { readonly close: Effect.Effect<void> }>((resume) => {
      const counted: Array<{ readonly at: number; readonly path: string }> = []
      const held = new Map<string, number>()
      let refused = 0
      const server = createServer((request, response) => {
        const at = performance.now()
        const path = request.url ?? ""
        if (counted.length >= limit && at - (counted[counted.length - limit]?.at ?? 0) < windowMillis) {
          refused++
          respond(response, 429, 0)
          return
        }
        counted.push({ at, path })
        const waiting = held.get(path)
        if (waiting === undefined) {
          // Different from request to request, and the same in every run.
          respond(response, 200, (counted.length * 7) % 20)
        } else {
          held.set(path, waiting + 1)
        }
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({
          address: `http://127.0.0.1:${port}`,
          counted,
          refused: () => refused,
          hold: (path) => {
            held.set(path, 0)
            return () => held.get(path) ?? 0
          },
          close: Effect.callback<void>((done) => {
            server.close(() => done(Effect.void))
            server.closeAllConnections()
          })
        }))
      })
    }),
    ({ close }) => close
  )
