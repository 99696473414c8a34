/** The user's folders, by the XDG Base Directory Specification. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { homedir } from "node:os"
import * as Path from "node:path"

const kinds = {
  XDG_CONFIG_HOME: [".config"],
  XDG_STATE_HOME: [".local", "state"]
} as const

/** A user without HOME and without an entry in the list of users has no home folder. */
const homeOfUser = Effect.orElseSucceed(Effect.try(homedir), () => "")

/** The user's home folder. */
export const home: Effect.Effect<Option.Option<string>, Config.ConfigError> = Effect.gen(function*() {
  const home = Option.getOrElse(yield* Config.option(Config.String("HOME")), () => "") || (yield* homeOfUser)
  return Path.isAbsolute(home) ? Option.some(home) : Option.none()
})

/** Plaza's folder of a kind; none for a user without a home folder. It may not exist. */
export const find = (kind: keyof typeof kinds): Effect.Effect<Option.Option<string>, Config.ConfigError> =>
  Effect.gen(function*() {
    // The specification requires relative paths to be ignored.
    const named = Option.filter(yield* Config.option(Config.String(kind)), (folder) => Path.isAbsolute(folder))
    const standard = Option.map(yield* home, (home) => Path.join(home, ...kinds[kind]))
    return Option.map(Option.orElse(named, () => standard), (folder) => Path.join(folder, "plaza"))
  })

/** Plaza's folder of a kind. Fails for a user without a home folder. */
export const get = (kind: keyof typeof kinds): Effect.Effect<string, Config.ConfigError | UsageError> =>
  Effect.flatMap(find(kind), Option.match({
    onNone: () => Effect.fail(new UsageError({ message: `this user has no home folder: set HOME or ${kind} to a folder` })),
    onSome: Effect.succeed
  }))
