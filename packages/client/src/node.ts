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
import type { InvalidSettings } from "./ClientError.js"
import * as Durations from "./Durations.js"
import { fromEither } from "./internal/Compat.js"
import * as Setting from "./internal/Setting.js"
import * as Connections from "./internal/transport/node/Connections.js"
import * as UndiciTransport from "./internal/transport/node/UndiciTransport.js"
import * as Transport from "./internal/transport/Transport.js"

/**
 * Options of the HTTP client.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /**
   * The URL of the proxy for every request, such as `http://user:password@proxy:3128`, or false to use no proxy (default: the
   * variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or their lower-case forms). The client sends requests through a tunnel
   * (CONNECT).
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

const isProxy = (text: string): boolean => URL.canParse(text) && /^(https?|socks5?):$/.test(new URL(text).protocol)

const wrongProxy = "must be the URL of a proxy, such as http://proxy:3128"

const variable = (name: string): Config.Config<string> =>
  Config.string(name.toLowerCase()).pipe(Config.orElse(() => Config.string(name)), Config.withDefault(""))

const proxyVariable = (name: string): Config.Config<string> =>
  Config.mapOrFail(variable(name), (text) =>
    text === "" || isProxy(text) ? Either.right(text) : Either.left(ConfigError.InvalidData([name], wrongProxy)))

const proxiesOfEnvironment: Config.Config<Connections.Proxies> = Config.all({
  http: proxyVariable("HTTP_PROXY"),
  https: proxyVariable("HTTPS_PROXY"),
  except: variable("NO_PROXY")
})

const proxiesOf = (proxy: Options["proxy"]): Effect.Effect<Connections.Proxies, ConfigError.ConfigError | InvalidSettings> =>
  proxy === undefined
    ? proxiesOfEnvironment
    : proxy === false
    ? Effect.succeed({ http: "", https: "", except: "" })
    : isProxy(proxy)
    ? Effect.succeed({ http: proxy, https: proxy, except: "" })
    : Effect.fail(Setting.invalid("proxy", wrongProxy))

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
 * import { Plaza } from "@plaza/client"
 * import * as NodeClient from "@plaza/client/node"
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
 * {@link layerWith} with its defaults, which include the proxy variables of the environment. Dies on an invalid proxy variable; use
 * {@link layerWith} to handle that failure.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.orDie(layerWith({}))
