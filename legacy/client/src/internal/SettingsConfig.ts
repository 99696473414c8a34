/**
 * The settings of a client from the configuration. A module of its own, so that bundlers drop it from pages that pass options.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import * as Durations from "../Durations.ts"
import type { Settings } from "../Settings.ts"
import { checkBaseUrl } from "./BaseUrl.ts"
import { defaultRetry } from "./delivery/Retry.ts"
import { checkApiKey, defaults, parseCount } from "./Setting.ts"
import { userAgent } from "./transport/UserAgent.ts"

const checked = <A, B>(config: Config.Config<A>, check: (value: A) => Either.Either<B, string>): Config.Config<B> =>
  Config.mapOrFail(config, (value) => Either.mapLeft(check(value), (message) => ConfigError.InvalidData([], message)))

/**
 * Whether to accept plain `http` to another machine: the variable `PLAZA_ALLOW_INSECURE_HTTP` (default: false).
 *
 * @since 0.1.0
 * @category config
 */
export const allowInsecureHttp: Config.Config<boolean> = Config.withDefault(Config.boolean("PLAZA_ALLOW_INSECURE_HTTP"), false)

const baseUrl = Config.mapOrFail(
  Config.all([Config.string("PLAZA_BASE_URL"), allowInsecureHttp]),
  ([text, allowInsecureHttp]) =>
    // A config of two variables has no name of its own, so the error names the variable to correct.
    Either.mapLeft(checkBaseUrl(text, { allowInsecureHttp }), (message) => ConfigError.InvalidData(["PLAZA_BASE_URL"], message))
)

/**
 * The settings from the configuration that are the same for every account: `PLAZA_TIMEOUT`, `PLAZA_RATE_LIMIT` and `PLAZA_RATE_WINDOW`.
 * For a program that holds the addresses and keys of several accounts itself.
 *
 * @since 0.1.0
 * @category config
 */
export const sharedConfig: Config.Config<Pick<Settings["Type"], "timeout" | "rateLimit" | "rateWindow">> = Config.all({
  timeout: Config.withDefault(checked(Config.string("PLAZA_TIMEOUT"), Durations.parsePositiveText), defaults.timeout),
  rateLimit: Config.withDefault(checked(Config.number("PLAZA_RATE_LIMIT"), parseCount), defaults.rateLimit),
  rateWindow: Config.withDefault(checked(Config.string("PLAZA_RATE_WINDOW"), Durations.parsePositiveText), defaults.rateWindow)
})

/**
 * {@link config} with the name and version of an application, as in `Options.application`.
 *
 * @since 0.1.0
 * @category config
 */
export const configFor = (application: string | undefined): Config.Config<Settings["Type"]> =>
  Config.all({
    baseUrl,
    // A string, because `Config.redacted` hides the reason of an error. The error of `checkApiKey` doesn't contain the key.
    apiKey: checked(Config.string("PLAZA_API_KEY"), checkApiKey),
    shared: sharedConfig,
    userAgent: Either.match(userAgent(application), {
      onLeft: (message) => Config.fail(`the application's name ${message}`),
      onRight: Config.succeed
    })
  }).pipe(Config.map(({ shared, ...settings }) => ({
    ...settings,
    ...shared,
    retry: defaultRetry,
    maxWait: defaults.maxWait,
    settleTime: defaults.settleTime,
    propagateTrace: false,
    maxResponseBytes: defaults.maxResponseBytes
  })))

/**
 * The settings from the configuration: `PLAZA_BASE_URL` and `PLAZA_API_KEY` (both required), `PLAZA_TIMEOUT`, `PLAZA_RATE_LIMIT`,
 * `PLAZA_RATE_WINDOW` and `PLAZA_ALLOW_INSECURE_HTTP` (all optional; `Plaza.layerConfig` lists the defaults).
 *
 * @since 0.1.0
 * @category config
 */
export const config: Config.Config<Settings["Type"]> = configFor(undefined)
