/**
 * The proxies in the environment.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Variables from "../../Variables.ts"
import * as Proxies from "./Proxies.ts"

/** The lower-case form precedes, unless it is blank. */
const named = (name: string): Config.Config<readonly [name: string, text: string]> =>
  Config.map(
    Config.all([Variables.text(name.toLowerCase()), Variables.text(name)]),
    ([lower, upper]) => lower === "" ? [name, upper] : [name.toLowerCase(), lower]
  )

const proxyVariable = (name: string): Config.Config<Proxies.Proxy | undefined> =>
  Config.mapEffect(named(name), ([name, text]) => text === "" ? Effect.undefined : Variables.parse(name, text, Proxies.parse))

/**
 * The proxies of the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or their lower-case forms.
 *
 * @since 0.1.0
 * @category config
 */
export const config: Config.Config<Proxies.Proxies> = Config.all({
  http: proxyVariable("HTTP_PROXY"),
  https: proxyVariable("HTTPS_PROXY"),
  isExcepted: Config.map(named("NO_PROXY"), ([, list]) => Proxies.parseExceptions(list))
})

/**
 * Returns the address of the proxy by which the client sends a request to a URL, without user and password. Returns none if it connects
 * directly. Fails for an invalid proxy variable.
 *
 * @since 0.1.0
 * @category getters
 */
export const proxyFor = (url: URL): Effect.Effect<Option.Option<string>, Config.ConfigError> =>
  Effect.map(config, (proxies) => Option.fromUndefinedOr(Proxies.proxyFor(proxies, url)?.url))
