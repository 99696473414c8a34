/**
 * The way from the command line to the service: settings from flags and environment, flags being the stronger, and the client loaded
 * only by commands that call. Knows no command.
 *
 * @since 0.1.0
 */
import type { Chat } from "@plaza/client/Chat"
import type { Media } from "@plaza/client/Media"
import type { Operations } from "@plaza/client/Operations"
import type { paginate, request } from "@plaza/client/Plaza"
import type { Posts } from "@plaza/client/Posts"
import type { Profiles } from "@plaza/client/Profiles"
import type { Store } from "@plaza/client/Store"
import type { Stories } from "@plaza/client/Stories"
import { UsageError } from "@plaza/terminal/Problem"
import type * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Flags } from "./Flags.js"

/**
 * Everything that the service can be asked, by area.
 *
 * @since 0.1.0
 * @category models
 */
export interface Client {
  readonly profiles: Profiles["Type"]
  readonly posts: Posts["Type"]
  readonly media: Media["Type"]
  readonly stories: Stories["Type"]
  readonly store: Store["Type"]
  readonly chat: Chat["Type"]
  /** What {@link Client.request} and {@link Client.paginate} need. */
  readonly open: Context.Context<Operations>
  readonly request: typeof request
  readonly paginate: typeof paginate
}

const variable = "PLAZA_BASE_URL"

// One thing to change at a time: the first one, as the report does it.
const first = (error: ConfigError.ConfigError): ConfigError.ConfigError =>
  error._op === "And" || error._op === "Or" ? first(error.left) : error

/** Names the flag where the flag is what has to be changed. */
const named = (error: ConfigError.ConfigError, flag: Option.Option<string>): ConfigError.ConfigError | UsageError => {
  const cause = first(error)
  if (cause._op === "And" || cause._op === "Or" || cause.path.join("_") !== variable) return error
  if (cause._op === "MissingData") {
    return new UsageError({ message: `the service's address is not known: set ${variable} or give --base-url` })
  }
  return Option.isSome(flag) ? new UsageError({ message: `--base-url can't be used: ${cause.message}` }) : error
}

/**
 * The environment with the flags over it.
 *
 * @since 0.1.0
 * @category config
 */
export const provider = (flags: Pick<Flags, "baseUrl">): Effect.Effect<ConfigProvider.ConfigProvider> =>
  Effect.configProviderWith((environment) =>
    Effect.succeed(Option.match(flags.baseUrl, {
      onNone: () => environment,
      onSome: (baseUrl) => ConfigProvider.orElse(ConfigProvider.fromMap(new Map([[variable, baseUrl]]), { pathDelim: "_" }), () => environment)
    }))
  )

/**
 * A client by flags and environment.
 *
 * @since 0.1.0
 * @category constructors
 */
export const connect = (flags: Flags): Effect.Effect<Client, ConfigError.ConfigError | UsageError, Scope.Scope> =>
  Effect.gen(function*() {
    const { make } = yield* Effect.promise(() => import("./Live.js"))
    const settings = yield* provider(flags)
    return yield* Effect.mapError(Effect.withConfigProvider(make, settings), (error) => named(error, flags.baseUrl))
  })
