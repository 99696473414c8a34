/** The services of the client for a command, from its flags, the environment and the profile. */
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import * as ConfigIssue from "@plaza/cli-kit/ConfigIssue"
import { isServiceError } from "@plaza/cli-kit/ExitCode"
import { Plaza, Settings } from "@plaza/client"
import type * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { name, version } from "../version.ts"
import { type ConnectionFlags, type ConnectionSettings, empty, resolve, variables } from "./ConnectionSettings.ts"
import * as RateLimitFile from "./RateLimitFile.ts"

/** The services of the client and its settings. */
export type Services = Plaza.Services | Settings.Settings

/** Changes the HTTP client, for example to add headers. */
export type Transform = (client: HttpClient.HttpClient) => HttpClient.HttpClient

/** Names what to change: the flag, the variable or the profile with the invalid value. */
const withSource = (error: Config.ConfigError, { apiKey, baseUrl }: ConnectionSettings): Config.ConfigError | UsageError => {
  const { message, variable } = ConfigIssue.of(error)
  const setting = variable === variables.baseUrl ? baseUrl : variable === variables.apiKey ? apiKey : undefined
  if (setting === undefined) {
    return variable === variables.baseUrl
      ? new UsageError({ message: `no base URL is set: run plaza auth login, set ${variable} or use --base-url` })
      : variable === variables.apiKey
      ? new UsageError({ message: `no API key is set: run plaza auth login, or set ${variable} or PLAZA_API_KEY_FILE` })
      : error
  }
  if (setting.from === variable) return error
  const subject = setting.from === "--base-url" ? setting.from : `the ${setting === baseUrl ? "base URL" : "API key"} of ${setting.from}`
  return new UsageError({ message: `${subject}${message.slice(variable.length)}` })
}

/** The environment, overridden by the base URL and the key of a connection. */
const overriding = ({ apiKey, baseUrl }: ConnectionSettings, environment: ConfigProvider.ConfigProvider): ConfigProvider.ConfigProvider => {
  const values: Readonly<Record<string, string | undefined>> = {
    [variables.baseUrl]: baseUrl?.value,
    [variables.apiKey]: apiKey && Redacted.value(apiKey.value)
  }
  return ConfigProvider.make((path) => {
    const value = values[path.join("_")]
    return value === undefined ? environment.load(path) : Effect.succeed(ConfigProvider.makeValue(value))
  })
}

/** The environment overridden by the flags. A profile named by a flag counts as a flag. */
export const configProvider = (
  flags: ConnectionFlags
): Effect.Effect<ConfigProvider.ConfigProvider, Config.ConfigError | UsageError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const environment = yield* ConfigProvider.ConfigProvider
    if (Option.isSome(flags.profile)) return overriding(yield* resolve(flags), environment)
    const baseUrl = Option.getOrUndefined(Option.map(flags.baseUrl, (value) => ({ value, from: "--base-url" })))
    return overriding({ ...empty, baseUrl }, environment)
  })

const application = `${name}/${version}`

/** What differs between commands. */
export interface Options {
  readonly transform?: Transform
  /** The longest wait for the rate limit (default: the client's). */
  readonly maxWait?: Duration.Input
  /** Whether the command uploads or sends many requests (default: false). It then keeps connections open. */
  readonly isLong?: boolean
  /** The file through which the key's rate limit is shared (default: the existing one). */
  readonly rateLimitFile?: RateLimitFile.RateLimitFile
}

/**
 * The HTTP client for a URL. Node's own starts faster than undici by more than Node itself takes to start; only undici has proxies, and
 * reads the refusal of an upload. Why: docs/decisions/054-transport-of-the-command.md.
 */
export const transportFor = (url: string, isLong: boolean) =>
  Effect.gen(function*() {
    const NodeHttp = yield* Effect.promise(() => import("@plaza/client/node-http"))
    const proxy = yield* NodeHttp.proxyFor(new URL(url))
    return isLong || Option.isSome(proxy)
      ? (yield* Effect.promise(() => import("@plaza/client/node"))).layerConfig
      : NodeHttp.layer
  })

/** The services for an account at a base URL. */
export const layerOf = (
  settings: ConnectionSettings,
  { isLong = false, maxWait, rateLimitFile = RateLimitFile.find, transform = (client) => client }: Options = {}
): Layer.Layer<Services, Config.ConfigError | UsageError, FileSystem.FileSystem> =>
  Layer.unwrap(Effect.gen(function*() {
    const environment = yield* ConfigProvider.ConfigProvider
    const provider = overriding(settings, environment)
    const validated = yield* Settings.configFor(application).parse(provider).pipe(
      Effect.mapError((error) => withSource(error, settings))
    )
    const file = yield* rateLimitFile
    const http = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, transform)).pipe(
      Layer.provide(yield* transportFor(validated.baseUrl, isLong))
    )
    const options = { ...validated, ...(maxWait === undefined ? {} : { maxWait }), allowInsecureHttp: true, application }
    // The configuration has checked the options, and whether http is accepted.
    const plaza = Option.isNone(file)
      ? Layer.orDie(Plaza.layer(options))
      : Layer.provideMerge(
        Layer.orDie(Plaza.layerWithoutRateLimit(options)),
        (yield* Effect.promise(() => import("./SharedRateLimit.ts"))).layer(file.value, validated)
      )
    return Layer.merge(Layer.provide(plaza, http), Layer.succeed(Settings.Settings, validated))
  }))

/** The services by flags, environment and profile. */
export const layer = (
  flags: ConnectionFlags,
  options?: Options
): Layer.Layer<Services, Config.ConfigError | UsageError, FileSystem.FileSystem> =>
  Layer.unwrap(Effect.map(resolve(flags), (settings) => layerOf(settings, options)))

/** Explains a 404 of `GET /me`, which every service has: the base URL is wrong. */
export const explainWrongBaseUrl = <A, E, R>(me: Effect.Effect<A, E, R>): Effect.Effect<A, E | Explained, R> =>
  Effect.mapError(me, (cause) =>
    isServiceError(cause) && cause.status === 404 && cause.code !== undefined
      ? new Explained({ cause, explanation: "The base URL has no GET /me: check that it ends with /open/v1." })
      : cause)
