/**
 * Serves the sandbox on a port: an `http.Server` with bounds for request size and waiting time, which delivers the
 * platform's responses. The platform's own server ends a failed stream as if it were whole, and waits without an end when it
 * closes. Loaded when it is needed, so that use in process loads nothing of it.
 *
 * @since 0.1.0
 */
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { NotFound, ValidationError } from "@plaza/domain/Errors"
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
import { SandboxError } from "../SandboxError.js"
import * as DefectLog from "./DefectLog.js"
import * as Envelope from "./Envelope.js"
import { apart } from "./InProcess.js"
import * as NodeRequest from "./NodeRequest.js"
import type { Service } from "./Service.js"

/** @since 0.1.0 @category models */
export interface Listening {
  /** Without a slash at its end. */
  readonly origin: string
}

/**
 * How long a caller is waited for before the connection is closed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Patience {
  /** From the first byte of a request to the end of its headers (default: 10 seconds). */
  readonly headers: Duration.Duration
  /** From the first byte of a request to its last (default: 5 minutes). */
  readonly request: Duration.Duration
  /** Without taking anything of an answer (default: 30 seconds). */
  readonly answer: Duration.Duration
  /** Between an answer and the next request (default: 65 seconds). */
  readonly idle: Duration.Duration
  /** For the answers that are on their way when the sandbox stops (default: 2 seconds). */
  readonly stop: Duration.Duration
}

/** @since 0.1.0 @category constants */
export const patience: Patience = {
  headers: Duration.seconds(10),
  request: Duration.minutes(5),
  answer: Duration.seconds(30),
  // Longer than the 60 seconds that clients and proxies keep connections for.
  idle: Duration.seconds(65),
  stop: Duration.seconds(2)
}

/** Of the request line and the headers together, as they are sent. */
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

/** Answers where there is no request to answer, and closes the connection. */
const writeAndClose = (socket: Duplex, response: HttpServerResponse.HttpServerResponse): void => {
  const head = [
    `HTTP/1.1 ${response.status} ${Http.STATUS_CODES[response.status] ?? ""}`,
    ...Object.entries({ ...response.headers, connection: "close" }).map(([name, value]) => `${name}: ${value}`)
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${Envelope.textOf(response)}`)
}

/**
 * What can't be read as HTTP leaves in the envelope as well. The document has no status for it but 400.
 */
const onClientError = (isAnswering: (socket: Duplex) => boolean, refuse: Service["Type"]["refuse"]) => (error: Error, socket: Duplex) => {
  if (!socket.writable || isAnswering(socket)) {
    socket.destroy()
  } else {
    writeAndClose(
      socket,
      refuse(new ValidationError({ message: problemOf(error), details: { field: "headers" } }))
    )
  }
}

const makeServer = (waits: Patience, refuse: Service["Type"]["refuse"]): Http.Server => {
  const headersTimeout = Duration.toMillis(waits.headers)
  const requestTimeout = Math.max(headersTimeout, Duration.toMillis(waits.request))
  const server = Http.createServer({
    requireHostHeader: false,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: Duration.toMillis(waits.idle),
    headersTimeout,
    requestTimeout,
    // How often the two are looked at.
    connectionsCheckingInterval: Math.min(5_000, Math.ceil(headersTimeout / 2))
  })
  // Their size is bounded; beyond a number Node would leave them out without a word.
  server.maxHeadersCount = 0
  const latest = new WeakMap<Duplex, Http.ServerResponse>()
  server.prependListener("request", (message, response) => {
    latest.set(message.socket, response)
  })
  server.on("clientError", onClientError((socket) => {
    const response = latest.get(socket)
    return response !== undefined && response.headersSent && !(response.writableFinished && response.req.complete)
  }, refuse))
  // Node would answer an expectation that it doesn't know by itself, with an empty body.
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
      return `port ${port} is in use: name another one, or 0 for any that is free`
    case "EACCES":
      return `port ${port} may not be used by this user: name one above 1023`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${host} is no address of this machine: name another one, or leave it out for 127.0.0.1`
    default:
      return `the sandbox can't listen on ${host}, port ${port}: name another host or port`
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
    // Fails only when it has never listened.
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** Accepts no new connection, and closes the remaining ones after the wait. Uses real time, not the caller's clock. */
const stopListening = (server: Http.Server, wait: Duration.Duration) =>
  Effect.zipRight(
    // That of node:http takes a connection for idle whose answer is still on its way, and cuts it.
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

/** Ends a response. A caller who takes nothing of it for a while loses the connection; nearly all take it at once. */
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

/** A caller who has gone away takes every piece at once. */
const write = (target: Http.ServerResponse, piece: Uint8Array) =>
  Effect.async<void>((resume) => {
    target.write(piece, () => resume(Effect.void))
  })

const deliver = (
  target: Http.ServerResponse,
  { body, headers, status }: HttpServerResponse.HttpServerResponse,
  wait: Duration.Duration
): Effect.Effect<void, unknown> => {
  // Responses have a date by the sandbox's clock, or none.
  target.sendDate = false
  target.writeHead(status, headers)
  if (body._tag !== "Stream") {
    end(target, body._tag === "Uint8Array" ? body.body : undefined, wait)
    return Effect.void
  }
  // The head arrives at once. A stream that fails closes the connection; a closed connection ends the stream.
  target.flushHeaders()
  return Effect.zipRight(
    Effect.interruptible(Stream.runForEach(body.stream, (piece) => write(target, piece))),
    Effect.sync(() => end(target, undefined, wait))
  )
}

/**
 * Listens until its scope closes. Then it interrupts the requests that wait, and delivers the responses of the others.
 *
 * @since 0.1.0
 * @category constructors
 */
export const listen = (
  service: Service["Type"],
  options: { readonly host: string; readonly port: number; readonly patience?: Partial<Patience> | undefined }
): Effect.Effect<Listening, SandboxError, Scope.Scope> =>
  Effect.gen(function*() {
    const { host, port } = options
    const waits = { ...patience, ...options.patience }
    const server = yield* Effect.acquireRelease(Effect.sync(() => makeServer(waits, service.refuse)), close)
    // Once for all requests. What was decided is delivered; only waiting ends when the caller is gone or the sandbox stops.
    const fork = Runtime.runFork(yield* apart(Effect.uninterruptible(Effect.runtime())))
    const open = new Map<Http.ServerResponse, Fiber.RuntimeFiber<void>>()
    yield* Effect.addFinalizer(() =>
      Effect.forEach([...open], ([target, fiber]) => target.headersSent ? closed(target) : Fiber.interrupt(fiber), {
        concurrency: "unbounded",
        discard: true
      })
    )
    server.on("request", (message, target) => {
      const fiber = fork(
        service.respond(NodeRequest.make(message)).pipe(
          Effect.flatMap((response) => deliver(target, response, waits.answer)),
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
      // Most have left by now.
      if (!target.writableFinished) {
        open.set(target, fiber)
        target.on("close", () => {
          open.delete(target)
          if (!target.writableEnded) {
            fiber.unsafeInterruptAsFork(fiber.id())
          }
        })
      }
    })
    yield* start(server, host, port)
    yield* Effect.addFinalizer(() => stopListening(server, waits.stop))
    return { origin: originOf(server, host) }
  })
