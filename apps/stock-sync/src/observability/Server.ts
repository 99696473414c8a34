/** The HTTP server of the status page: address, timeouts and shutdown. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ServeError } from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as NetAddress from "effect/net/NetAddress"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import * as Routes from "./Routes.ts"
import type { StatusSampler } from "./StatusSampler.ts"

export interface Address {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
}

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
export const serve = Effect.fnUntraced(function*<R>(
  options: Address,
  handle: (loopback: boolean) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>
): Effect.fn.Return<string, UsageError, Exclude<R, HttpServerRequest.HttpServerRequest> | Scope.Scope> {
  const server = makeServer()
  const { address, serve } = yield* NodeHttpServer.make(() => server, { ...options, gracefulShutdownTimeout: grace }).pipe(
    Effect.mapError((error) => new UsageError({ message: reasonOf(error, options) }))
  )
  // Runs after the grace time. The server waits for open connections before it ends.
  yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
  const url = new URL(NetAddress.formatUrlUnsafe(address))
  const ip = NetAddress.isUnixPathAddress(address) ? NetAddress.ipv4Loopback : address.address
  if (NetAddress.isUnspecified(ip)) url.hostname = "127.0.0.1"
  // A span for each scrape would be noise.
  yield* Effect.withTracerEnabled(serve(handle(NetAddress.isLoopback(ip))), false)
  return url.origin
})

/** Serves the status page of one worker until the scope closes. Returns its URL. */
export const listen = (address: Address): Effect.Effect<string, UsageError, StatusSampler | Scope.Scope> => serve(address, Routes.handle)
