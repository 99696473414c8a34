/**
 * A server on node:http with scripted misbehaviour, such as silence, lost connections and early responses. It counts open sockets.
 */
import type { HttpClient } from "@effect/platform"
import { Plaza } from "@plaza-legacy/client"
import { Effect, Layer, Redacted, type Scope } from "effect"
import * as Http from "node:http"
import * as Https from "node:https"
import type { Socket } from "node:net"
import { selfSigned } from "./SelfSigned.ts"

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: Http.IncomingHttpHeaders
}

export interface RawServer {
  /** With the path that the client wants at its end. */
  readonly baseUrl: string
  readonly port: number
  /** The requests that have come, oldest first. */
  readonly seen: ReadonlyArray<Seen>
  /** Connections that are open now. */
  readonly sockets: () => number
  /** Requests whose answer isn't over and whose connection is still open. */
  readonly busy: () => number
}

export type Handler = (request: Http.IncomingMessage, response: Http.ServerResponse) => void

export const key = `key_${"k".repeat(40)}`

/** Listens until its scope closes, which ends every connection. */
export const make = (handler: Handler, scheme: "http" | "https" = "http"): Effect.Effect<RawServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.async<{ readonly server: Http.Server; readonly raw: RawServer }>((resume) => {
      const sockets = new Set<Socket>()
      const busy = new Set<Http.ServerResponse>()
      const seen: Array<Seen> = []
      const answer: Handler = (request, response) => {
        seen.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers })
        busy.add(response)
        response.on("close", () => busy.delete(response))
        request.on("error", () => {})
        handler(request, response)
      }
      const server = scheme === "https" ? Https.createServer(selfSigned, answer) : Http.createServer(answer)
      server.on("connection", (socket: Socket) => {
        sockets.add(socket)
        socket.on("error", () => {})
        socket.on("close", () => sockets.delete(socket))
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({
          server,
          raw: {
            baseUrl: `${scheme}://127.0.0.1:${port}/open/v1`,
            port,
            seen,
            sockets: () => sockets.size,
            busy: () => busy.size
          }
        }))
      })
    }),
    ({ server }) =>
      Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  ).pipe(Effect.map(({ raw }) => raw))

/** The services over a server. */
export const layerPlaza = (
  baseUrl: string,
  http: Layer.Layer<HttpClient.HttpClient>,
  options: Partial<Plaza.Options> = {}
): Layer.Layer<Plaza.Services> => Layer.provide(Layer.orDie(Plaza.layer({ baseUrl, apiKey: Redacted.make(key), ...options })), http)

export const answerJson = (response: Http.ServerResponse, body: unknown, status = 200, headers: Http.OutgoingHttpHeaders = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}

/** Waits in real time, and not for ever, until something is so. */
export const until = (what: string, isSo: () => boolean): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let round = 0; !isSo(); round++) {
      if (round === 1_000) {
        return yield* Effect.dieMessage(`it never came to this: ${what}`)
      }
      yield* Effect.sleep("10 millis")
    }
  })
