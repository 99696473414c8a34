/**
 * What the client needs of Node: the HTTP client on undici. This module and the folder of its name alone import anything
 * of Node.
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Exchange from "./Exchange.js"
import * as Connections from "./node/Connections.js"
import * as UndiciExchange from "./node/UndiciExchange.js"

/**
 * An `HttpClient` on undici, which keeps its connections open between requests.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.scoped(
  HttpClient.HttpClient,
  Effect.map(
    Connections.make,
    (dispatcher) => Exchange.offer(NodeHttpClient.makeUndici(dispatcher), UndiciExchange.make(dispatcher))
  )
)
