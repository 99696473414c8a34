/**
 * The connections of the client on Node, by undici: which requests may share one, through which proxy they go, and what
 * undici doesn't do for them by itself.
 *
 * @since 0.1.0
 */
import { Agent, buildConnector, Dispatcher, EnvHttpProxyAgent, Pool } from "@effect/platform-node/Undici"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Socket } from "node:net"
import Tls from "node:tls"
import * as Buffers from "../../upload/Buffers.js"

/** @since 0.1.0 @category models */
export interface Proxies {
  /** For `http` addresses; empty for none. */
  readonly http: string
  /** For `https` addresses; empty for none. */
  readonly https: string
  /** Hosts that are reached directly, as in `NO_PROXY`. */
  readonly except: string
}

/** @since 0.1.0 @category models */
export interface ConnectionOptions {
  readonly proxies: Proxies
  /** Certificates to trust beside those of Node, in PEM. */
  readonly ca: ReadonlyArray<string>
  readonly keepAlive: Duration.Duration
  readonly connectTimeout: Duration.Duration
}

type Written = (error?: Error | null) => void

const givesBack = (part: Uint8Array): Written => (error) => {
  // What could not be written may be on its way still.
  if (error === undefined || error === null) {
    Buffers.giveBack(part)
  }
}

/**
 * Only a socket's own callback tells for certain that what was written to it is gone. Undici doesn't ask for it, so it is
 * asked for here. Undici hands each part to one socket, in their order, and keeps none.
 */
const givingBack = (socket: Socket): Socket => {
  const write: Socket["write"] = socket.write.bind(socket)
  socket.write = (part: Uint8Array | string, encoding?: BufferEncoding | Written, written?: Written) =>
    typeof encoding === "string"
      ? write(part, encoding, written)
      : write(part, encoding === undefined && typeof part !== "string" && Buffers.isLastPart(part) ? givesBack(part) : encoding)
  return socket
}

// What a write meets once the other side has closed the connection.
const isClosedBehind = (error: NodeJS.ErrnoException | null | undefined): boolean => error?.code === "EPIPE" || error?.code === "ECONNRESET"

/**
 * A service may refuse an upload and close the connection while the upload is still going out. The next write then fails
 * while the refusal waits to be read, and Node would destroy the socket with it. So a write that fails like this stays
 * pending: reading goes on, and its end or its error ends the request.
 */
const readingOn = (socket: Socket): Socket => {
  const held = (done: Written): Written => (error) => {
    if (!isClosedBehind(error)) {
      done(error)
    }
  }
  const write = socket._write.bind(socket)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, held(done))
  const writev = socket._writev?.bind(socket)
  if (writev !== undefined) {
    socket._writev = (chunks, done) => writev(chunks, held(done))
  }
  return socket
}

// A proxy that hangs up or refuses: undici goes on trying for the first two, and nothing tells that nothing was sent.
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
      callback(null, readingOn(givingBack(socket)))
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
    // Both kinds of agent, with a proxy and without, come here with the way that they connect by.
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
 * A connection that has been idle may be one that the service is just closing, and a request that meets this is lost: it
 * may or may not have been handled. So connections are kept for requests that may be repeated, and every other request
 * has one of its own. No time limit for idle connections would do instead, because a service need not announce its own.
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
        // Without pipelining, undici closes a connection after its request. The timeout closes one that was made for a
        // request which was given up meanwhile.
        agentOf(options, { pipelining: 0, keepAliveTimeout: 1, keepAliveMaxTimeout: 1 })
      )
    }),
    (connections) => Effect.promise(() => connections.destroy())
  )

// What a service may ask for at most by its `Keep-Alive` header, in milliseconds: undici's own default.
const longestHint = 600_000
