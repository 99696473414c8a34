/**
 * The connections of the client on Node, by undici: keep-alive, proxies, certificates, and a new connection for every request
 * that may not be sent twice.
 *
 * @since 0.1.0
 */
import { Agent, buildConnector, Dispatcher, EnvHttpProxyAgent, Pool } from "@effect/platform-node/Undici"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import Tls from "node:tls"
import * as SocketWrites from "./SocketWrites.js"

/** @since 0.1.0 @category models */
export interface Proxies {
  /** For `http` addresses; empty for none. */
  readonly http: string
  /** For `https` addresses; empty for none. */
  readonly https: string
  /** Hosts to reach directly, as in `NO_PROXY`. */
  readonly except: string
}

/** @since 0.1.0 @category models */
export interface ConnectionOptions {
  readonly proxies: Proxies
  /** Certificates to trust in addition to those of Node, in PEM. */
  readonly ca: ReadonlyArray<string>
  readonly keepAlive: Duration.Duration
  readonly connectTimeout: Duration.Duration
}

// A proxy that closes the connection or refuses the tunnel. Undici's codes do not say that nothing was sent to the service, and
// by the first two it would go on trying.
const proxyFailures: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: "PROXY_CLOSED",
  UND_ERR_INFO: "PROXY_CLOSED",
  UND_ERR_ABORTED: "PROXY_REFUSED"
}

const connectFailure = (error: NodeJS.ErrnoException): Error => {
  const code = proxyFailures[error.code ?? ""]
  return code === undefined ? error : Object.assign(new Error(error.message, { cause: error }), { code, syscall: "connect" })
}

const preparing = (connect: buildConnector.connector): buildConnector.connector => (options, callback) =>
  connect(options, (...[error, socket]) => {
    if (error === null) {
      callback(null, SocketWrites.prepare(socket))
    } else {
      callback(connectFailure(error), null)
    }
  })

const agentOf = ({ ca, connectTimeout, proxies }: ConnectionOptions, options: Agent.Options): Dispatcher => {
  const tls = {
    timeout: Duration.toMillis(connectTimeout),
    // A list replaces the certificates of Node.
    ...(ca.length === 0 ? {} : { ca: [...Tls.rootCertificates, ...ca] })
  }
  const all: Agent.Options = {
    ...options,
    connect: buildConnector(tls),
    // Both kinds of agent, with and without a proxy, make their pools here, each with its own connector.
    factory: (origin, options: Pool.Options) =>
      new Pool(origin, typeof options.connect === "function" ? { ...options, connect: preparing(options.connect) } : options)
  }
  return proxies.http === "" && proxies.https === ""
    ? new Agent(all)
    : new EnvHttpProxyAgent({
      ...all,
      httpProxy: proxies.http,
      httpsProxy: proxies.https,
      noProxy: proxies.except,
      requestTls: tls,
      proxyTls: tls
    })
}

/**
 * The service may be closing an idle connection, and a request on it is then lost with an unknown outcome. So only requests that
 * may be sent twice use kept connections; every other request has a new one. A shorter keep-alive would not do, because a service
 * need not announce its own.
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
        // Without pipelining, undici closes a connection after its request. The timeout closes one whose request was aborted
        // while it connected.
        agentOf(options, { pipelining: 0, keepAliveTimeout: 1, keepAliveMaxTimeout: 1 })
      )
    }),
    (connections) => Effect.promise(() => connections.destroy())
  )

// The longest time that a service can ask for by its `Keep-Alive` header, in milliseconds: undici's default.
const longestHint = 600_000
