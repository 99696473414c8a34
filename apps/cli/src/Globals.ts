/** The flags that every command has. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

const Json = GlobalFlag.Setting("json")({
  flag: Flag.withAlias(
    Flags.boolean("json", "Print one JSON value, or one per line for lists. A failure is one JSON object on standard error."),
    "j"
  )
})

const parseFields: Flags.Parse<ReadonlyArray<string>> = (written) => {
  const names = written.split(",").map((name) => name.trim()).filter((name) => name !== "")
  return names.length === 0 ? Result.fail("--fields requires names, such as id,text") : Result.succeed(names)
}

const Fields = GlobalFlag.Setting("fields")({
  flag: Flag.optional(Flags.parsed("fields", "A,B", "With --json: print only these fields of each object.", parseFields))
})

const Quiet = GlobalFlag.Setting("quiet")({
  flag: Flag.withAlias(Flags.boolean("quiet", "Print no progress and no notes."), "q")
})

const Profile = GlobalFlag.Setting("profile")({
  flag: Flag.optional(Flag.withAlias(
    Flags.text("profile", "NAME", "The profile to use, from plaza auth login (default: PLAZA_PROFILE, or the default profile)."),
    "p"
  ))
})

const BaseUrl = GlobalFlag.Setting("base-url")({
  flag: Flag.optional(
    Flags.text("base-url", "URL", "The base URL of the service; ends with /open/v1 (default: PLAZA_BASE_URL, or the profile's).")
  )
})

/** Whether to use a new sandbox. */
export const Sandbox = GlobalFlag.Setting("sandbox")({
  flag: Flags.boolean("sandbox", "Run the command against a new sandbox, and remove it afterwards.")
})

/** In the order of the help. */
export const all = [Json, Fields, Quiet, Profile, BaseUrl, Sandbox] as const

/** How to print. */
export const output = Effect.all({ json: Json, quiet: Quiet, fields: Effect.map(Fields, Option.getOrUndefined) })

/** Which account to use. */
export const connection = Effect.all({ profile: Profile, baseUrl: BaseUrl })
