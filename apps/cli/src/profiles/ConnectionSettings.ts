/**
 * The base URL, API key and profile of a command. Flags override the environment, the environment overrides the
 * profile. A profile named by `--profile` counts as a flag, with its key and base URL.
 */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as KeyMask from "@plaza/cli-kit/KeyMask"
import * as SecretFile from "@plaza/cli-kit/SecretFile"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"

/** The flags that select an account and its service. */
export interface ConnectionFlags {
  /** Overrides the environment. */
  readonly baseUrl: Option.Option<string>
  /** Its key and base URL override the environment. */
  readonly profile: Option.Option<string>
}

export interface Setting<A> {
  readonly value: A
  /** `--base-url`, the name of a variable, or `profile NAME`. */
  readonly from: string
}

export interface ConnectionSettings {
  /** The profile that supplies a value. */
  readonly profile: string | undefined
  readonly baseUrl: Setting<string> | undefined
  readonly apiKey: Setting<Redacted.Redacted> | undefined
  /** The base URL that the profile's key was created for. */
  readonly profileBaseUrl: string | undefined
}

/** No values. */
export const empty: ConnectionSettings = { profile: undefined, baseUrl: undefined, apiKey: undefined, profileBaseUrl: undefined }

export const variables = { baseUrl: "PLAZA_BASE_URL", apiKey: "PLAZA_API_KEY", profile: "PLAZA_PROFILE" } as const

const variable = (name: string) => Config.option(Config.String(name))

/** The profile named by a flag or a variable. */
export const namedProfile = (flags: ConnectionFlags): Effect.Effect<Option.Option<string>, Config.ConfigError> =>
  Effect.map(variable(variables.profile), (named) => Option.orElse(flags.profile, () => named))

// Loaded only when a profile is needed.
const fromProfile = (named: Option.Option<string>) =>
  Effect.gen(function*() {
    const [ProfilesFile, Profiles] = yield* Effect.promise(() => Promise.all([import("./ProfilesFile.ts"), import("./Profiles.ts")]))
    const all = yield* ProfilesFile.ofUser
    const name = Option.orElse(named, () => Option.fromUndefinedOr(all.default))
    if (Option.isNone(name)) {
      return Profiles.names(all).length === 0
        ? undefined
        : yield* new UsageError({
          message: `no profile is selected: use --profile or plaza auth use with one of these: ${
            Profiles.names(all).map((name) => `"${name}"`).join(", ")
          }`
        })
    }
    const profile = yield* Effect.fromResult(Profiles.get(all, name.value))
    yield* KeyMask.addKey(profile.apiKey)
    return { name: name.value, profile }
  })

/** The values from flags and environment, without profiles. */
export const withoutProfile = (flags: ConnectionFlags): Effect.Effect<ConnectionSettings, Config.ConfigError> =>
  Effect.gen(function*() {
    const fromFlags = Option.isSome(flags.baseUrl) ? { ...empty, baseUrl: { value: flags.baseUrl.value, from: "--base-url" } } : empty
    // A profile named by a flag overrides the environment, so don't read it: its key file may be missing.
    if (Option.isSome(flags.profile)) return fromFlags
    const baseUrl = yield* variable(variables.baseUrl)
    const apiKey = yield* variable(variables.apiKey)
    const from = Option.getOrElse(yield* SecretFile.keyVariable, () => variables.apiKey)
    return {
      ...fromFlags,
      baseUrl: fromFlags.baseUrl ?? Option.getOrUndefined(Option.map(baseUrl, (value) => ({ value, from: variables.baseUrl }))),
      apiKey: Option.getOrUndefined(Option.map(apiKey, (value) => ({ value: Redacted.make(value), from })))
    }
  })

/** The values from flags, environment and profile. Reads the file of profiles only if a value is missing or a profile is named. */
export const resolve = (
  flags: ConnectionFlags
): Effect.Effect<ConnectionSettings, UsageError | Config.ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const settings = yield* withoutProfile(flags)
    const selected = settings.baseUrl !== undefined && settings.apiKey !== undefined
      ? undefined
      : yield* fromProfile(yield* namedProfile(flags))
    if (selected === undefined) return settings
    const from = `profile ${selected.name}`
    return {
      profile: selected.name,
      profileBaseUrl: selected.profile.baseUrl,
      baseUrl: settings.baseUrl ?? { value: selected.profile.baseUrl, from },
      apiKey: settings.apiKey ?? { value: selected.profile.apiKey, from }
    }
  })
