/**
 * The HTTP client for Node, on undici. Only this module and `internal/transport/node` import Node.
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { InvalidSettings } from "./ClientError.ts"
import * as Durations from "./Durations.ts"
import * as Setting from "./internal/Setting.ts"
import { CurrentConnection } from "./internal/transport/Connection.ts"
import * as Connections from "./internal/transport/node/Connections.ts"
import * as Proxies from "./internal/transport/node/Proxies.ts"
import * as ProxyVariables from "./internal/transport/node/ProxyVariables.ts"

/**
 * Options of the HTTP client.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /**
   * The address of the proxy for every request, such as `proxy:3128` or `http://user:password@proxy:3128`, or false to use no proxy
   * (default: the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or their lower-case forms). The client sends requests through a
   * tunnel (CONNECT). Requests to this machine, such as `localhost` and `127.0.0.1`, never use a proxy.
   */
  readonly proxy?: string | false | undefined
  /** PEM certificates to trust in addition to those of Node (default: none). */
  readonly ca?: string | ReadonlyArray<string> | undefined
  /**
   * How long to keep an idle connection, if the service doesn't send a `Keep-Alive` header (default: 4 seconds). A request that must
   * not be sent twice uses a new connection, because the service may be closing an idle one.
   */
  readonly keepAlive?: Duration.Input | undefined
  /** The timeout for opening a connection, including the TLS handshake (default: 10 seconds). */
  readonly connectTimeout?: Duration.Input | undefined
}

const defaults = { keepAlive: Duration.seconds(4), connectTimeout: Duration.seconds(10) }

const proxiesOf = (proxy: Options["proxy"]): Effect.Effect<Proxies.Proxies, Config.ConfigError | InvalidSettings> =>
  proxy === undefined
    ? ProxyVariables.config
    : proxy === false
    ? Effect.succeed(Proxies.none)
    : typeof proxy !== "string"
    ? Effect.fail(Setting.invalid("proxy", "must be an address or false"))
    : Effect.fromResult(Setting.named("proxy", Result.map(Proxies.parse(proxy), (parsed) => ({ ...Proxies.none, http: parsed }))))

/** @since 0.1.0 @category getters */
export { proxyFor } from "./internal/transport/node/ProxyVariables.ts"

/** Passes {@link CurrentConnection} to the dispatcher, which records there whether the request had a connection. */
const observed = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transformResponse(client, (response) =>
    Effect.withFiber((fiber) => {
      const connection = fiber.getRef(CurrentConnection)
      if (connection === undefined) {
        return response
      }
      connection.isConnected = false
      const options = { ...fiber.getRef(NodeHttpClient.UndiciOptions), connection, idempotent: connection.isIdempotent }
      return Effect.provideService(response, NodeHttpClient.UndiciOptions, options)
    }))

/** Bun has a stand-in for undici that sends requests by its fetch, without dispatchers. */
const checkRuntime: Effect.Effect<void, InvalidSettings> = Effect.suspend(() =>
  process.versions["bun"] === undefined ? Effect.void : Effect.fail(
    new InvalidSettings({
      setting: "HttpClient",
      message: "@plaza/client/node needs the connections of undici, which Bun doesn't have; use FetchHttpClient.layer of effect/http"
    })
  )
)

// Code without types can pass anything.
const checkCertificates = (ca: string | ReadonlyArray<string>): Result.Result<ReadonlyArray<string>, string> => {
  const certificates = typeof ca === "string" ? [ca] : ca
  return Array.isArray(certificates) && certificates.every((one) => typeof one === "string" && one.includes("-----BEGIN CERTIFICATE-----"))
    ? Result.succeed(certificates)
    : Result.fail("must be one or more texts with certificates in PEM, which begin with -----BEGIN CERTIFICATE-----")
}

const make = ({ ca = [], connectTimeout = defaults.connectTimeout, keepAlive = defaults.keepAlive, proxy }: Options) =>
  Effect.gen(function*() {
    yield* checkRuntime
    const dispatcher = yield* Connections.make({
      proxies: yield* proxiesOf(proxy),
      ca: yield* Effect.fromResult(Setting.named("ca", checkCertificates(ca))),
      keepAlive: yield* Effect.fromResult(Setting.named("keepAlive", Durations.parsePositive(keepAlive))),
      connectTimeout: yield* Effect.fromResult(Setting.named("connectTimeout", Durations.parsePositive(connectTimeout)))
    })
    return observed(yield* Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, dispatcher))
  })

/**
 * An `HttpClient` on undici that keeps connections open between requests that may be sent twice. Fails with `InvalidSettings` for an
 * invalid option and on Bun, which has no connections of undici, and with `ConfigError` for an invalid proxy variable.
 *
 * @example
 * import { Plaza } from "@plaza/client"
 * import * as NodeClient from "@plaza/client/node"
 * import { Layer } from "effect"
 *
 * const live = Layer.provide(Plaza.layerConfig, NodeClient.layerWith({ proxy: false, connectTimeout: "5 seconds" }))
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (options: Options): Layer.Layer<HttpClient.HttpClient, Config.ConfigError | InvalidSettings> =>
  Layer.effect(HttpClient.HttpClient, Effect.suspend(() => make(options ?? {})))

/**
 * {@link layerWith} with its defaults, which include the proxy variables of the environment. Fails for an invalid proxy variable, and
 * dies on Bun.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig: Layer.Layer<HttpClient.HttpClient, Config.ConfigError> = Layer.catchTag(
  layerWith({}),
  "InvalidSettings",
  // The defaults are valid, so this is Bun.
  (error) => Layer.effect(HttpClient.HttpClient, Effect.die(error))
)

/**
 * {@link layerConfig}, but dies on an invalid proxy variable as well.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.orDie(layerConfig)
