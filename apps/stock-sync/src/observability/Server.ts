/** The HTTP server: its address, its timeouts and its shutdown. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServer from "@effect/platform/HttpServer"
import type { ServeError } from "@effect/platform/HttpServerError"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import * as Answers from "./Routes.js"
import type { StatusSampler } from "./StatusSampler.js"

export interface Options extends Omit<Answers.Options, "loopback"> {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
}

/** Of the request line and the headers together. */
const maxHeaderBytes = 16 * 1024
const patience = Duration.toMillis("10 seconds")
/** For answers that are on their way when it stops. */
const grace = Duration.seconds(1)

const makeServer = (): Http.Server => {
  const server = Http.createServer({
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: patience,
    requestTimeout: patience,
    connectionsCheckingInterval: patience / 2
  })
  // Whoever takes nothing of an answer is hung up on, so that a few such don't keep the rest out.
  server.setTimeout(Duration.toMillis("1 minute"))
  server.maxConnections = 200
  return server
}

const reasonOf = ({ cause }: ServeError, { host, port }: Options): string => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is in use: name another one with --port or STOCK_SYNC_PORT, or 0 for any that is free`
    case "EACCES":
      return `port ${port} may not be used by this user: name one above 1023 with --port or STOCK_SYNC_PORT`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `"${host}" is no address of this machine: change --host or STOCK_SYNC_HOST, or leave it out for 127.0.0.1`
    default:
      return `the status page can't listen on ${host}, port ${port}: change --host and --port, or STOCK_SYNC_HOST and STOCK_SYNC_PORT`
  }
}

/** Answers until the scope closes. Gives the address to ask. */
export const listen = (options: Options): Effect.Effect<string, UsageError, StatusSampler | Scope.Scope> =>
  Effect.gen(function*() {
    const server = makeServer()
    const http = yield* NodeHttpServer.make(() => server, { host: options.host, port: options.port }).pipe(
      Effect.mapError((error) => new UsageError({ message: reasonOf(error, options) }))
    )
    // Closing waits for everybody. In real time, whatever the caller's clock is.
    yield* Effect.addFinalizer(() =>
      Effect.forkDaemon(Effect.withClock(Effect.andThen(Effect.sleep(grace), () => server.closeAllConnections()), Clock.make()))
    )
    const address = server.address()
    const { address: host, port } = typeof address === "object" && address !== null
      ? address
      : { address: options.host, port: options.port }
    const loopback = host === "::1" || host.startsWith("127.")
    // Each scrape would be a span else, of no use to anybody.
    yield* Effect.withTracerEnabled(HttpServer.serveEffect(Answers.handle({ ...options, loopback })).pipe(
      Effect.provideService(HttpServer.HttpServer, http)
    ), false)
    const reachable = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host
    return `http://${reachable}:${port}`
  })
