/** The HTTP server of the status page: address, timeouts and shutdown. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServer from "@effect/platform/HttpServer"
import type { ServeError } from "@effect/platform/HttpServerError"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { UsageError } from "@plaza-legacy/cli-kit/CliError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import * as Routes from "./Routes.ts"
import type { StatusSampler } from "./StatusSampler.ts"

export interface Address {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
}

export interface Options extends Omit<Routes.Options, "loopback">, Address {}

/** The request line and the headers. */
const maxHeaderBytes = 16 * 1024
const requestTimeout = Duration.toMillis("10 seconds")
/** The time that open responses have at shutdown. */
const grace = Duration.seconds(1)

const makeServer = (): Http.Server => {
  const server = Http.createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: requestTimeout,
    requestTimeout,
    connectionsCheckingInterval: requestTimeout / 2
  })
  // Closes idle connections, so that a few of them do not use up maxConnections.
  server.setTimeout(Duration.toMillis("1 minute"))
  server.maxConnections = 200
  return server
}

const reasonOf = ({ cause }: ServeError, { host, port }: Address): string => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is in use: choose another one with --port or STOCK_SYNC_PORT, or 0 for any free port`
    case "EACCES":
      return `this user may not listen on port ${port}: choose one above 1023 with --port or STOCK_SYNC_PORT`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `"${host}" is not an address of this machine: change --host or STOCK_SYNC_HOST`
    default:
      return `the status page can't listen on ${host}, port ${port}: change --host and --port, or STOCK_SYNC_HOST and STOCK_SYNC_PORT`
  }
}

/** Serves until the scope closes. `handle` learns whether only this machine can reach the address. Returns the URL of the pages. */
export const serve = <R>(
  options: Address,
  handle: (loopback: boolean) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>
): Effect.Effect<string, UsageError, Exclude<R, HttpServerRequest.HttpServerRequest> | Scope.Scope> =>
  Effect.gen(function*() {
    const server = makeServer()
    const http = yield* NodeHttpServer.make(() => server, { host: options.host, port: options.port }).pipe(
      Effect.mapError((error) => new UsageError({ message: reasonOf(error, options) }))
    )
    // Closing waits for open connections. The grace time is real time, even under a test clock.
    yield* Effect.addFinalizer(() =>
      Effect.forkDaemon(Effect.withClock(Effect.andThen(Effect.sleep(grace), () => server.closeAllConnections()), Clock.make()))
    )
    const address = server.address()
    const { address: host, port } = typeof address === "object" && address !== null
      ? address
      : { address: options.host, port: options.port }
    const loopback = host === "::1" || host.startsWith("127.")
    // A span for each scrape would be noise.
    yield* Effect.withTracerEnabled(HttpServer.serveEffect(handle(loopback)).pipe(
      Effect.provideService(HttpServer.HttpServer, http)
    ), false)
    const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host
    return `http://${reachable}:${port}`
  })

/** Serves the status page of one worker until the scope closes. Returns its URL. */
export const listen = (options: Options): Effect.Effect<string, UsageError, StatusSampler | Scope.Scope> =>
  serve(options, (loopback) => Routes.handle({ ...options, loopback }))
