/**
 * Resolves the account and address of a command: flags override the environment, the environment overrides the
 * profile. A profile named by `--profile` counts as a flag, with its key and address.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import { UsageError } from "@plaza/cli-kit/CliError"
import * as SecretFile from "@plaza/cli-kit/SecretFile"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Flags } from "./Flags.js"

export interface Setting<A> {
  readonly value: A
  /** `--base-url`, the name of a variable, or `profile NAME`. */
  readonly from: string
}

export interface Target {
  /** The profile that supplies a value. */
  readonly profile: string | undefined
  readonly baseUrl: Setting<string> | undefined
  readonly apiKey: Setting<Redacted.Redacted> | undefined
  /** The address that the profile's key was made for. */
  readonly profileBaseUrl: string | undefined
}

/** No values. */
export const nothing: Target = { profile: undefined, baseUrl: undefined, apiKey: undefined, profileBaseUrl: undefined }

export const variables = { baseUrl: "PLAZA_BASE_URL", apiKey: "PLAZA_API_KEY", profile: "PLAZA_PROFILE" } as const

type Named = Pick<Flags, "baseUrl" | "profile">

const variable = (name: string) => Config.option(Config.string(name))

/** The profile named by a flag or a variable. */
export const namedProfile = (flags: Named): Effect.Effect<Option.Option<string>, ConfigError.ConfigError> =>
  Effect.map(variable(variables.profile), (named) => Option.orElse(flags.profile, () => Option.filter(named, (name) => name !== "")))

// Loaded only when a profile is needed.
const fromFile = (named: Option.Option<string>) =>
  Effect.gen(function*() {
    const [File, Profiles] = yield* Effect.promise(() => Promise.all([import("./ProfilesFile.js"), import("./Profiles.js")]))
    const all = yield* File.read(yield* File.location)
    const name = Option.orElse(named, () => Option.fromNullable(all.default))
    if (Option.isNone(name)) {
      return Profiles.names(all).length === 0
        ? undefined
        : yield* new UsageError({
          message: `no profile is chosen: name one with --profile or make it the default with plaza auth use; there are ${
            Profiles.names(all).join(", ")
          }`
        })
    }
    return { name: name.value, profile: yield* Profiles.get(all, name.value) }
  })

/** The values from flags and environment, without profiles. */
export const given = (flags: Named): Effect.Effect<Target, ConfigError.ConfigError> =>
  Effect.gen(function*() {
    const explicit = Option.isSome(flags.baseUrl) ? { ...nothing, baseUrl: { value: flags.baseUrl.value, from: "--base-url" } } : nothing
    // A profile that a flag names beats the environment, which is not read then: its key file may be missing.
    if (Option.isSome(flags.profile)) return explicit
    const baseUrl = yield* variable(variables.baseUrl)
    const apiKey = yield* variable(variables.apiKey)
    const from = Option.getOrElse(yield* SecretFile.keyVariable, () => variables.apiKey)
    return {
      ...explicit,
      baseUrl: explicit.baseUrl ?? Option.getOrUndefined(Option.map(baseUrl, (value) => ({ value, from: variables.baseUrl }))),
      apiKey: Option.getOrUndefined(Option.map(apiKey, (value) => ({ value: Redacted.make(value), from })))
    }
  })

/**
 * Resolves the values from flags, environment and profile. Reads the file of profiles only if a value is missing or a profile is named.
 */
export const target = (flags: Named): Effect.Effect<Target, UsageError | ConfigError.ConfigError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const explicit = yield* given(flags)
    const found = explicit.baseUrl !== undefined && explicit.apiKey !== undefined ? undefined : yield* fromFile(yield* namedProfile(flags))
    if (found === undefined) return explicit
    const from = `profile ${found.name}`
    return {
      profile: found.name,
      profileBaseUrl: found.profile.baseUrl,
      baseUrl: explicit.baseUrl ?? { value: found.profile.baseUrl, from },
      apiKey: explicit.apiKey ?? { value: found.profile.apiKey, from }
    }
  })
