/** What `plaza auth` does. */
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import { Output } from "@plaza/cli-kit/Output"
import { Profiles as ProfilesService } from "@plaza/client"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { connection } from "../Globals.ts"
import * as Connection from "../profiles/Connection.ts"
import { namedProfile, resolve, variables } from "../profiles/ConnectionSettings.ts"
import * as Login from "../profiles/Login.ts"
import * as Profiles from "../profiles/Profiles.ts"
import * as ProfilesFile from "../profiles/ProfilesFile.ts"

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
    (name) => Effect.map(Config.option(Config.String(name)), Option.isSome))
  if (set.length > 0) {
    yield* note(
      `${set.join(" and ")} ${set.length === 1 ? "is" : "are"} set and override${
        set.length === 1 ? "s" : ""
      } the default profile. Use --profile to select a profile.`
    )
  }
})

export const login = Effect.fnUntraced(function*() {
  const { isDefault, name, profile } = yield* Login.login(yield* connection)
  const output = yield* Output
  yield* output.done(
    { profile: name, default: isDefault, baseUrl: profile.baseUrl, account: profile.account },
    `Logged in as ${nameOf(profile.account)} at ${profile.baseUrl}. Saved as profile ${name}${
      isDefault ? " (default)" : `: select it with --profile ${name}`
    }.`
  )
  yield* noteOverride
})

export const status = Effect.fnUntraced(function*() {
  const settings = yield* resolve(yield* connection)
  const { apiKey, baseUrl } = settings
  const explain = (cause: unknown) =>
    apiKey === undefined || baseUrl === undefined ? cause : new Explained({
      cause,
      explanation: `The key ${
        Profiles.masked(apiKey.value)
      } is from ${apiKey.from}, and the base URL ${baseUrl.value} is from ${baseUrl.from}.`
    })
  const { id, username } = yield* Effect.flatMap(ProfilesService, ({ me }) => Effect.mapError(me, explain)).pipe(
    Effect.provide(Connection.layerOf(settings))
  )
  // The client requires both.
  if (apiKey === undefined || baseUrl === undefined) return
  const key = Profiles.masked(apiKey.value)
  const output = yield* Output
  yield* output.one(
    {
      profile: settings.profile ?? null,
      account: { ...(id === undefined ? {} : { id }), ...(username === undefined ? {} : { username }) },
      key: { masked: key, from: apiKey.from },
      baseUrl: { value: baseUrl.value, from: baseUrl.from }
    },
    [
      ["profile", settings.profile],
      ["account", id],
      ["username", username],
      ["key", `${key} from ${apiKey.from}`],
      ["base URL", `${baseUrl.value} from ${baseUrl.from}`]
    ]
  )
})

export const list = Effect.fnUntraced(function*() {
  const all = yield* ProfilesFile.ofUser
  const output = yield* Output
  const rows = Profiles.names(all).flatMap((name) => {
    const profile = all.profiles[name]
    return profile === undefined
      ? []
      : [{
        profile: name,
        default: name === all.default,
        account: profile.account,
        baseUrl: profile.baseUrl,
        key: Profiles.masked(profile.apiKey)
      }]
  })
  yield* output.list(
    Stream.fromIterable(rows),
    [
      { head: "", whole: true },
      { head: "profile", whole: true },
      { head: "account" },
      { head: "username" },
      { head: "base URL" },
      { head: "key", whole: true }
    ],
    ({ account, baseUrl, default: isDefault, key, profile }) => [isDefault ? "*" : "", profile, account.id, account.username, baseUrl, key],
    { empty: "There are no profiles. Run plaza auth login to create one." }
  )
})

export const use = Effect.fnUntraced(function*({ name }: { readonly name: string }) {
  const { profiles } = yield* ProfilesFile.update(yield* ProfilesFile.location, (profiles) => Profiles.use(profiles, name))
  const output = yield* Output
  const account = profiles[name]?.account
  yield* output.done({ profile: name, default: true, account },
    `The default profile is ${name}${account === undefined ? "" : `, ${nameOf(account)}`}.`)
  yield* noteOverride
})

export const logout = Effect.fnUntraced(function*() {
  const path = yield* ProfilesFile.location
  const name = Option.getOrUndefined(yield* namedProfile(yield* connection)) ?? (yield* ProfilesFile.read(path)).default
  if (name === undefined) {
    return yield* new UsageError({ message: "no profile is selected: use --profile with a name from plaza auth list" })
  }
  const left = yield* ProfilesFile.update(path, (profiles) => Profiles.remove(profiles, name))
  const output = yield* Output
  yield* output.done(
    { profile: name, removed: true },
    `Profile ${name} is removed. Its key stays valid: revoke it in the web app under Settings, then Developers.`
  )
  if (Profiles.names(left).length === 0) yield* output.note("There are no profiles now. Run plaza auth login to create one.")
  else if (left.default === undefined) yield* output.note("There is no default profile now. Select one with plaza auth use.")
})
