/** Login: reads the base URL and the API key, verifies them with the service and saves them as a profile. */
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import * as Prompt from "@plaza/cli-kit/Prompt"
import type { Streams } from "@plaza/cli-kit/Streams"
import { Profiles as ProfilesService, Settings } from "@plaza/client"
import * as ApiKey from "@plaza/domain/ApiKey"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Connection from "./Connection.ts"
import { type ConnectionFlags, empty, namedProfile, variables } from "./ConnectionSettings.ts"
import * as Profiles from "./Profiles.ts"
import * as ProfilesFile from "./ProfilesFile.ts"

const fail = (message: string) => Effect.fail(new UsageError({ message }))

/** The base URL from the flag, the environment, the existing profile or a prompt. */
const baseUrlOf = (flags: ConnectionFlags, existing: Option.Option<Profiles.Profile>) =>
  Effect.gen(function*() {
    const before = Option.map(existing, ({ baseUrl }) => baseUrl)
    const variable = yield* Config.option(Config.String(variables.baseUrl))
    // As for every command, a flag overrides the environment.
    const known = Option.firstSomeOf(Option.isSome(flags.profile) ? [flags.baseUrl, before, variable] : [flags.baseUrl, variable, before])
    const written = Option.isSome(known)
      ? known.value
      : (yield* Prompt.isTerminal)
      ? yield* Prompt.ask("Base URL of the service (ends with /open/v1): ")
      : yield* fail(`no base URL is set: use --base-url or set ${variables.baseUrl}`)
    return yield* Effect.fromResult(
      Result.mapError(Settings.checkBaseUrl(written, { allowInsecureHttp: yield* Settings.allowInsecureHttp }),
        (why) => new UsageError({ message: `the base URL ${why}` }))
    )
  })

// Not an argument, which every user of the machine can see.
const key: Effect.Effect<Redacted.Redacted, UsageError, Streams> = Effect.gen(function*() {
  const written = (yield* Prompt.isTerminal)
    ? yield* Prompt.askHidden("API key (hidden): ")
    : yield* Prompt.piped
  if (written === "") return yield* fail("no API key was given: pipe it to the command, or run the command in a terminal")
  return yield* Effect.fromResult(
    Result.mapError(ApiKey.parse(written), ({ message }) => new UsageError({ message: `the API key is invalid: ${message}` }))
  )
})

/** Prompts, verifies and saves. Returns the profile with its name, and whether it is the default one. */
export const login = Effect.fnUntraced(function*(flags: ConnectionFlags) {
  const path = yield* ProfilesFile.location
  const before = yield* ProfilesFile.read(path)
  const name = yield* Effect.fromResult(Profiles.nameOf(Option.getOrElse(yield* namedProfile(flags), () => before.default ?? "default")))
  const baseUrl = yield* baseUrlOf(flags, Profiles.find(before, name))
  const apiKey = yield* key
  const settings = { ...empty, baseUrl: { value: baseUrl, from: "--base-url" }, apiKey: { value: apiKey, from: "standard input" } }
  const { id, username } = yield* Effect.flatMap(ProfilesService, ({ me }) => me).pipe(
    Effect.provide(Connection.layerOf(settings)),
    Connection.explainWrongBaseUrl,
    Effect.mapError((cause) => new Explained({ cause, explanation: "The profile was not saved." }))
  )
  const profile = { baseUrl, apiKey, account: { ...(id === undefined ? {} : { id }), ...(username === undefined ? {} : { username }) } }
  const after = yield* ProfilesFile.update(path, (profiles) => Profiles.put(profiles, name, profile))
  return { name, profile, isDefault: after.default === name }
})
