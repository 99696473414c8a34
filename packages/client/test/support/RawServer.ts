/**
 * A server on node:http with scripted misbehaviour, such as silence, lost connections and early responses. It counts open sockets.
 */
import { Plaza } from "@plaza/client"
import { selfSigned } from "@plaza/testing/SelfSigned"
import { Effect, Layer, Redacted, type Scope } from "effect"
import type { HttpClient } from "effect/http"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: Http.IncomingHttpHeaders
}

export interface RawServer {
  /** With the path that the client requires. */
  readonly baseUrl: string
  readonly port: number
  /** The requests so far, oldest first. */
  readonly seen: ReadonlyArray<Seen>
  /** The number of open connections. */
  readonly sockets: () => number
  /** The number of requests without a complete response whose connection is open. */
  readonly busy: () => number
}

export type Handler = (request: Http.IncomingMessage, response: Http.ServerResponse) => void

export const key = `key_${"k".repeat(40)}`

/** Listens on a free port until the scope closes, which ends every connection. */
export const listen = (server: Net.Server): Effect.Effect<number, never, Scope.Scope> => {
  const sockets = new Set<Net.Socket>()
  server.on("connection", (socket: Net.Socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
  })
  return Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        sockets.forEach((socket) => socket.destroy())
      })
  )
}

/** Responds to requests by a handler. */
export const make = (handler: Handler, scheme: "http" | "https" = "http"): Effect.Effect<RawServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const sockets = new Set<Net.Socket>()
    const busy = new Set<Http.ServerResponse>()
    const seen: Array<Seen> = []
    const respond: Handler = (request, response) => {
      seen.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers })
      busy.add(response)
      response.on("close", () => busy.delete(response))
      request.on("error", () => {})
      handler(request, response)
    }
    const server = scheme === "https" ? Https.createServer(selfSigned, respond) : Http.createServer(respond)
    server.on("connection", (socket: Net.Socket) => {
      sockets.add(socket)
      socket.on("close", () => sockets.delete(socket))
    })
    const port = yield* listen(server)
    return {
      baseUrl: `${scheme}://127.0.0.1:${port}/open/v1`,
      port,
      seen,
      sockets: () => sockets.size,
      busy: () => busy.size
    }
  })

/** Accepts connections, and lets a function do the rest. Returns its port. */
export const makeNet = (onConnection: (socket: Net.Socket) => void): Effect.Effect<number, never, Scope.Scope> =>
  Effect.suspend(() => listen(Net.createServer(onConnection)))

/** What a proxy does with a request for a tunnel: connects it to a port of this machine, responds with a text, or never responds. */
export type Tunnel = number | string | undefined

export interface Proxy {
  /** Host and port. */
  readonly address: string
  /** The tunnels that clients asked for, with their `Proxy-Authorization`. */
  readonly asked: ReadonlyArray<readonly [url: string | undefined, authorization: string | undefined]>
}

/** A proxy that treats every tunnel alike. */
export const makeProxy = (tunnel: Tunnel): Effect.Effect<Proxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const asked: Array<readonly [string | undefined, string | undefined]> = []
    const server = Http.createServer()
    server.on("connect", (request, socket, head) => {
      asked.push([request.url, request.headers["proxy-authorization"]])
      socket.on("error", () => {})
      if (typeof tunnel === "string") {
        socket.end(tunnel)
      } else if (tunnel !== undefined) {
        const target = Net.connect(tunnel, "127.0.0.1", () => {
          socket.write("HTTP/1.1 200 OK\r\n\r\n")
          target.write(head)
          target.pipe(socket).pipe(target)
        })
        target.on("error", () => socket.destroy())
        socket.on("close", () => target.destroy())
      }
    })
    return { address: `127.0.0.1:${yield* listen(server)}`, asked }
  })

/** The services over a server. */
export const layerPlaza = (
  baseUrl: string,
  http: Layer.Layer<HttpClient.HttpClient>,
  options: Partial<Plaza.Options> = {}
): Layer.Layer<Plaza.Services> => Layer.provide(Layer.orDie(Plaza.layer({ baseUrl, apiKey: Redacted.make(key), ...options })), http)

export const answerJson = (response: Http.ServerResponse, body: unknown, status = 200, headers: Http.OutgoingHttpHeaders = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
}

/** Waits in real time, at most 10 seconds, until a condition is true. */
export const until = (what: string, condition: () => boolean): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let round = 0; !condition(); round++) {
      if (round === 1_000) {
        return yield* Effect.die(new Error(`it never came to this: ${what}`))
      }
      yield* Effect.sleep("10 millis")
    }
  })
