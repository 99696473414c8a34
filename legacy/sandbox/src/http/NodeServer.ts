/**
 * Serves the sandbox on a port: an `http.Server` with limits for header size and timeouts, which sends the platform's
 * responses. The platform's own server ends a failed stream like a complete one, and its shutdown has no timeout. This module
 * is imported dynamically, so that use in process does not load `node:http`.
 *
 * @since 0.1.0
 */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { NotFound, ValidationError } from "@plaza-legacy/domain/Errors"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Http from "node:http"
import * as Net from "node:net"
import type { Duplex } from "node:stream"
import { SandboxError } from "../SandboxError.ts"
import * as DefectLog from "./DefectLog.ts"
import * as Envelope from "./Envelope.ts"
import { withoutCallerContext } from "./InProcess.ts"
import * as NodeRequest from "./NodeRequest.ts"
import type { SandboxApp } from "./SandboxApp.ts"

interface Listening {
  /** Without a trailing slash. */
  readonly origin: string
}

/**
 * The timeouts of a connection. When one expires, the sandbox closes the connection.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServerTimeouts {
  /** From the first byte of a request to the end of its headers (default: 10 seconds). */
  readonly headers: Duration.Duration
  /** From the first byte of a request to its last byte (default: 5 minutes). */
  readonly request: Duration.Duration
  /** While the caller reads nothing of a response (default: 30 seconds). */
  readonly response: Duration.Duration
  /** Between a response and the next request (default: 65 seconds). */
  readonly idle: Duration.Duration
  /** For responses in flight when the sandbox stops (default: 2 seconds). */
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

/** Writes a response to a socket without a parsed request, and closes the connection. */
const writeAndClose = (socket: Duplex, response: HttpServerResponse.HttpServerResponse): void => {
  const head = [
    `HTTP/1.1 ${response.status} ${Http.STATUS_CODES[response.status] ?? ""}`,
    ...Object.entries({ ...response.headers, connection: "close" }).map(([name, value]) => `${name}: ${value}`)
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${Envelope.textOf(response)}`)
}

/**
 * Responds to malformed HTTP with the error envelope. The document has no other status for it than 400.
 */
const onClientError =
  (isResponding: (socket: Duplex) => boolean, refuse: SandboxApp["Type"]["refuse"]) => (error: Error, socket: Duplex) => {
    if (!socket.writable || isResponding(socket)) {
      socket.destroy()
    } else {
      writeAndClose(
        socket,
        refuse(new ValidationError({ message: problemOf(error), details: { field: "headers" } }))
      )
    }
  }

const makeServer = (timeouts: ServerTimeouts, refuse: SandboxApp["Type"]["refuse"]): Http.Server => {
  const headersTimeout = Duration.toMillis(timeouts.headers)
  const requestTimeout = Math.max(headersTimeout, Duration.toMillis(timeouts.request))
  const server = Http.createServer({
    requireHostHeader: false,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: Duration.toMillis(timeouts.idle),
    headersTimeout,
    requestTimeout,
    // How often Node checks the two timeouts.
    connectionsCheckingInterval: Math.min(5_000, Math.ceil(headersTimeout / 2))
  })
  // The size of the headers is limited above. A limit of their count would silently drop headers.
  server.maxHeadersCount = 0
  const latest = new WeakMap<Duplex, Http.ServerResponse>()
  server.prependListener("request", (message, response) => {
    latest.set(message.socket, response)
  })
  server.on("clientError", onClientError((socket) => {
    const response = latest.get(socket)
    return response !== undefined && response.headersSent && !(response.writableFinished && response.req.complete)
  }, refuse))
  // By default Node responds to an unknown `Expect` header with an empty 417.
  server.on("checkExpectation", (request, response) => {
    server.emit("request", request, response)
  })
  server.on("connect", (request, socket) => {
    writeAndClose(
      socket,
      refuse(new NotFound({ message: `there is no endpoint CONNECT ${request.url ?? ""}` }))
    )
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

const start = (server: Http.Server, host: string, port: number) =>
  Effect.async<void, SandboxError>((resume) => {
    const onError = (cause: Error) => {
      resume(Effect.fail(new SandboxError({ message: reasonOf(cause, host, port), cause })))
    }
    server.once("error", onError)
    server.listen({ host, port }, () => {
      server.off("error", onError)
      resume(Effect.void)
    })
  })

const close = (server: Http.Server) =>
  Effect.async<void>((resume) => {
    // Fails only if the server never listened.
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** Accepts no new connections, and closes the remaining ones after the wait. Uses real time, not the caller's clock. */
const stopListening = (server: Http.Server, wait: Duration.Duration) =>
  Effect.zipRight(
    // The method of http.Server also closes connections whose response is still in flight.
    Effect.sync(() => Net.Server.prototype.close.call(server)),
    Effect.forkDaemon(
      Effect.withClock(Effect.andThen(Effect.sleep(wait), () => server.closeAllConnections()), Clock.make())
    )
  )

const originOf = (server: Http.Server, host: string): string => {
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`
}

/** Ends a response, and closes the connection if the caller reads nothing for a while. Most responses are written at once. */
const end = (target: Http.ServerResponse, body: Uint8Array | undefined, wait: Duration.Duration): void => {
  target.end(body)
  if (!target.writableFinished && target.socket !== null && target.socket.writableLength > 0) {
    target.setTimeout(Duration.toMillis(wait), () => target.socket?.destroy())
  }
}

const closed = (target: Http.ServerResponse) =>
  Effect.async<void>((resume) => {
    target.once("close", () => resume(Effect.void))
  })

/** Writes a chunk. On a closed connection it completes at once. */
const write = (target: Http.ServerResponse, piece: Uint8Array) =>
  Effect.async<void>((resume) => {
    target.write(piece, () => resume(Effect.void))
  })

const deliver = (
  target: Http.ServerResponse,
  { body, headers, status }: HttpServerResponse.HttpServerResponse,
  wait: Duration.Duration
): Effect.Effect<void, unknown> => {
  // Responses have a date of the sandbox's clock, or none.
  target.sendDate = false
  target.writeHead(status, headers)
  if (body._tag !== "Stream") {
    end(target, body._tag === "Uint8Array" ? body.body : undefined, wait)
    return Effect.void
  }
  // Sends the head at once. A failing stream closes the connection; a closed connection ends the stream.
  target.flushHeaders()
  return Effect.zipRight(
    Effect.interruptible(Stream.runForEach(body.stream, (piece) => write(target, piece))),
    Effect.sync(() => end(target, undefined, wait))
  )
}

/**
 * Listens until its scope closes. Then it interrupts waiting requests, and sends the responses of the others.
 *
 * @since 0.1.0
 * @category constructors
 */
export const listen = (
  service: SandboxApp["Type"],
  options: { readonly host: string; readonly port: number; readonly timeouts?: Partial<ServerTimeouts> | undefined }
): Effect.Effect<Listening, SandboxError, Scope.Scope> =>
  Effect.gen(function*() {
    const { host, port } = options
    const timeouts = { ...defaultTimeouts, ...options.timeouts }
    const server = yield* Effect.acquireRelease(Effect.sync(() => makeServer(timeouts, service.refuse)), close)
    // One runtime for all requests. Handlers are uninterruptible: a closed connection or a stop interrupts only waiting.
    const fork = Runtime.runFork(yield* withoutCallerContext(Effect.uninterruptible(Effect.runtime())))
    const open = new Map<Http.ServerResponse, Fiber.RuntimeFiber<void>>()
    yield* Effect.addFinalizer(() =>
      Effect.forEach([...open], ([target, fiber]) => target.headersSent ? closed(target) : Fiber.interrupt(fiber), {
        concurrency: "unbounded",
        discard: true
      })
    )
    const handle = (message: Http.IncomingMessage, target: Http.ServerResponse) => {
      const fiber = fork(
        service.respond(NodeRequest.make(message)).pipe(
          Effect.flatMap((response) => deliver(target, response, timeouts.response)),
          Effect.catchAllCause((cause) =>
            Effect.zipRight(
              Cause.isDie(cause) ? DefectLog.log("deliver", cause) : Effect.void,
              Effect.sync(() => {
                message.socket.destroy()
              })
            )
          )
        )
      )
      // Most responses are already sent here.
      if (!target.writableFinished) {
        open.set(target, fiber)
        target.on("close", () => {
          open.delete(target)
          if (!target.writableEnded) {
            fiber.unsafeInterruptAsFork(fiber.id())
          }
        })
      }
    }
    server.on("request", (message, target) => {
      // Node parses the body of the same packet after this event, and reading it then needs no wait.
      process.nextTick(handle, message, target)
    })
    yield* start(server, host, port)
    yield* Effect.addFinalizer(() => stopListening(server, timeouts.stop))
    return { origin: originOf(server, host) }
  })
