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
import Tls from "node:tls"
import * as Proxies from "./Proxies.ts"
import * as SocketWrites from "./SocketWrites.ts"

interface ConnectionOptions {
  readonly proxies: Proxies.Proxies
  /** Certificates to trust in addition to those of Node, in PEM. */
  readonly ca: ReadonlyArray<string>
  readonly keepAlive: Duration.Duration
  readonly connectTimeout: Duration.Duration
}

// Codes of a proxy that closes the connection or refuses the tunnel. Undici's own codes don't show that the service received nothing,
// and undici would retry after the first two.
const proxyFailures: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: "PROXY_CLOSED",
  UND_ERR_INFO: "PROXY_CLOSED",
  UND_ERR_ABORTED: "PROXY_REFUSED"
}

// A system call that fails before there is a tunnel is one to the proxy. Those of TLS concern the service.
const codeOf = ({ code = "", syscall }: NodeJS.ErrnoException, isTunnel: boolean): string | undefined =>
  isTunnel && (syscall === "connect" || syscall === "getaddrinfo") ? `PROXY_${code}` : proxyFailures[code]

const connectFailure = (error: NodeJS.ErrnoException, isTunnel: boolean): Error => {
  const code = codeOf(error, isTunnel)
  return code === undefined ? error : Object.assign(new Error(error.message, { cause: error }), { code, syscall: "connect" })
}

/**
 * After the process was suspended, the system reports an open connection before undici's timer ends the wait for it. The request would
 * then leave long after its caller has decided to send it.
 */
const preparing = (
  connect: buildConnector.connector,
  { isTunnel, timeout }: { readonly isTunnel: boolean; readonly timeout: Duration.Duration }
): buildConnector.connector =>
(options, callback) => {
  const startedAt = performance.now()
  connect(options, (...[error, socket]) => {
    if (error !== null) {
      callback(connectFailure(error, isTunnel), null)
    } else if (performance.now() - startedAt > Duration.toMillis(timeout)) {
      socket.destroy()
      callback(new errors.ConnectTimeoutError("the connection was opened too late"), null)
    } else {
      callback(null, SocketWrites.prepare(socket))
    }
  })
}

const agentOf = ({ ca, connectTimeout, proxies }: ConnectionOptions, options: Agent.Options): Dispatcher => {
  const tls = {
    timeout: Duration.toMillis(connectTimeout),
    // `ca` replaces the certificates of Node, so the list includes them.
    ...(ca.length === 0 ? {} : { ca: [...Tls.rootCertificates, ...ca] })
  }
  // Both kinds of agent, with and without a proxy, create their pools here, each with its own connector.
  const poolsOf = (isTunnel: boolean) => (origin: string | URL, options: Pool.Options) =>
    new Pool(
      origin,
      typeof options.connect === "function"
        ? { ...options, connect: preparing(options.connect, { isTunnel, timeout: connectTimeout }) }
        : options
    )
  const direct = new Agent({ ...options, connect: buildConnector(tls), factory: poolsOf(false) })
  const through = (proxy: Proxies.Proxy | undefined) =>
    proxy === undefined ? [] : [
      [
        proxy,
        new ProxyAgent({
          ...options,
          uri: proxy.url,
          ...(proxy.authorization === undefined ? {} : { token: proxy.authorization }),
          factory: poolsOf(true),
          requestTls: tls,
          proxyTls: tls
        })
      ] as const
    ]
  const agents = new Map([...through(proxies.http), ...through(proxies.https)])
  return agents.size === 0 ? direct : new Routes(proxies, direct, agents)
}

/** Sends each request directly or through its proxy. Not undici's `EnvHttpProxyAgent`, which knows no networks and no loopback. */
class Routes extends Dispatcher {
  private readonly proxies: Proxies.Proxies
  private readonly direct: Dispatcher
  private readonly agents: ReadonlyMap<Proxies.Proxy, Dispatcher>

  constructor(proxies: Proxies.Proxies, direct: Dispatcher, agents: ReadonlyMap<Proxies.Proxy, Dispatcher>) {
    super()
    this.proxies = proxies
    this.direct = direct
    this.agents = agents
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const proxy = options.origin === undefined ? undefined : Proxies.proxyFor(this.proxies, new URL(options.origin))
    return ((proxy === undefined ? undefined : this.agents.get(proxy)) ?? this.direct).dispatch(options, handler)
  }

  override destroy(): Promise<void> {
    return Promise.all([this.direct, ...this.agents.values()].map((agent) => agent.destroy())).then(() => {})
  }
}

/**
 * The service may be closing an idle connection, and a request on it then has an unknown outcome. So only requests that may be sent
 * twice reuse connections; every other request uses a new one. A shorter keep-alive would not be enough, because a service may close
 * idle connections at any time.
 */
class Connections extends Dispatcher {
  private readonly kept: Dispatcher
  private readonly fresh: Dispatcher

  constructor(kept: Dispatcher, fresh: Dispatcher) {
    super()
    this.kept = kept
    this.fresh = fresh
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const isIdempotent = options.idempotent ?? (options.method === "GET" || options.method === "HEAD")
    return (isIdempotent ? this.kept : this.fresh).dispatch(options, handler)
  }

  override destroy(): Promise<void> {
    return Promise.all([this.kept.destroy(), this.fresh.destroy()]).then(() => {})
  }
}

/** @since 0.1.0 @category constructors */
export const make = (options: ConnectionOptions): Effect.Effect<Dispatcher, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const keepAlive = Duration.toMillis(options.keepAlive)
      return new Connections(
        agentOf(options, { keepAliveTimeout: keepAlive, keepAliveMaxTimeout: Math.max(keepAlive, longestHint) }),
        // With `pipelining: 0`, undici closes a connection after its request. The timeout closes a connection whose request was
        // aborted during the connect.
        agentOf(options, { pipelining: 0, keepAliveTimeout: 1, keepAliveMaxTimeout: 1 })
      )
    }),
    (connections) => Effect.promise(() => connections.destroy())
  )

// The maximum that a service can set with its `Keep-Alive` header, in milliseconds: undici's default.
const longestHint = 600_000
