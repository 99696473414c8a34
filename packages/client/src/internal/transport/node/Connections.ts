/**
 * The undici connections of the client on Node: keep-alive, proxies, certificates, and a new connection for every request that must
 * not be sent twice.
 *
 * @since 0.1.0
 */
import { Agent, buildConnector, Dispatcher, errors, Pool, ProxyAgent } from "@effect/platform-node/Undici"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Tls from "node:tls"
import type { Connection } from "../Connection.ts"
import * as Proxies from "./Proxies.ts"
import * as Sockets from "./Sockets.ts"

interface ConnectionOptions {
  readonly proxies: Proxies.Proxies
  /** Certificates to trust in addition to those of Node, in PEM. */
  readonly ca: ReadonlyArray<string>
  readonly keepAlive: Duration.Duration
  readonly connectTimeout: Duration.Duration
}

/**
 * The options of a request. `connection` is not one of undici.
 *
 * @since 0.1.0
 * @category models
 */
export interface DispatchOptions extends Dispatcher.DispatchOptions {
  readonly connection?: Connection | undefined
}

// Codes of a proxy that closes the connection or refuses the tunnel. Undici's own codes don't show that the service received nothing,
// and undici would retry after some of them.
const proxyFailures: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: "PROXY_CLOSED",
  UND_ERR_INFO: "PROXY_CLOSED",
  UND_ERR_PRX_CONN: "PROXY_CLOSED",
  UND_ERR_ABORTED: "PROXY_REFUSED",
  UND_ERR_PRX_TLS: "PROXY_ERR_TLS_CERT_ALTNAME_INVALID"
}

const proxyCode = ({ code = "", message, name, syscall }: NodeJS.ErrnoException): string | undefined => {
  // A system call that fails before there is a tunnel is one to the proxy. Those of TLS concern the service.
  if (syscall === "connect" || syscall === "getaddrinfo") return `PROXY_${code}`
  if (name === "TimeoutError") return "PROXY_TIMEOUT"
  // The response to CONNECT is no HTTP.
  if (name === "HTTPParserError") return "PROXY_INVALID_RESPONSE"
  return message.includes("(407)") ? "PROXY_AUTHENTICATION" : proxyFailures[code]
}

const proxyFailure = (error: NodeJS.ErrnoException): Error => {
  const code = proxyCode(error)
  return code === undefined ? error : Object.assign(new Error(error.message, { cause: error }), { code, syscall: "connect" })
}

/**
 * After the process was suspended, the system reports an open connection before undici's timer ends the wait for it. The request would
 * then leave long after its caller has decided to send it.
 */
const preparing = (
  connect: buildConnector.connector,
  { isTunnel, timeout }: { readonly isTunnel: boolean; readonly timeout: number }
): buildConnector.connector =>
(options, callback) => {
  const startedAt = performance.now()
  // Ends the wait for a proxy that doesn't respond to CONNECT, which undici's timeout doesn't.
  const withSignal = isTunnel ? { ...options, signal: AbortSignal.timeout(timeout) } : options
  // Undici ends the attempt by the socket if no request waits for it.
  return connect(withSignal, (...[error, socket]) => {
    if (error !== null) {
      callback(isTunnel ? proxyFailure(error) : error, null)
    } else if (performance.now() - startedAt > timeout) {
      socket.destroy()
      callback(new errors.ConnectTimeoutError("the connection was opened too late"), null)
    } else {
      callback(null, Sockets.prepare(socket))
    }
  })
}

// The maximum that a service can set with its `Keep-Alive` header, in milliseconds: undici's default.
const longestHint = 600_000

interface Agents {
  readonly kept: Dispatcher
  readonly fresh: Dispatcher
}

const agentsOf = ({ ca, connectTimeout, keepAlive }: ConnectionOptions, proxy: Proxies.Proxy | undefined): Agents => {
  const timeout = Duration.toMillis(connectTimeout)
  const keepAliveTimeout = Duration.toMillis(keepAlive)
  const tls = {
    timeout,
    // One request per connection at a time, so that a lost connection concerns one call.
    allowH2: false,
    // `ca` replaces the certificates of Node, so the list includes them.
    ...(ca.length === 0 ? {} : { ca: [...Tls.rootCertificates, ...ca] })
  }
  const isTunnel = proxy !== undefined
  // Both kinds of agent create their pools here, each with its own connector.
  const factory = (origin: string | URL, options: Pool.Options) =>
    new Pool(
      origin,
      typeof options.connect === "function" ? { ...options, connect: preparing(options.connect, { isTunnel, timeout }) } : options
    )
  const agentOf = (own: Pool.Options): Dispatcher => {
    const options = { ...own, allowH2: false, factory }
    return proxy === undefined
      ? new Agent({ ...options, connect: buildConnector(tls) })
      : new ProxyAgent({
        ...options,
        uri: proxy.url,
        ...(proxy.authorization === undefined ? {} : { token: proxy.authorization }),
        requestTls: tls,
        proxyTls: tls,
        proxyTunnel: true
      })
  }
  return {
    kept: agentOf({ keepAliveTimeout, keepAliveMaxTimeout: Math.max(keepAliveTimeout, longestHint) }),
    // With `pipelining: 0`, undici closes a connection after its request. The timeout closes a connection whose request was aborted
    // during the connect.
    fresh: agentOf({ pipelining: 0, keepAliveTimeout: 1, keepAliveMaxTimeout: 1 })
  }
}

/** Records when a request gets a connection. Replaces a method of the handler, which serves one request, instead of delegating all. */
const observe = (connection: Connection, handler: Dispatcher.DispatchHandler): void => {
  const onRequestStart = handler.onRequestStart?.bind(handler)
  handler.onRequestStart = (controller, context) => {
    connection.isConnected = true
    onRequestStart?.(controller, context)
  }
}

/**
 * Sends each request directly or through its proxy. Undici's `EnvHttpProxyAgent` has no rule for networks and loopback.
 *
 * The service may be closing an idle connection, and a request on it then has an unknown outcome. So only requests that may be sent
 * twice reuse connections; every other request uses a new one. A shorter keep-alive would not be enough, because a service may close
 * idle connections at any time.
 */
class Connections extends Dispatcher {
  private readonly proxies: Proxies.Proxies
  private readonly agents: ReadonlyMap<Proxies.Proxy, Agents>
  private readonly direct: Agents

  constructor(options: ConnectionOptions) {
    super()
    this.proxies = options.proxies
    this.direct = agentsOf(options, undefined)
    const proxies = [options.proxies.http, options.proxies.https].filter((proxy) => proxy !== undefined)
    this.agents = new Map(proxies.map((proxy) => [proxy, agentsOf(options, proxy)]))
  }

  override dispatch(options: DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { connection, idempotent, method, origin } = options
    const proxy = this.agents.size === 0 || origin === undefined ? undefined : Proxies.proxyFor(this.proxies, new URL(origin))
    const { fresh, kept } = (proxy === undefined ? undefined : this.agents.get(proxy)) ?? this.direct
    if (connection !== undefined) {
      connection.proxy = proxy?.url
      observe(connection, handler)
    }
    return (idempotent ?? (method === "GET" || method === "HEAD") ? kept : fresh).dispatch(options, handler)
  }

  override destroy(): Promise<void> {
    const agents = [this.direct, ...this.agents.values()].flatMap(({ fresh, kept }) => [kept, fresh])
    return Promise.all(agents.map((agent) => agent.destroy())).then(() => {})
  }
}

/** @since 0.1.0 @category constructors */
export const make = (options: ConnectionOptions): Effect.Effect<Dispatcher, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Connections(options)),
    (connections) => Effect.promise(() => connections.destroy())
  )
