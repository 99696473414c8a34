/**
 * What the client needs of Node: the HTTP client on undici. The only module that imports anything of Node.
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Layer from "effect/Layer"

/**
 * An `HttpClient` on undici, which keeps its connections open between requests.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = NodeHttpClient.layerUndici
