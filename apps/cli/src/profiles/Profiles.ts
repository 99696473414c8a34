/** Profiles: named accounts with their base URL and key. Pure. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as KeyMask from "@plaza/cli-kit/KeyMask"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const Account = Schema.Struct({
  id: Schema.optionalKey(Schema.String),
  username: Schema.optionalKey(Schema.String)
})

/** An account at a base URL. */
export const Profile = Schema.Struct({ baseUrl: Schema.String, apiKey: Schema.RedactedFromValue(Schema.String), account: Account })
export type Profile = typeof Profile.Type

export const Profiles = Schema.Struct({
  /** The version of the format. */
  version: Schema.Literal(1),
  /** The name of the default profile. */
  default: Schema.optionalKey(Schema.String),
  profiles: Schema.Record(Schema.String, Profile)
})
export type Profiles = typeof Profiles.Type

export const none: Profiles = { version: 1, profiles: {} }

// Names that need no quotes on any command line.
const pattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Validates the name of a profile. */
export const nameOf = (written: string): Result.Result<string, UsageError> =>
  pattern.test(written)
    ? Result.succeed(written)
    : Result.fail(
      new UsageError({
        message:
          `"${written}" is not a valid profile name: use at most 64 letters, digits, dots, dashes and underscores, starting with a letter or digit`
      })
    )

export const names = ({ profiles }: Profiles): ReadonlyArray<string> => Object.keys(profiles).toSorted()

export const find = ({ profiles }: Profiles, name: string): Option.Option<Profile> =>
  Object.hasOwn(profiles, name) ? Option.fromUndefinedOr(profiles[name]) : Option.none()

/** Finds a profile by name, or fails with the existing names. */
export const get = (profiles: Profiles, name: string): Result.Result<Profile, UsageError> =>
  Result.fromOption(find(profiles, name), () => {
    const known = names(profiles)
    const others = known.length === 0 ? "" : ` (existing: ${known.join(", ")})`
    return new UsageError({
      message: `profile "${name}" does not exist${others}: create it with plaza auth login --profile ${pattern.test(name) ? name : "NAME"}`
    })
  })

// The document doesn't show that an account always has an id.
const accountOf = ({ account: { id, username } }: Profile): string => id ?? username ?? "unknown"

const ofSameAccount = (name: string, before: Profile, after: Profile): Result.Result<void, UsageError> =>
  accountOf(before) === accountOf(after)
    ? Result.void
    : Result.fail(
      new UsageError({
        message: `profile ${name} belongs to account ${accountOf(before)}, but this key belongs to account ${
          accountOf(after)
        }: use another --profile, or run plaza auth logout --profile ${name} first`
      })
    )

/** Adds a profile, or updates that of the same account. The first one becomes the default. */
export const put = (profiles: Profiles, name: string, profile: Profile): Result.Result<Profiles, UsageError> =>
  Result.map(
    Option.match(find(profiles, name), { onNone: () => Result.void, onSome: (before) => ofSameAccount(name, before, profile) }),
    () => ({
      ...profiles,
      default: profiles.default ?? name,
      profiles: { ...profiles.profiles, [name]: profile }
    })
  )

/** Sets the default profile. */
export const use = (profiles: Profiles, name: string): Result.Result<Profiles, UsageError> =>
  Result.map(get(profiles, name), () => ({ ...profiles, default: name }))

/** Removes a profile. No other one becomes the default, so that no command uses an account by accident. */
export const remove = (profiles: Profiles, name: string): Result.Result<Profiles, UsageError> =>
  Result.map(get(profiles, name), () => {
    const { default: before, ...rest } = profiles
    return {
      ...rest,
      ...(before === undefined || before === name ? {} : { default: before }),
      profiles: Object.fromEntries(Object.entries(profiles.profiles).filter(([other]) => other !== name))
    }
  })

/** Masks a key: its last four characters, none of a short one. */
export const masked = (key: Redacted.Redacted): string => KeyMask.masked(Redacted.value(key))
