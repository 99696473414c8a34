/**
 * The HTTP client for Node, on undici. Only this module and `internal/transport/node` import Node.
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { InvalidSettings } from "./ClientError.ts"
import * as Durations from "./Durations.ts"
import { fromEither } from "./internal/Compat.ts"
import * as Setting from "./internal/Setting.ts"
import * as Connections from "./internal/transport/node/Connections.ts"
import * as Proxies from "./internal/transport/node/Proxies.ts"
import * as UndiciTransport from "./internal/transport/node/UndiciTransport.ts"
import * as Transport from "./internal/transport/Transport.ts"

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
  readonly keepAlive?: Duration.DurationInput | undefined
  /** The timeout for opening a connection, including the TLS handshake (default: 10 seconds). */
  readonly connectTimeout?: Duration.DurationInput | undefined
}

const defaults = { keepAlive: Duration.seconds(4), connectTimeout: Duration.seconds(10) }

/** Empty if it is not set. */
const variable = (name: string): Config.Config<string> => Config.map(Config.withDefault(Config.string(name), ""), (text) => text.trim())

/** The lower-case form precedes, unless it is blank. */
const named = (name: string): Config.Config<readonly [name: string, text: string]> =>
  Config.zipWith(variable(name.toLowerCase()), variable(name), (lower, upper) => lower === "" ? [name, upper] : [name.toLowerCase(), lower])

const proxyVariable = (name: string): Config.Config<Proxies.Proxy | undefined> =>
  Config.mapOrFail(named(name), ([name, text]) =>
    text === ""
      ? Either.right(undefined)
      : Either.mapLeft(Proxies.parse(text), (required) => ConfigError.InvalidData([name], required)))

const proxiesOfEnvironment: Config.Config<Proxies.Proxies> = Config.all({
  http: proxyVariable("HTTP_PROXY"),
  https: proxyVariable("HTTPS_PROXY"),
  isExcepted: Config.map(named("NO_PROXY"), ([, list]) => Proxies.parseExceptions(list))
})

const proxiesOf = (proxy: Options["proxy"]): Effect.Effect<Proxies.Proxies, ConfigError.ConfigError | InvalidSettings> =>
  proxy === undefined
    ? proxiesOfEnvironment
    : proxy === false
    ? Effect.succeed(Proxies.none)
    : fromEither(Setting.named("proxy", Either.map(Proxies.parse(proxy), (parsed) => ({ ...Proxies.none, http: parsed }))))

/**
 * Returns the address of the proxy by which {@link layer} sends a request to a URL, without user and password. Returns none if it connects
 * directly. Fails for an invalid proxy variable.
 *
 * @since 0.1.0
 * @category getters
 */
export const proxyFor = (url: URL): Effect.Effect<Option.Option<string>, ConfigError.ConfigError> =>
  Effect.map(proxiesOfEnvironment, (proxies) => Option.fromNullable(Proxies.proxyFor(proxies, url)?.url))

const make = ({ ca = [], connectTimeout = defaults.connectTimeout, keepAlive = defaults.keepAlive, proxy }: Options) =>
  Effect.gen(function*() {
    const dispatcher = yield* Connections.make({
      proxies: yield* proxiesOf(proxy),
      ca: typeof ca === "string" ? [ca] : ca,
      keepAlive: yield* fromEither(Setting.named("keepAlive", Durations.parsePositive(keepAlive))),
      connectTimeout: yield* fromEither(Setting.named("connectTimeout", Durations.parsePositive(connectTimeout)))
    })
    return Transport.attach(NodeHttpClient.makeUndici(dispatcher), UndiciTransport.make(dispatcher))
  })

/**
 * An `HttpClient` on undici that keeps connections open between requests that may be sent twice. Fails with `InvalidSettings` for an
 * invalid option, and with `ConfigError` for an invalid proxy variable.
 *
 * @example
 * import { Plaza } from "@plaza-legacy/client"
 * import * as NodeClient from "@plaza-legacy/client/node"
 * import { Layer } from "effect"
 *
 * const live = Layer.provide(Plaza.layerConfig, NodeClient.layerWith({ proxy: false, connectTimeout: "5 seconds" }))
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (options: Options): Layer.Layer<HttpClient.HttpClient, ConfigError.ConfigError | InvalidSettings> =>
  Layer.scoped(HttpClient.HttpClient, make(options))

/**
 * {@link layerWith} with its defaults, which include the proxy variables of the environment. Fails for an invalid proxy variable.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig: Layer.Layer<HttpClient.HttpClient, ConfigError.ConfigError> = Layer.catchAll(
  layerWith({}),
  // The defaults are valid.
  (error) => error._tag === "InvalidSettings" ? Layer.die(error) : Layer.fail(error)
)

/**
 * {@link layerConfig}, but dies on an invalid proxy variable.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.orDie(layerConfig)
