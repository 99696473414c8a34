/**
 * The options of a client. They are validated when its layer is built.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Issue from "effect/SchemaIssue"
import { checkObserver, checkRetry } from "./CallOptions.ts"
import type { OnAttempt } from "./CallOptions.ts"
import type { AttemptFailure, InvalidSettings } from "./ClientError.ts"
import * as Durations from "./Durations.ts"
import { checkBaseUrl } from "./internal/BaseUrl.ts"
import { checkApiKey, defaults, named, parseCount, userAgent } from "./internal/Setting.ts"
import * as Variables from "./internal/Variables.ts"

/** @since 0.1.0 @category parsing */
export { checkBaseUrl, isLoopback } from "./internal/BaseUrl.ts"

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
  readonly timeout?: Duration.Input | undefined
  /**
   * When to retry, if the delivery class allows a retry. The schedule's input is the failure (default: four retries within two
   * minutes, with an exponential backoff from 250 milliseconds and jitter).
   */
  readonly retry?: Schedule.Schedule<unknown, AttemptFailure> | undefined
  /**
   * Whether to stop retries during an outage (default: true). A client has 500 tokens. A retry after an ambiguous failure or a failed
   * connection takes 14, and a success returns one. Without tokens a call fails with its last failure at once. The requests of the
   * search for a post are free.
   */
  readonly retryBudget?: boolean | undefined
  /** Observes each attempt of every call: see `Plaza.onAttempt` (default: nothing). */
  readonly onAttempt?: OnAttempt | undefined
  /** The longest time that a call waits for the key's allowance, over all attempts; zero means no wait (default: 5 minutes). */
  readonly maxWait?: Duration.Input | undefined
  /**
   * The longest time that the service needs to finish a failed request and to list a new post. The client searches for a post of
   * unknown outcome for this time (default: 15 seconds).
   */
  readonly settleTime?: Duration.Input | undefined
  /** Requests in a window of the rate limit (default: 120). */
  readonly rateLimit?: number | undefined
  /** The length of that window (default: 60 seconds). */
  readonly rateWindow?: Duration.Input | undefined
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
export class Settings extends Context.Service<Settings, {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted
  readonly timeout: Duration.Duration
  readonly retry: Schedule.Schedule<unknown, AttemptFailure>
  readonly retryBudget: boolean
  readonly onAttempt: OnAttempt | undefined
  readonly maxWait: Duration.Duration
  readonly settleTime: Duration.Duration
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  readonly propagateTrace: boolean
  readonly maxResponseBytes: number
  readonly userAgent: string
}>()("@plaza/client/Settings") {}

/**
 * The default retry schedule: at most four retries within two minutes, with an exponential backoff from 250 milliseconds. The jitter
 * prevents clients that failed together from retrying together. A `Retry-After` applies in addition, within the call's maximum wait. The
 * schedule decides when to retry; the delivery class decides whether a retry is safe.
 * Source: interface v1, "Retry rules".
 *
 * @since 0.1.0
 * @category defaults
 */
export const defaultRetry: Schedule.Schedule<unknown> = /*#__PURE__*/ Schedule.exponential("250 millis").pipe(
  Schedule.jittered,
  Schedule.upTo({ times: 4, duration: "2 minutes" })
)

// Types are not enough, because code without types can pass anything.
const checkFlag = (flag: boolean): Result.Result<boolean, string> =>
  typeof flag === "boolean" ? Result.succeed(flag) : Result.fail("must be true or false")

const checkInsecureHttp = ({ allowInsecureHttp }: Options): Result.Result<boolean, string> =>
  Result.mapError(checkFlag(allowInsecureHttp ?? false), () => "needs allowInsecureHttp to be true or false")

const checkRedacted = (apiKey: Redacted.Redacted): Result.Result<Redacted.Redacted, string> =>
  Redacted.isRedacted(apiKey) && typeof Redacted.value(apiKey) === "string"
    ? checkApiKey(Redacted.value(apiKey))
    : Result.fail("must be a redacted text: pass Redacted.make(key)")

/**
 * Validates the options of a layer. Fails with `InvalidSettings`, which names the option.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromOptions = (options: Options): Result.Result<Settings["Service"], InvalidSettings> =>
  Result.all({
    baseUrl: named(
      "baseUrl",
      Result.andThen(checkInsecureHttp(options),
        (allowInsecureHttp) => checkBaseUrl(options.baseUrl, { allowInsecureHttp, allowedBy: "allowInsecureHttp: true" }))
    ),
    apiKey: named("apiKey", checkRedacted(options.apiKey)),
    timeout: named("timeout", Durations.parsePositive(options.timeout ?? defaults.timeout)),
    retry: named("retry", checkRetry(options.retry ?? defaultRetry)),
    retryBudget: named("retryBudget", checkFlag(options.retryBudget ?? true)),
    onAttempt: named("onAttempt", checkObserver(options.onAttempt)),
    maxWait: named("maxWait", Durations.parse(options.maxWait ?? defaults.maxWait)),
    settleTime: named("settleTime", Durations.parse(options.settleTime ?? defaults.settleTime)),
    rateLimit: named("rateLimit", parseCount(options.rateLimit ?? defaults.rateLimit)),
    rateWindow: named("rateWindow", Durations.parsePositive(options.rateWindow ?? defaults.rateWindow)),
    propagateTrace: named("propagateTrace", checkFlag(options.propagateTrace ?? false)),
    maxResponseBytes: named("maxResponseBytes", parseCount(options.maxResponseBytes ?? defaults.maxResponseBytes)),
    userAgent: named("application", userAgent(options.application))
  })

/**
 * Whether to accept plain `http` to another machine: the variable `PLAZA_ALLOW_INSECURE_HTTP` (default: false).
 *
 * @since 0.1.0
 * @category config
 */
export const allowInsecureHttp: Config.Config<boolean> = /*#__PURE__*/ Variables.optional(
  "PLAZA_ALLOW_INSECURE_HTTP",
  // The words of the platform, whose message lists them.
  (text) =>
    /^(?:true|yes|on|1|y)$/.test(text)
      ? Result.succeed(true)
      : /^(?:false|no|off|0|n)$/.test(text)
      ? Result.succeed(false)
      : Result.fail("must be true or false"),
  false
)

// In a function, so that bundlers drop it from pages that pass options.
const makeSharedConfig = () =>
  Config.all({
    timeout: Variables.optional("PLAZA_TIMEOUT", Durations.parsePositiveText, defaults.timeout),
    rateLimit: Variables.optional("PLAZA_RATE_LIMIT", (text) => parseCount(Number(text)), defaults.rateLimit),
    rateWindow: Variables.optional("PLAZA_RATE_WINDOW", Durations.parsePositiveText, defaults.rateWindow)
  })

/**
 * Reads the settings that are the same for every account: `PLAZA_TIMEOUT`, `PLAZA_RATE_LIMIT` and `PLAZA_RATE_WINDOW`. For a program with
 * its own addresses and keys of several accounts.
 *
 * @since 0.1.0
 * @category config
 */
export const sharedConfig: Config.Config<Pick<Settings["Service"], "timeout" | "rateLimit" | "rateWindow">> =
  /*#__PURE__*/ makeSharedConfig()

/**
 * {@link config} with the name and version of an application, as in `Options.application`.
 *
 * @since 0.1.0
 * @category config
 */
export const configFor = (application: string | undefined): Config.Config<Settings["Service"]> =>
  Config.all({
    baseUrl: Config.flatMap(allowInsecureHttp,
      (allowInsecureHttp) => Variables.required("PLAZA_BASE_URL", (text) => checkBaseUrl(text, { allowInsecureHttp }))),
    apiKey: Variables.required("PLAZA_API_KEY", checkApiKey),
    shared: sharedConfig,
    userAgent: Result.match(userAgent(application), {
      onFailure: (message) => Config.fail(new Schema.SchemaError(new Issue.InvalidValue({ message: `the application's name ${message}` }))),
      onSuccess: Config.succeed
    })
  }).pipe(Config.map(({ shared, ...settings }) => ({
    ...settings,
    ...shared,
    retry: defaultRetry,
    retryBudget: true,
    onAttempt: undefined,
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
export const config: Config.Config<Settings["Service"]> = /*#__PURE__*/ configFor(undefined)
