/**
 * The options of a client. They are validated when its layer is built.
 *
 * @since 0.1.0
 */
import * as ApiKey from "@plaza/domain/ApiKey"
import * as Limits from "@plaza/domain/Limits"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type * as Schedule from "effect/Schedule"
import type { AttemptFailure, InvalidSettings } from "./ClientError.js"
import * as Durations from "./Durations.js"
import { checkBaseUrl } from "./internal/BaseUrl.js"
import { defaultRetry } from "./internal/delivery/Retry.js"
import { named, parseCount } from "./internal/Setting.js"
import { userAgent } from "./internal/transport/UserAgent.js"

/** @since 0.1.0 @category parsing */
export { checkBaseUrl, isLoopback } from "./internal/BaseUrl.js"

/**
 * Options of a client.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The base URL, which ends with `/open/v1`. Plain `http` is accepted for a loopback host only. */
  readonly baseUrl: string
  /** Accepts plain `http` to another machine, which exposes the key to the network (default: false). */
  readonly allowInsecureHttp?: boolean | undefined
  /** The API key: printable ASCII without spaces. The service decides whether it is valid. */
  readonly apiKey: Redacted.Redacted
  /** The timeout of one attempt, including its response; for an upload, the longest time without progress (default: 30 seconds). */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * When to retry, if the delivery class allows a retry. The schedule's input is the failure (default: four retries within two
   * minutes, with an exponential backoff from 250 milliseconds and jitter).
   */
  readonly retry?: Schedule.Schedule<unknown, AttemptFailure> | undefined
  /** The longest time that a call waits for the key's allowance, over all attempts; zero means no wait (default: 5 minutes). */
  readonly maxWait?: Duration.DurationInput | undefined
  /**
   * The longest time that the service needs to finish a failed request and to list a new post. The client searches for a post of
   * unknown outcome for this time (default: 15 seconds).
   */
  readonly settleTime?: Duration.DurationInput | undefined
  /** Requests in a window of the rate limit (default: 120). */
  readonly rateLimit?: number | undefined
  /** The length of that window (default: 60 seconds). */
  readonly rateWindow?: Duration.DurationInput | undefined
  /** Whether to send trace headers to the service, which is a third party (default: false). */
  readonly propagateTrace?: boolean | undefined
  /** The maximum length of a response body in bytes (default: 16 MiB). */
  readonly maxResponseBytes?: number | undefined
  /** The name and version of the application for `User-Agent`, such as `stock-robot/1.2` (default: none). */
  readonly application?: string | undefined
}

/**
 * The validated options.
 *
 * @since 0.1.0
 * @category services
 */
export class Settings extends Context.Tag("@plaza/client/Settings")<Settings, {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted
  readonly timeout: Duration.Duration
  readonly retry: Schedule.Schedule<unknown, AttemptFailure>
  readonly maxWait: Duration.Duration
  readonly settleTime: Duration.Duration
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  readonly propagateTrace: boolean
  readonly maxResponseBytes: number
  readonly userAgent: string
}>() {}

const checkApiKey = (text: string): Either.Either<Redacted.Redacted, string> =>
  Either.mapLeft(ApiKey.parse(text), (malformed) => `is not a key: ${malformed.message}`)

const defaults = {
  timeout: Duration.seconds(30),
  maxWait: Duration.minutes(5),
  settleTime: Duration.seconds(15),
  rateLimit: Limits.requestsPerWindow,
  maxResponseBytes: 16 * 1024 * 1024,
  rateWindow: Limits.rateWindow
}

/**
 * Validates the options of a layer. Fails with `InvalidSettings`, which names the option.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromOptions = (options: Options): Either.Either<Settings["Type"], InvalidSettings> =>
  Either.all({
    baseUrl: named("baseUrl", checkBaseUrl(options.baseUrl, options)),
    apiKey: named("apiKey", checkApiKey(Redacted.value(options.apiKey))),
    timeout: named("timeout", Durations.parsePositive(options.timeout ?? defaults.timeout)),
    retry: Either.right(options.retry ?? defaultRetry),
    maxWait: named("maxWait", Durations.parse(options.maxWait ?? defaults.maxWait)),
    settleTime: named("settleTime", Durations.parse(options.settleTime ?? defaults.settleTime)),
    rateLimit: named("rateLimit", parseCount(options.rateLimit ?? defaults.rateLimit)),
    rateWindow: named("rateWindow", Durations.parsePositive(options.rateWindow ?? defaults.rateWindow)),
    propagateTrace: Either.right(options.propagateTrace ?? false),
    maxResponseBytes: named("maxResponseBytes", parseCount(options.maxResponseBytes ?? defaults.maxResponseBytes)),
    userAgent: named("application", userAgent(options.application))
  })

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
 * {@link config} with the name and version of an application, as in {@link Options.application}.
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
    retry: Config.succeed(defaultRetry),
    maxWait: Config.succeed(defaults.maxWait),
    settleTime: Config.succeed(defaults.settleTime),
    propagateTrace: Config.succeed(false),
    maxResponseBytes: Config.succeed(defaults.maxResponseBytes),
    userAgent: Either.match(userAgent(application), {
      onLeft: (message) => Config.fail(`the application's name ${message}`),
      onRight: Config.succeed
    })
  }).pipe(Config.map(({ shared, ...settings }) => ({ ...settings, ...shared })))

/**
 * The settings from the configuration: `PLAZA_BASE_URL` and `PLAZA_API_KEY` (both required), `PLAZA_TIMEOUT`, `PLAZA_RATE_LIMIT`,
 * `PLAZA_RATE_WINDOW` and `PLAZA_ALLOW_INSECURE_HTTP` (all optional; `Plaza.layerConfig` lists the defaults).
 *
 * @since 0.1.0
 * @category config
 */
export const config: Config.Config<Settings["Type"]> = configFor(undefined)
