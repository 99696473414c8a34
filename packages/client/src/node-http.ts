/**
 * The HTTP client for a short process on Node, on `node:http`. It loads in a fraction of the time of `@plaza/client/node`, opens a
 * connection for each request, and uses no proxy.
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Fiber from "effect/Fiber"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Http from "node:http"
import * as Https from "node:https"
import type { Socket } from "node:net"
import { CurrentConnection } from "./internal/transport/Connection.ts"

/** @since 0.1.0 @category getters */
export { proxyFor } from "./internal/transport/node/ProxyVariables.ts"

/** The time to open a connection, TLS included, in milliseconds. As in `@plaza/client/node`. */
const connectTimeout = 10_000

const timeoutError = () =>
  Object.assign(new Error(`the connection was not open after ${connectTimeout / 1000} seconds`), { code: "ETIMEDOUT", syscall: "connect" })

/**
 * Records when the request of this fiber gets its connection, and limits the wait for it. Node creates the connection within the call that
 * creates the request, so the fiber is that of the request.
 */
const observe = (socket: Socket, event: "connect" | "secureConnect"): Socket => {
  const connection = Fiber.getCurrent()?.getRef(CurrentConnection)
  if (connection !== undefined) connection.isConnected = false
  const startedAt = performance.now()
  const timer = setTimeout(() => socket.destroy(timeoutError()), connectTimeout)
  socket.once("close", () => clearTimeout(timer))
  socket.once(event, () => {
    clearTimeout(timer)
    // After the process was suspended, the system reports an open connection before the timer ends the wait for it.
    if (performance.now() - startedAt > connectTimeout) socket.destroy(timeoutError())
    else if (connection !== undefined) connection.isConnected = true
  })
  return socket
}

class HttpAgent extends Http.Agent {
  override createConnection(...args: Parameters<Http.Agent["createConnection"]>) {
    // The cast is true: Node's agents connect by net.connect and tls.connect.
    return observe(super.createConnection(...args) as Socket, "connect")
  }
}

class HttpsAgent extends Https.Agent {
  override createConnection(...args: Parameters<Https.Agent["createConnection"]>) {
    // As above.
    return observe(super.createConnection(...args) as Socket, "secureConnect")
  }
}

/**
 * An `HttpClient` on `node:http`. It reports, as that of `@plaza/client/node`, whether a request had a connection, so that a call that
 * never left fails with `ConnectionFailed`. Use `@plaza/client/node` for uploads, for many requests, and if {@link proxyFor} returns a proxy.
 *
 * @example
 * import { Plaza } from "@plaza/client"
 * import * as NodeHttp from "@plaza/client/node-http"
 * import { Layer } from "effect"
 *
 * const live = Layer.provide(Plaza.layerConfig, NodeHttp.layer)
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = NodeHttpClient.layerNodeHttpNoAgent.pipe(
  Layer.provide(Layer.sync(NodeHttpClient.HttpAgent, () => ({ http: new HttpAgent(), https: new HttpsAgent() })))
)
