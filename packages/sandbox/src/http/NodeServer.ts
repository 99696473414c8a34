/**
 * Serves the sandbox on a port: the platform's server on an `http.Server` with limits for header size and timeouts, and with
 * responses to malformed HTTP. This module is imported dynamically, so that use in process does not load `node:http`.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type { DocumentedError } from "@plaza/domain/Errors"
import { NotFound, ValidationError } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as HttpServer from "effect/http/HttpServer"
import type { HttpServerError } from "effect/http/HttpServerError"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Http from "node:http"
import * as Net from "node:net"
import type { Duplex } from "node:stream"
import { SandboxError } from "../SandboxError.ts"
import * as Envelope from "./Envelope.ts"
import type { ConnectionReset } from "./FaultyResponse.ts"

/** The timeouts of a connection. When one expires, the sandbox closes the connection. */
export interface ServerTimeouts {
  /** From the first byte of a request to the end of its headers (default: 10 seconds). */
  readonly headers: Duration.Duration
  /** From the first byte of a request to its last byte (default: 5 minutes). */
  readonly request: Duration.Duration
  /** How long a caller may not read its response (default: 30 seconds). */
  readonly response: Duration.Duration
  /** Between a response and the next request (default: 65 seconds). */
  readonly idle: Duration.Duration
  /** For requests in flight when the sandbox stops (default: 2 seconds). */
  readonly stop: Duration.Duration
}

const defaultTimeouts: ServerTimeouts = {
  headers: Duration.seconds(10),
  request: Duration.minutes(5),
  response: Duration.seconds(30),
  // Longer than the 60 seconds that clients and proxies keep connections for.
  idle: Duration.seconds(65),
  stop: Duration.seconds(2)
}

/** Limit of the request line and the headers together. */
const maxHeaderBytes = 16 * 1024

const problemOf = (error: Error): string => {
  switch ("code" in error ? error.code : undefined) {
    case "HPE_HEADER_OVERFLOW":
      return `the headers are larger than ${maxHeaderBytes} bytes`
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return "the request took too long to arrive"
    default:
      return "the request is not well-formed HTTP"
  }
}

/** Forms the response to malformed HTTP. */
type Refuse = (error: DocumentedError) => HttpServerResponse.HttpServerResponse

/** Writes a response to a socket without a parsed request, and closes the connection. */
const writeAndClose = (socket: Duplex, response: HttpServerResponse.HttpServerResponse): void => {
  const head = [
    `HTTP/1.1 ${response.status} ${Http.STATUS_CODES[response.status] ?? ""}`,
    ...Object.entries({ ...response.headers, connection: "close" }).map(([name, value]) => `${name}: ${value}`)
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${Envelope.textOf(response)}`)
}

const makeServer = (timeouts: ServerTimeouts, refuse: Refuse): Http.Server => {
  const headersTimeout = Duration.toMillis(timeouts.headers)
  const server = Http.createServer({
    requireHostHeader: false,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: Duration.toMillis(timeouts.idle),
    headersTimeout,
    requestTimeout: Math.max(headersTimeout, Duration.toMillis(timeouts.request)),
    // How often Node checks the two timeouts.
    connectionsCheckingInterval: Math.min(5_000, Math.ceil(headersTimeout / 2))
  })
  // The size of the headers is limited above. A limit of their count would silently drop headers.
  server.maxHeadersCount = 0
  const latest = new WeakMap<Duplex, Http.ServerResponse>()
  server.on("request", (message, response) => {
    latest.set(message.socket, response)
    // Responses have a date of the sandbox's clock, or none.
    response.sendDate = false
    // Most responses are written at once.
    response.on("prefinish", () => {
      if (message.socket.writableLength > 0) {
        response.setTimeout(Duration.toMillis(timeouts.response), () => message.socket.destroy())
      }
    })
  })
  /** Sends the refusal of malformed HTTP after all earlier responses of the connection, because a caller matches them by order. */
  const refuseNext = (socket: Duplex, error: DocumentedError): void => {
    const refusal = () => socket.writable ? writeAndClose(socket, refuse(error)) : socket.destroy()
    const earlier = latest.get(socket)
    if (earlier === undefined || earlier.writableFinished) {
      refusal()
    } else if (earlier.req.complete) {
      earlier.once("finish", refusal)
    } else if (earlier.headersSent) {
      socket.destroy()
    } else {
      refusal()
    }
  }
  // The document has no other status for malformed HTTP than 400.
  server.on("clientError", (error, socket) => {
    refuseNext(socket, new ValidationError({ message: problemOf(error), details: { field: "headers" } }))
  })
  // By default Node responds to an unknown `Expect` header with an empty 417.
  server.on("checkExpectation", (request, response) => {
    server.emit("request", request, response)
  })
  server.on("connect", (request, socket) => {
    // Node has taken its own listener away: without one, a caller that resets the connection would end the process.
    socket.on("error", () => socket.destroy())
    refuseNext(socket, new NotFound({ message: `there is no endpoint CONNECT ${request.url ?? ""}` }))
  })
  return server
}

const reasonOf = (cause: unknown, host: string, port: number): string => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is in use: choose another port, or 0 for any free port`
    case "EACCES":
      return `this user may not use port ${port}: choose a port above 1023`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${host} is not an address of this machine: choose another host (default: 127.0.0.1)`
    default:
      return `the sandbox can't listen on ${host}, port ${port}: choose another host or port`
  }
}

const originOf = (server: Http.Server, host: string): string => {
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`
}

type App = Effect.Effect<HttpServerResponse.HttpServerResponse, HttpServerError | ConnectionReset, HttpServerRequest | Scope.Scope>

/** In real time, not by the caller's clock. */
const wait = (millis: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

/** Milliseconds between the last bytes of a cut body and the end of its connection, or the bytes would be lost. */
const beforeCut = 10

/** The responses that are not complete, each with the fiber of its request. */
type Open = Map<Http.ServerResponse, Fiber.Fiber<unknown, unknown>>

/** The service as the platform's server runs it. A closed connection is a response whose body fails. */
const onSocket = (app: App, open: Open) =>
  Effect.withFiber<HttpServerResponse.HttpServerResponse, HttpServerError, HttpServerRequest | Scope.Scope>((fiber) => {
    // The server is one of HTTP/1.1.
    const target = NodeHttpServerRequest.toServerResponse(Context.getUnsafe(fiber.context, HttpServerRequest)) as Http.ServerResponse
    open.set(target, fiber)
    target.once("close", () => open.delete(target))
    const flush = Stream.fromEffectDrain(Effect.sync(() => target.flushHeaders()))
    return app.pipe(
      Effect.map((response) => {
        const { body } = response
        return body._tag === "Stream"
          ? HttpServerResponse.setBody(response, HttpBody.stream(
            Stream.concat(flush, body.stream).pipe(
              Stream.catch((error) => Stream.fromEffect(Effect.andThen(wait(beforeCut), Effect.fail(error))))
            ),
            body.contentType,
            body.contentLength
          ))
          : response
      }),
      Effect.catchTag("ConnectionReset", (error) =>
        Effect.sync(() => {
          // The body of a response to HEAD is never run.
          if (target.req.method === "HEAD") target.destroy()
          return HttpServerResponse.stream(Stream.fail(error))
        })),
      // Or the platform responds to a request that a stop interrupts, with a status that the document doesn't have.
      Effect.onInterrupt(() => Effect.sync(() => target.destroy()))
    )
  })

const closed = (target: Http.ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    target.once("close", () => resume(Effect.void))
  })

/**
 * Accepts no new connections, interrupts requests that wait, lets the other responses arrive, and then closes every connection. The
 * platform would wait for requests that are not complete.
 */
const stop = (server: Http.Server, open: Open, atMost: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    // The method of http.Server also closes connections whose response is still in flight.
    Net.Server.prototype.close.call(server)
    const ends = Effect.forEach(
      [...open],
      ([target, fiber]) => target.headersSent ? closed(target) : Fiber.interrupt(fiber),
      { concurrency: "unbounded", discard: true }
    )
    const close = Effect.sync(() => {
      server.closeAllConnections()
      // The interval that checks the timeouts would keep the server in memory. An error says that it no longer listens.
      server.close(() => {})
    })
    return Effect.andThen(Effect.raceFirst(ends, wait(atMost)), close)
  })

/**
 * Listens until its scope closes. Then requests in flight have some time to get their response. Returns the origin, without a
 * trailing slash.
 */
export const listen = Effect.fnUntraced(function*(
  app: App,
  options: {
    readonly host: string
    readonly port: number
    readonly timeouts?: Partial<ServerTimeouts> | undefined
    readonly refuse: Refuse
  }
): Effect.fn.Return<string, SandboxError, Scope.Scope> {
  const { host, port, refuse } = options
  const timeouts = { ...defaultTimeouts, ...options.timeouts }
  const server = makeServer(timeouts, refuse)
  const platform = yield* NodeHttpServer.make(() => server, { host, port }).pipe(
    Effect.mapError((cause) => new SandboxError({ message: reasonOf(cause.cause, host, port), cause }))
  )
  const open: Open = new Map()
  yield* HttpServer.serveEffect(onSocket(app, open)).pipe(
    Effect.provideService(HttpServer.HttpServer, platform),
    Effect.provideService(HttpMiddleware.TracerDisabledWhen, () => true)
  )
  // Without a listener Node handles a request to upgrade as any other, as HTTP requires of a server that does not upgrade.
  server.removeAllListeners("upgrade")
  yield* Effect.addFinalizer(() => stop(server, open, Duration.toMillis(timeouts.stop)))
  return originOf(server, host)
})
