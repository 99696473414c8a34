/**
 * The way in by a socket: the platform's handler on an `http.Server` of ours, which bounds what callers send and how long
 * they are waited for. Loaded when it is needed, so that use in process loads nothing of it.
 *
 * @since 0.1.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { NotFound, ValidationError } from "@plaza/domain/Errors"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Http from "node:http"
import * as Net from "node:net"
import type { Duplex } from "node:stream"
import { SandboxError } from "../SandboxError.js"
import * as DefectLog from "./DefectLog.js"
import * as Envelope from "./Envelope.js"
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
const lastWords = (socket: Duplex, response: HttpServerResponse.HttpServerResponse): void => {
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
    lastWords(
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
    lastWords(
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

/** Hears of nobody new; whoever is still there after the wait is cut off. In real time, whatever the caller's clock is. */
const beginToStop = (server: Http.Server, wait: Duration.Duration) =>
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

/** Streams begin at once, and one that fails takes the connection with it: the platform would end it as a whole body. */
const overSocket = (response: HttpServerResponse.HttpServerResponse, target: Http.ServerResponse) => {
  const { body } = response
  return body._tag !== "Stream" ? response : HttpServerResponse.setBody(
    response,
    HttpBody.stream(
      Stream.execute(Effect.sync(() => target.flushHeaders())).pipe(
        Stream.concat(body.stream),
        Stream.catchAll(() => Stream.execute(Effect.sync(() => target.socket?.destroySoon())))
      ),
      body.contentType,
      body.contentLength
    )
  )
}

/** Closes the connection of a caller who takes nothing of a response that has ended. Nearly all are taken at once. */
const boundWriting = (response: Http.ServerResponse, wait: Duration.Duration): void => {
  response.once("prefinish", () => {
    if (response.socket !== null && response.socket.writableLength > 0) {
      response.setTimeout(Duration.toMillis(wait), () => response.socket?.destroy())
    }
  })
}

/**
 * Listens until its scope closes. Then whoever is waited for is hung up on, and whoever is being answered still gets the
 * response.
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
    const open = new Map<Http.ServerResponse, Fiber.RuntimeFiber<unknown, unknown>>()
    const app = Effect.withFiberRuntime<HttpServerResponse.HttpServerResponse, never, HttpServerRequest>((fiber) =>
      Effect.flatMap(HttpServerRequest, (request) => {
        const target = NodeHttpServerRequest.toServerResponse(request)
        open.set(target, fiber)
        target.once("close", () => open.delete(target))
        // Responses have a date by the sandbox's clock, or none.
        target.sendDate = false
        boundWriting(target, waits.answer)
        return service.respond(NodeRequest.make(NodeHttpServerRequest.toIncomingMessage(request))).pipe(
          Effect.map((response) => overSocket(response, target)),
          Effect.catchAllCause((cause) =>
            Effect.zipRight(
              Cause.isDie(cause) ? DefectLog.log("deliver", cause) : Effect.void,
              Effect.sync(() => {
                target.req.socket.destroy()
                return Envelope.empty(204)
              })
            )
          )
        )
      }))
    const handler = yield* NodeHttpServer.makeHandler(app).pipe(
      Effect.withTracerEnabled(false),
      HttpMiddleware.withTracerDisabledWhenEffect(() => true)
    )
    // What was decided is delivered; only waiting ends when the sandbox stops.
    yield* Effect.addFinalizer(() =>
      Effect.forEach([...open], ([target, fiber]) =>
        target.headersSent
          ? Effect.async<void>((resume) => {
            target.once("close", () => resume(Effect.void))
          })
          : Fiber.interrupt(fiber), { concurrency: "unbounded", discard: true }))
    server.on("request", handler)
    yield* start(server, host, port)
    yield* Effect.addFinalizer(() => beginToStop(server, waits.stop))
    return { origin: originOf(server, host) }
  })
