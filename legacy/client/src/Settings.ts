/**
 * The options of a client. They are validated when its layer is built.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type * as Schedule from "effect/Schedule"
import type { AttemptFailure, InvalidSettings } from "./ClientError.ts"
import * as Durations from "./Durations.ts"
import { checkBaseUrl } from "./internal/BaseUrl.ts"
import { defaultRetry } from "./internal/delivery/Retry.ts"
import { checkApiKey, defaults, named, parseCount } from "./internal/Setting.ts"
import { userAgent } from "./internal/transport/UserAgent.ts"

/** @since 0.1.0 @category parsing */
export { checkBaseUrl, isLoopback } from "./internal/BaseUrl.ts"

/** @since 0.1.0 @category config */
export { allowInsecureHttp, config, configFor, sharedConfig } from "./internal/SettingsConfig.ts"

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
export class Settings extends Context.Tag("@plaza-legacy/client/Settings")<Settings, {
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
