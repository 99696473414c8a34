/** Creates the client from flags, environment and profile. Loaded only by commands that send requests. */
import type * as FileSystem from "@effect/platform/FileSystem"
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import type { Chat, Media, Operations, Plaza, Posts, Profiles, RateLimit, Settings, Store, Stories } from "@plaza/client"
import type * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Flags } from "./Flags.js"
import { nothing, type Target, target, variables } from "./Target.js"

/** The client's services, by area. */
export interface Client {
  readonly profiles: Profiles["Type"]
  readonly posts: Posts["Type"]
  readonly media: Media["Type"]
  readonly stories: Stories["Type"]
  readonly store: Store["Type"]
  readonly chat: Chat["Type"]
  /** The key's rate limit, for callers that need to know when a Plaza.request is sent. */
  readonly rateLimit: RateLimit.RateLimit["Type"]
  /** The settings of the client. */
  readonly settings: Settings.Settings["Type"]
  /** The context for {@link Client.request} and {@link Client.paginate}. */
  readonly open: Context.Context<Operations>
  readonly request: typeof Plaza.request
  readonly paginate: typeof Plaza.paginate
}

// Reports one thing to change at a time: the first one, as `Report` does.
const first = (error: ConfigError.ConfigError): ConfigError.ConfigError =>
  error._op === "And" || error._op === "Or" ? first(error.left) : error

/** Names what to change: the flag, the variable or the profile with the invalid value. */
const named = (error: ConfigError.ConfigError, { apiKey, baseUrl }: Target): ConfigError.ConfigError | UsageError => {
  const cause = first(error)
  if (cause._op === "And" || cause._op === "Or") return error
  const variable = cause.path.join("_")
  const setting = variable === variables.baseUrl ? baseUrl : variable === variables.apiKey ? apiKey : undefined
  if (cause._op === "MissingData") {
    return variable === variables.baseUrl
      ? new UsageError({ message: `the service's address is not known: log in with plaza auth login, set ${variable} or give --base-url` })
      : variable === variables.apiKey
      ? new UsageError({ message: `no key is known: log in with plaza auth login, or set ${variable} or PLAZA_API_KEY_FILE` })
      : error
  }
  if (setting === undefined || setting.from === variable) return error
  const subject = setting.from === "--base-url" ? setting.from : `the ${setting === baseUrl ? "address" : "key"} of ${setting.from}`
  return new UsageError({ message: `${subject} can't be used: ${cause.message}` })
}

/** The environment, overridden by flags, with the profile as default. */
const over = ({ apiKey, baseUrl }: Target, environment: ConfigProvider.ConfigProvider): ConfigProvider.ConfigProvider =>
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

/** The environment overridden by the flags. A profile that a flag names counts as a flag. */
export const provider = (
  flags: Pick<Flags, "baseUrl" | "profile">
): Effect.Effect<ConfigProvider.ConfigProvider, ConfigError.ConfigError | UsageError, FileSystem.FileSystem> =>
  Effect.configProviderWith((environment) =>
    Option.isSome(flags.profile)
      ? Effect.map(target(flags), (target) => over(target, environment))
      : Effect.succeed(over(
        { ...nothing, baseUrl: Option.getOrUndefined(Option.map(flags.baseUrl, (value) => ({ value, from: "--base-url" }))) },
        environment
      ))
  )

/** A client for an account at an address. */
export const open = (target: Target): Effect.Effect<Client, ConfigError.ConfigError | UsageError, Scope.Scope> =>
  Effect.configProviderWith((environment) =>
    Effect.gen(function*() {
      const { make } = yield* Effect.promise(() => import("./Live.js"))
      return yield* Effect.mapError(Effect.withConfigProvider(make, over(target, environment)), (error) => named(error, target))
    })
  )

/** Adds to a refused key how to use another one. */
export const aboutKey = <E>(error: E): E | Explained =>
  Predicate.hasProperty(error, "category") && (error.category === "Unauthenticated" || Predicate.isTagged(error, "InsufficientScope"))
    ? new Explained({ cause: error, advice: "plaza auth status shows which key is used, and plaza auth login changes it." })
    : error

/** A client by flags, environment and profile. */
export const connect = (
  flags: Pick<Flags, "baseUrl" | "profile">
): Effect.Effect<Client, ConfigError.ConfigError | UsageError, FileSystem.FileSystem | Scope.Scope> => Effect.flatMap(target(flags), open)
