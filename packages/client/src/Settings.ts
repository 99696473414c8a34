/**
 * What a client is made with, checked before anything is sent. Knows nothing of HTTP.
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
import { InvalidSettings } from "./Failures.js"
import { defaultRetry } from "./Retry.js"

/** @since 0.1.0 @category models */
export interface Options {
  /** Ends with the version segment, `/open/v1`. */
  readonly baseUrl: string
  /** `<prefix>_<40 characters>`. */
  readonly apiKey: Redacted.Redacted
  /** Time for one attempt, from sending to the end of the answer; for an upload, without progress. 30 seconds unless told. */
  readonly timeout?: Duration.DurationInput | undefined
  /** When to send again what may be sent again. */
  readonly retry?: Schedule.Schedule<unknown> | undefined
  /** The longest wait for the key's allowance that a call puts up with. 5 minutes unless told. */
  readonly patience?: Duration.DurationInput | undefined
  /** Requests in a window; 120 unless told. */
  readonly rateLimit?: number | undefined
  /** Length of the window; 60 seconds unless told. */
  readonly rateWindow?: Duration.DurationInput | undefined
  /** Whether requests carry the headers of the trace that they are part of. Not unless told: they go to a third party. */
  readonly propagateTrace?: boolean | undefined
}

/** @since 0.1.0 @category services */
export class Settings extends Context.Tag("@plaza/client/Settings")<Settings, {
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted
  readonly timeout: Duration.Duration
  readonly retry: Schedule.Schedule<unknown>
  readonly patience: Duration.Duration
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  readonly propagateTrace: boolean
}>() {}

/**
 * A base address that can be used, without a slash at its end, or what it has to be.
 *
 * @since 0.1.0
 * @category parsing
 */
export const checkBaseUrl = (text: string): Either.Either<string, string> => {
  if (!URL.canParse(text)) {
    return Either.left("must be an address such as https://host/open/v1")
  }
  const url = new URL(text)
  return url.protocol !== "http:" && url.protocol !== "https:"
    ? Either.left("must begin with http:// or https://")
    : url.username !== "" || url.password !== ""
    ? Either.left("must not hold a user name or a password; the key goes in by itself")
    : url.search !== "" || url.hash !== ""
    ? Either.left("must end with its path (/open/v1), without ? or #")
    : Either.right(text.replace(/\/+$/, ""))
}

const checkApiKey = (text: string): Either.Either<Redacted.Redacted, string> =>
  Either.mapLeft(ApiKey.parse(text), (malformed) => `is not a key: ${malformed.message}`)

const checkRateLimit = (limit: number): Either.Either<number, string> =>
  Number.isInteger(limit) && limit >= 1 ? Either.right(limit) : Either.left("must be a whole number of at least 1")

const checkPositive = (duration: Duration.Duration): Either.Either<Duration.Duration, string> =>
  Duration.greaterThan(duration, Duration.zero)
    ? Either.right(duration)
    : Either.left(`must be longer than nothing, as in "30 seconds"`)

const defaults = {
  timeout: Duration.seconds(30),
  patience: Duration.minutes(5),
  rateLimit: Limits.requestsPerWindow,
  rateWindow: Limits.rateWindow
}

/**
 * Checks the options of a layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromOptions = (options: Options): Either.Either<Settings["Type"], InvalidSettings> => {
  const named = <A>(setting: string, checked: Either.Either<A, string>) =>
    Either.mapLeft(checked, (message) => new InvalidSettings({ setting, message: `${setting} ${message}` }))
  return Either.all({
    baseUrl: named("baseUrl", checkBaseUrl(options.baseUrl)),
    apiKey: named("apiKey", checkApiKey(Redacted.value(options.apiKey))),
    timeout: named("timeout", checkPositive(Duration.decode(options.timeout ?? defaults.timeout))),
    retry: Either.right(options.retry ?? defaultRetry),
    patience: Either.right(Duration.decode(options.patience ?? defaults.patience)),
    rateLimit: named("rateLimit", checkRateLimit(options.rateLimit ?? defaults.rateLimit)),
    rateWindow: named("rateWindow", checkPositive(Duration.decode(options.rateWindow ?? defaults.rateWindow))),
    propagateTrace: Either.right(options.propagateTrace ?? false)
  })
}

const checked = <A, B>(config: Config.Config<A>, check: (value: A) => Either.Either<B, string>): Config.Config<B> =>
  Config.mapOrFail(config, (value) => Either.mapLeft(check(value), (message) => ConfigError.InvalidData([], message)))

/**
 * The settings as the environment gives them: `PLAZA_BASE_URL` and `PLAZA_API_KEY`, and optionally `PLAZA_TIMEOUT`,
 * `PLAZA_RATE_LIMIT` and `PLAZA_RATE_WINDOW`.
 *
 * @since 0.1.0
 * @category config
 */
export const config: Config.Config<Settings["Type"]> = Config.all({
  baseUrl: checked(Config.string("PLAZA_BASE_URL"), checkBaseUrl),
  // Read as a string, because a redacted setting hides what is wrong with it as well; the check never tells the text.
  apiKey: checked(Config.string("PLAZA_API_KEY"), checkApiKey),
  timeout: Config.withDefault(checked(Config.duration("PLAZA_TIMEOUT"), checkPositive), defaults.timeout),
  retry: Config.succeed(defaultRetry),
  patience: Config.succeed(defaults.patience),
  rateLimit: Config.withDefault(checked(Config.number("PLAZA_RATE_LIMIT"), checkRateLimit), defaults.rateLimit),
  rateWindow: Config.withDefault(checked(Config.duration("PLAZA_RATE_WINDOW"), checkPositive), defaults.rateWindow),
  propagateTrace: Config.succeed(false)
})
