/** `plaza auth`: profiles of accounts, and the default one. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import { about } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { open } from "../Connection.js"
import { flags, output, withOutput } from "../Flags.js"
import { namedProfile, target, variables } from "../Target.js"

// With them comes the reading of files and keys, which no other command waits for.
const modules = Effect.promise(() => Promise.all([import("../Profiles.js"), import("../ProfilesFile.js")]))

const nameOf = ({ id, username }: { readonly id?: string; readonly username?: string }): string =>
  id === undefined
    ? username ?? "an account that the service shows neither id nor username of"
    : username === undefined
    ? `account ${id}`
    : `${username} (account ${id})`

/** A login that something stronger hides would look as if it hadn't worked. */
const noteStronger = Effect.gen(function*() {
  const { note } = yield* Output
  const set = yield* Effect.filter([variables.apiKey, variables.baseUrl],
    (name) => Effect.map(Config.option(Config.string(name)), Option.isSome))
  if (set.length > 0)
    yield* note(`${set.join(" and ")} ${set.length === 1 ? "is" : "are"} set, and stronger than a profile that --profile doesn't name.`)
})

const login = Command.make("login", flags, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { login } = yield* Effect.promise(() => import("../Login.js"))
    const { isDefault, name, profile } = yield* login(flags)
    const output = yield* Output
    yield* output.done(
      { profile: name, default: isDefault, baseUrl: profile.baseUrl, account: profile.account },
      `Logged in as ${nameOf(profile.account)} at ${profile.baseUrl}, kept as profile ${name}${
        isDefault ? ", which is the default" : `: use it with --profile ${name}`
      }.`
    )
    yield* noteStronger
  }))).pipe(Command.withDescription(about(
    "Keep a key and an address as a profile, once the service accepts them. The key is asked for without showing it, or piped in; it is not taken as an argument.",
    "auth login --base-url https://api.example.com/open/v1",
    "auth login --profile shop"
  )))

const status = Command.make("status", flags, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const found = yield* target(flags)
    const [{ masked }] = yield* modules
    const { profiles } = yield* open(found)
    const { apiKey, baseUrl } = found
    // The client doesn't open without either.
    if (apiKey === undefined || baseUrl === undefined) return
    const key = masked(apiKey.value)
    const { id, username } = yield* Effect.mapError(profiles.me, (cause) =>
      new Explained({ cause, advice: `The key ${key} comes from ${apiKey.from}, and the address ${baseUrl.value} from ${baseUrl.from}.` }))
    const output = yield* Output
    yield* output.one(
      {
        profile: found.profile ?? null,
        account: { ...(id === undefined ? {} : { id }), ...(username === undefined ? {} : { username }) },
        key: { masked: key, from: apiKey.from },
        baseUrl: { value: baseUrl.value, from: baseUrl.from }
      },
      [["profile", found.profile], ["account", id], ["username", username], ["key", `${key} from ${apiKey.from}`], [
        "address",
        `${baseUrl.value} from ${baseUrl.from}`
      ]]
    )
  }))).pipe(
    Command.withDescription(
      about("Show which account is acted on, by asking the service, and where key and address come from.", "auth status",
        "auth status --profile shop")
    )
  )

const list = Command.make("list", output, (flags) =>
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
    if (rows.length === 0) yield* output.note("There are no profiles: plaza auth login makes one.")
    yield* output.list(
      Stream.fromIterable(rows),
      [{ head: "", whole: true }, { head: "profile", whole: true }, { head: "account" }, { head: "username" }, { head: "address" }, {
        head: "key",
        whole: true
      }],
      (
        { account, baseUrl, default: isDefault, key, profile }
      ) => [isDefault ? "*" : "", profile, account.id, account.username, baseUrl, key]
    )
  }))).pipe(
    Command.withDescription(about("List the profiles; the default has a star. Nothing is asked of the service.", "auth list --json"))
  )

const name = Args.text({ name: "NAME" }).pipe(Args.withDescription("The name of the profile."))

const use = Command.make("use", { name, ...output }, ({ name, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const [Profiles, { location, update }] = yield* modules
    const { profiles } = yield* update(yield* location, (profiles) => Profiles.use(profiles, name))
    const output = yield* Output
    const account = profiles[name]?.account
    yield* output.done({ profile: name, default: true, account },
      `Commands act on ${account === undefined ? name : nameOf(account)} by default.`)
    yield* noteStronger
  }))).pipe(Command.withDescription(about("Make a profile the default.", "auth use shop")))

const logout = Command.make("logout", flags, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const [Profiles, { location, read, update }] = yield* modules
    const path = yield* location
    const name = Option.getOrUndefined(yield* namedProfile(flags)) ?? (yield* read(path)).default
    if (name === undefined)
      return yield* new UsageError({
        message: "no profile is chosen: name one with --profile; plaza auth list shows them"
      })
    const { default: next } = yield* update(path, (profiles) => Profiles.remove(profiles, name))
    const output = yield* Output
    yield* output.done(
      { profile: name, removed: true },
      `Profile ${name} is removed. Its key still works: revoke it in the web app under Settings, then Developers, if it isn't used elsewhere.`
    )
    if (next === undefined) yield* output.note("No profile is the default now: plaza auth use chooses one.")
  }))).pipe(Command.withDescription(about("Remove a profile and its key from this machine.", "auth logout", "auth logout --profile shop")))

export const auth = Command.make("auth").pipe(
  Command.withDescription(about("Log in to accounts of the service, and choose between them.", "auth login", "auth status")),
  Command.withSubcommands([login, status, list, use, logout])
)
