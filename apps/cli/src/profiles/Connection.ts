/** The services of the client for a command, from its flags, the environment and the profile. */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import { Plaza, Settings } from "@plaza-legacy/client"
import { UsageError } from "@plaza/cli-kit/CliError"
import type * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
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

// Reports one thing to change at a time: the first one, as `Report` does.
const first = (error: ConfigError.ConfigError): ConfigError.ConfigError =>
  error._op === "And" || error._op === "Or" ? first(error.left) : error

/** Names what to change: the flag, the variable or the profile with the invalid value. */
const withSource = (error: ConfigError.ConfigError, { apiKey, baseUrl }: ConnectionSettings): ConfigError.ConfigError | UsageError => {
  const cause = first(error)
  if (cause._op === "And" || cause._op === "Or") return error
  const variable = cause.path.join("_")
  const setting = variable === variables.baseUrl ? baseUrl : variable === variables.apiKey ? apiKey : undefined
  if (cause._op === "MissingData") {
    return variable === variables.baseUrl
      ? new UsageError({ message: `no base URL is set: run plaza auth login, set ${variable} or use --base-url` })
      : variable === variables.apiKey
      ? new UsageError({ message: `no API key is set: run plaza auth login, or set ${variable} or PLAZA_API_KEY_FILE` })
      : error
  }
  if (setting === undefined || setting.from === variable) return error
  const subject = setting.from === "--base-url" ? setting.from : `the ${setting === baseUrl ? "base URL" : "API key"} of ${setting.from}`
  return new UsageError({ message: `${subject} is invalid: ${cause.message}` })
}

/** The environment, overridden by the base URL and the key of a connection. */
const overriding = ({ apiKey, baseUrl }: ConnectionSettings, environment: ConfigProvider.ConfigProvider): ConfigProvider.ConfigProvider =>
  ConfigProvider.orElse(
    ConfigProvider.fromMap(
      new Map([
        ...(baseUrl === undefined ? [] : [[variables.baseUrl, baseUrl.value] as const]),
        ...(apiKey === undefined ? [] : [[variables.apiKey, Redacted.value(apiKey.value)] as const])
      ]),
      { pathDelim: "_" }
    ),
    () => environment
  )

/** The environment overridden by the flags. A profile named by a flag counts as a flag. */
export const configProvider = (
  flags: ConnectionFlags
): Effect.Effect<ConfigProvider.ConfigProvider, ConfigError.ConfigError | UsageError, FileSystem.FileSystem> =>
  Effect.configProviderWith((environment) =>
    Option.isSome(flags.profile)
      ? Effect.map(resolve(flags), (settings) => overriding(settings, environment))
      : Effect.succeed(overriding(
        { ...empty, baseUrl: Option.getOrUndefined(Option.map(flags.baseUrl, (value) => ({ value, from: "--base-url" }))) },
        environment
      ))
  )

const application = `${name}/${version}`

/** What differs between commands. */
export interface Options {
  readonly transform?: Transform
  /** The longest wait for the rate limit (default: the client's). */
  readonly maxWait?: Duration.DurationInput
  /** The file through which the key's rate limit is shared (default: the existing one). */
  readonly rateLimitFile?: RateLimitFile.RateLimitFile
}

/** The services for an account at a base URL. */
export const layerOf = (
  settings: ConnectionSettings,
  { maxWait, rateLimitFile = RateLimitFile.existing, transform = (client) => client }: Options = {}
): Layer.Layer<Services, ConfigError.ConfigError | UsageError, FileSystem.FileSystem> => {
  // One effect, because each layer between these services would take as long as a tenth of a command.
  const services = Effect.gen(function*() {
    const validated = yield* Settings.configFor(application)
    const file = yield* rateLimitFile
    // Loaded here, so that help and usage errors don't load undici.
    const Node = yield* Effect.promise(() => import("@plaza-legacy/client/node"))
    const client = transform(Context.get(yield* Layer.build(Node.layerConfig), HttpClient.HttpClient))
    const options = { ...validated, ...(maxWait === undefined ? {} : { maxWait }), allowInsecureHttp: true, application }
    // The configuration has checked the options, and whether http is accepted.
    const plaza = Option.isNone(file)
      ? Layer.orDie(Plaza.layer(options))
      : Layer.provideMerge(
        Layer.orDie(Plaza.layerWithoutRateLimit(options)),
        (yield* Effect.promise(() => import("./SharedRateLimit.ts"))).layer(file.value, validated)
      )
    return Context.add(
      yield* Effect.provideService(Layer.build(plaza), HttpClient.HttpClient, client),
      Settings.Settings,
      validated
    )
  })
  return Layer.scopedContext(Effect.configProviderWith((environment) =>
    services.pipe(
      Effect.withConfigProvider(overriding(settings, environment)),
      Effect.mapError((error) => error._tag === "UsageError" ? error : withSource(error, settings))
    )
  ))
}

/** The services by flags, environment and profile. */
export const layer = (
  flags: ConnectionFlags,
  options?: Options
): Layer.Layer<Services, ConfigError.ConfigError | UsageError, FileSystem.FileSystem> =>
  Layer.unwrapEffect(Effect.map(resolve(flags), (settings) => layerOf(settings, options)))
