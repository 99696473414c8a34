/** `plaza auth`: profiles of accounts, and the default one. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { Profiles as ProfilesService } from "@plaza-legacy/client"
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Connection from "../profiles/Connection.ts"
import { namedProfile, resolve, variables } from "../profiles/ConnectionSettings.ts"
import { commonOptions, outputOptions, withOutput } from "./CommonOptions.ts"

// Loaded here, because only these commands read the file of profiles.
const modules = Effect.promise(() => Promise.all([import("../profiles/Profiles.ts"), import("../profiles/ProfilesFile.ts")]))

const nameOf = ({ id, username }: { readonly id?: string; readonly username?: string }): string =>
  id === undefined
    ? username ?? "an account without id and username"
    : username === undefined
    ? `account ${id}`
    : `${username} (account ${id})`

/** Notes that the environment overrides the new profile. Without it, the command would seem to have no effect. */
const noteOverride = Effect.gen(function*() {
  const { note } = yield* Output
  const set = yield* Effect.filter([variables.apiKey, variables.baseUrl],
    (name) => Effect.map(Config.option(Config.string(name)), Option.isSome))
  if (set.length > 0)
    yield* note(
      `${set.join(" and ")} ${set.length === 1 ? "is" : "are"} set and override${
        set.length === 1 ? "s" : ""
      } the default profile. Use --profile to select a profile.`
    )
})

const login = Command.make("login", commonOptions, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { login } = yield* Effect.promise(() => import("../profiles/Login.ts"))
    const { isDefault, name, profile } = yield* login(flags)
    const output = yield* Output
    yield* output.done(
      { profile: name, default: isDefault, baseUrl: profile.baseUrl, account: profile.account },
      `Logged in as ${nameOf(profile.account)} at ${profile.baseUrl}. Saved as profile ${name}${
        isDefault ? " (default)" : `: select it with --profile ${name}`
      }.`
    )
    yield* noteOverride
  }))).pipe(Command.withDescription(describe({
    summary: "Log in to an account and save it as a profile.",
    details: [
      "Prompts for the API key without showing it, or reads it from a pipe. It is never an argument. The profile is saved after the " +
      "service accepts the key."
    ],
    examples: ["auth login --base-url https://api.example.com/open/v1", "auth login --profile shop < key.txt"]
  })))

const status = Command.make("status", commonOptions, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const settings = yield* resolve(flags)
    const [{ masked }] = yield* modules
    const { apiKey, baseUrl } = settings
    const explain = (cause: unknown) =>
      apiKey === undefined || baseUrl === undefined ? cause : new Explained({
        cause,
        explanation: `The key ${masked(apiKey.value)} is from ${apiKey.from}, and the base URL ${baseUrl.value} is from ${baseUrl.from}.`
      })
    const { id, username } = yield* Effect.flatMap(ProfilesService, ({ me }) => Effect.mapError(me, explain)).pipe(
      Effect.provide(Connection.layerOf(settings))
    )
    // The client requires both.
    if (apiKey === undefined || baseUrl === undefined) return
    const key = masked(apiKey.value)
    const output = yield* Output
    yield* output.one(
      {
        profile: settings.profile ?? null,
        account: { ...(id === undefined ? {} : { id }), ...(username === undefined ? {} : { username }) },
        key: { masked: key, from: apiKey.from },
        baseUrl: { value: baseUrl.value, from: baseUrl.from }
      },
      [["profile", settings.profile], ["account", id], ["username", username], ["key", `${key} from ${apiKey.from}`], [
        "base URL",
        `${baseUrl.value} from ${baseUrl.from}`
      ]]
    )
  }))).pipe(
    Command.withDescription(describe({
      summary: "Show the account that commands use, and where its key and base URL come from.",
      details: ["Sends one request to the service."],
      examples: ["auth status", "auth status --profile shop"]
    }))
  )

const list = Command.make("list", outputOptions, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const [{ masked, names }, { location, read }] = yield* modules
    const all = yield* read(yield* location)
    const output = yield* Output
    const rows = names(all).flatMap((name) => {
      const profile = all.profiles[name]
      return profile === undefined
        ? []
        : [{
          profile: name,
          default: name === all.default,
          account: profile.account,
          baseUrl: profile.baseUrl,
          key: masked(profile.apiKey)
        }]
    })
    if (rows.length === 0) yield* output.note("There are no profiles. Run plaza auth login to create one.")
    yield* output.list(
      Stream.fromIterable(rows),
      [{ head: "", whole: true }, { head: "profile", whole: true }, { head: "account" }, { head: "username" }, { head: "base URL" }, {
        head: "key",
        whole: true
      }],
      (
        { account, baseUrl, default: isDefault, key, profile }
      ) => [isDefault ? "*" : "", profile, account.id, account.username, baseUrl, key]
    )
  }))).pipe(
    Command.withDescription(describe({ summary: "List the saved profiles; * marks the default.", examples: ["auth list --json"] }))
  )

const name = Args.text({ name: "NAME" }).pipe(Args.withDescription("The name of the profile."))

const use = Command.make("use", { name, ...outputOptions }, ({ name, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const [Profiles, { location, update }] = yield* modules
    const { profiles } = yield* update(yield* location, (profiles) => Profiles.use(profiles, name))
    const output = yield* Output
    const account = profiles[name]?.account
    yield* output.done({ profile: name, default: true, account },
      `The default profile is ${name}${account === undefined ? "" : `, ${nameOf(account)}`}.`)
    yield* noteOverride
  }))).pipe(Command.withDescription(describe({ summary: "Make a profile the default.", examples: ["auth use shop"] })))

const logout = Command.make("logout", commonOptions, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const [Profiles, { location, read, update }] = yield* modules
    const path = yield* location
    const name = Option.getOrUndefined(yield* namedProfile(flags)) ?? (yield* read(path)).default
    if (name === undefined)
      return yield* new UsageError({
        message: "no profile is selected: use --profile with a name from plaza auth list"
      })
    const left = yield* update(path, (profiles) => Profiles.remove(profiles, name))
    const output = yield* Output
    yield* output.done(
      { profile: name, removed: true },
      `Profile ${name} is removed. Its key stays valid: revoke it in the web app under Settings, then Developers.`
    )
    if (Profiles.names(left).length === 0) yield* output.note("There are no profiles now. Run plaza auth login to create one.")
    else if (left.default === undefined) yield* output.note("There is no default profile now. Select one with plaza auth use.")
  }))).pipe(Command.withDescription(describe({
    summary: "Remove a profile and its key from this machine.",
    details: ["The key stays valid. Revoke it in the web app under Settings, then Developers."],
    examples: ["auth logout", "auth logout --profile shop"]
  })))

export const auth = Command.make("auth").pipe(
  Command.withDescription(describe({ summary: "Log in to accounts and manage profiles.", examples: ["auth login", "auth status"] })),
  Command.withSubcommands([login, status, list, use, logout])
)
