/**
 * Login: reads a key and an address from prompts or a pipe, and saves them as a profile once the service has accepted
 * them.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import type { Streams } from "@plaza/cli-kit/Streams"
import { Settings } from "@plaza/client"
import * as ApiKey from "@plaza/domain/ApiKey"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { open } from "./Connection.js"
import type { Flags } from "./Flags.js"
import * as Profiles from "./Profiles.js"
import * as File from "./ProfilesFile.js"
import * as Prompt from "./Prompt.js"
import { namedProfile, nothing, variables } from "./Target.js"

export interface LoggedIn {
  readonly name: string
  readonly profile: Profiles.Profile
  /** Whether it is the default profile. */
  readonly isDefault: boolean
}

const refuse = (message: string) => Effect.fail(new UsageError({ message }))

/** The address from flag, environment, the existing profile or a prompt. */
const addressOf = (flags: Flags, renewed: Option.Option<Profiles.Profile>) =>
  Effect.gen(function*() {
    const before = Option.map(renewed, ({ baseUrl }) => baseUrl)
    const variable = yield* Config.option(Config.string(variables.baseUrl))
    // As for every command, a flag overrides the environment.
    const known = Option.firstSomeOf(Option.isSome(flags.profile) ? [flags.baseUrl, before, variable] : [flags.baseUrl, variable, before])
    const written = Option.isSome(known)
      ? known.value
      : (yield* Prompt.isTerminal)
      ? yield* Prompt.ask("The service's base address (it ends with /open/v1): ")
      : yield* refuse(`the service's address is not known: give --base-url or set ${variables.baseUrl}`)
    return yield* Either.mapLeft(Settings.checkBaseUrl(written, { allowInsecureHttp: yield* Settings.allowInsecureHttp }),
      (why) => new UsageError({ message: `the base address ${why}` }))
  })

// Never an argument, which every user of the machine can see, nor an option's default.
const key: Effect.Effect<Redacted.Redacted, UsageError, Streams> = Effect.gen(function*() {
  const written = (yield* Prompt.isTerminal)
    ? yield* Prompt.askHidden("The API key (it isn't shown): ")
    : yield* Prompt.piped
  if (written === "") return yield* refuse("there is no key: pipe it in, or run this at a terminal and type it")
  return yield* Either.mapLeft(ApiKey.parse(written), ({ message }) => new UsageError({ message: `that is not a key: ${message}` }))
})

/** Prompts, verifies and saves. */
export const login = (
  flags: Flags
): Effect.Effect<LoggedIn, UsageError | ConfigError.ConfigError | Explained, FileSystem.FileSystem | Streams> =>
  Effect.gen(function*() {
    const path = yield* File.location
    const before = yield* File.read(path)
    const name = yield* Profiles.nameOf(Option.getOrElse(yield* namedProfile(flags), () => before.default ?? "default"))
    const baseUrl = yield* addressOf(flags, Profiles.find(before, name))
    const apiKey = yield* key
    const { id, username } = yield* Effect.scoped(
      Effect.flatMap(
        open({ ...nothing, baseUrl: { value: baseUrl, from: "--base-url" }, apiKey: { value: apiKey, from: "standard input" } }),
        ({ profiles }) => profiles.me
      )
    ).pipe(Effect.mapError((cause) => new Explained({ cause, advice: "Nothing is saved." })))
    const profile = { baseUrl, apiKey, account: { ...(id === undefined ? {} : { id }), ...(username === undefined ? {} : { username }) } }
    const after = yield* File.update(path, (profiles) => Profiles.put(profiles, name, profile))
    return { name, profile, isDefault: after.default === name }
  })
