/** The folder of files that outlive a command but can be made again: journals of imports, the shared rate limit. */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { homedir } from "node:os"
import * as Path from "node:path"

const variable = (name: string) => Effect.map(Config.option(Config.string(name)), Option.filter((value) => value !== ""))

/** The path of the folder: `plaza` in XDG_STATE_HOME, or in `.local/state` of the home folder. */
export const location: Effect.Effect<string, ConfigError.ConfigError> = Effect.gen(function*() {
  // The XDG specification requires relative paths to be ignored.
  const stateHome = Option.filter(yield* variable("XDG_STATE_HOME"), (path) => Path.isAbsolute(path))
  const home = Option.getOrElse(yield* variable("HOME"), homedir)
  return Path.join(Option.getOrElse(stateHome, () => Path.join(home, ".local", "state")), "plaza")
})
