/**
 * The way in by a socket, on Node. It alone knows of node:http, so that use in process loads nothing of it.
 *
 * @since 0.1.0
 */
import type * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { ValidationError } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Http from "node:http"
import type { Duplex } from "node:stream"
import type { Answer } from "./Envelope.js"
import * as Envelope from "./Envelope.js"
import type { Sent } from "./FaultyAnswer.js"
import * as FaultyAnswer from "./FaultyAnswer.js"
import type { Incoming } from "./Incoming.js"
import { Gone } from "./Incoming.js"
import { SandboxError } from "./SandboxError.js"
import type { Service } from "./Service.js"

/** @since 0.1.0 @category models */
export interface Listening {
  /** Without a slash at its end. */
  readonly origin: string
}

/**
 * Reads a body without ever destroying its stream: what is refused as too large must still be answered.
 */
const read = (message: Http.IncomingMessage) => (most: number): Effect.Effect<Option.Option<Uint8Array>, Gone> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > most) {
        stop()
        resume(Effect.succeed(Option.none()))
      } else {
        chunks.push(chunk)
      }
    }
    const onEnd = () => {
      stop()
      resume(Effect.succeed(Option.some(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))))
    }
    const onGone = (cause?: unknown) => {
      stop()
      resume(Effect.fail(new Gone({ cause })))
    }
    // What is still to come is let go, so that a caller who is writing gets to read.
    const stop = () => {
      message.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone)
      message.on("error", () => {})
      message.resume()
    }
    message.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone)
    return Effect.sync(stop)
  })

const toIncoming = (request: HttpServerRequest.HttpServerRequest): Incoming => ({
/** The same, piece by piece; the source waits for whoever takes them. */
const bytes = (message: Http.IncomingMessage): Stream.Stream<Uint8Array, Gone> =>
  NodeStream.fromReadable<Gone, Uint8Array>(() => message, (cause) => new Gone({ cause }), { closeOnDone: false }).pipe(
    Stream.ensuring(Effect.sync(() => {
      message.on("error", () => {})
      message.resume()
    }))
  )

const toIncoming = (request: HttpServerRequest.HttpServerRequest): Incoming => ({
  method: request.method,
  target: request.originalUrl,
  headers: request.headers,
  remoteAddress: request.remoteAddress,
  read: read(NodeHttpServerRequest.toIncomingMessage(request)),
  bytes: bytes(NodeHttpServerRequest.toIncomingMessage(request))
})

const lengthOf = ({ body }: Answer) => ({ "content-length": String(body.length) })

const toResponse = (answer: Answer): HttpServerResponse.HttpServerResponse => {
  const contentType = answer.headers["content-type"]
  return answer.body.length === 0
    ? HttpServerResponse.empty({ status: answer.status, headers: answer.headers })
    : HttpServerResponse.uint8Array(answer.body, {
      status: answer.status,
      headers: answer.headers,
      ...(contentType === undefined ? {} : { contentType })
    })
}

/** Ends the response object too, so that the server under it takes it for delivered. */
const hangUp = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.sync(() => {
    NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()
    NodeHttpServerRequest.toServerResponse(request).end()
    return HttpServerResponse.empty()
  })

const deliver = (
  request: HttpServerRequest.HttpServerRequest,
  sent: Sent
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  switch (sent._tag) {
    case "Answer":
      return Effect.succeed(toResponse(sent.answer))
    case "Drop":
      return hangUp(request)
    case "Slow": {
      const { answer, millis } = sent
      const response = NodeHttpServerRequest.toServerResponse(request)
      const write = (piece: Uint8Array) =>
        Effect.async<void>((resume) => {
          // Called back in any case, also when the caller has gone away.
          response.write(piece, () => resume(Effect.void))
        })
      return Effect.sync(() => {
        response.writeHead(answer.status, { ...answer.headers, ...lengthOf(answer) }).flushHeaders()
      }).pipe(
        Effect.zipRight(Effect.forEach(
          FaultyAnswer.trickle(answer.body, millis),
          ({ after, piece }) => Effect.zipRight(Effect.sleep(after), write(piece)),
          { discard: true }
        )),
        Effect.andThen(() => {
          response.end()
          return HttpServerResponse.empty()
        })
      )
    }
    case "Cut": {
      const { answer } = sent
      const response = NodeHttpServerRequest.toServerResponse(request)
      return Effect.zipRight(
        Effect.async<void>((resume) => {
          response.writeHead(answer.status, { ...answer.headers, ...lengthOf(answer) })
          response.write(answer.body.subarray(0, Math.floor(answer.body.length / 2)), () => resume(Effect.void))
        }),
        hangUp(request)
      )
    }
  }
}

/** What can't be read as HTTP leaves in the envelope as well. */
const onClientError = (_: Error, socket: Duplex) => {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const answer = Envelope.failure(
    new ValidationError({ message: "the request is not well-formed HTTP", details: { field: "headers" } })
  )
  const head = [
    "HTTP/1.1 400 Bad Request",
    ...Object.entries({ ...answer.headers, ...lengthOf(answer), connection: "close" }).map(([name, value]) => `${name}: ${value}`)
  ]
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), answer.body]))
}

const makeServer = (): Http.Server => {
  const server = Http.createServer({ requireHostHeader: false, keepAliveTimeout: 65_000 })
  server.on("clientError", onClientError)
  // Node would answer an expectation that it doesn't know by itself, with an empty body.
  server.on("checkExpectation", (request, response) => {
    server.emit("request", request, response)
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

const originOf = (address: HttpServer.Address, host: string): string => {
  const port = address._tag === "TcpAddress" ? address.port : 0
  const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`
}

/**
 * Listens until its scope closes, which ends every connection.
 *
 * @since 0.1.0
 * @category constructors
 */
export const listen = (
  service: Service["Type"],
  { host, port }: { readonly host: string; readonly port: number }
): Effect.Effect<Listening, SandboxError, Scope.Scope> =>
  Effect.gen(function*() {
    const node = makeServer()
    const server = yield* NodeHttpServer.make(() => node, { host, port }).pipe(
      Effect.mapError(({ cause }) => new SandboxError({ message: reasonOf(cause, host, port), cause }))
    )
    // Runs before the server is closed, which waits for every connection.
    yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
    yield* server.serve(Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.matchEffect(service.answer(toIncoming(request)), {
        onFailure: () => hangUp(request),
        onSuccess: (sent) => deliver(request, sent)
      }))).pipe(Effect.withTracerEnabled(false))
    return { origin: originOf(server.address, host) }
  })
