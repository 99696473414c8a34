/** How commands are defined: their options here, what they do in a module that is loaded when the command runs. */
import type { Description } from "@plaza/cli-kit/Manual"
import * as Manual from "@plaza/cli-kit/Manual"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import { configured } from "../config/Configuration.ts"
import * as Globals from "../Globals.ts"
import { name as program } from "../version.ts"

/** Describes a command. Its examples are without the program's name. */
export const described = ({ examples: [first, ...others], ...description }: Description) =>
  Manual.describe({ ...description, examples: [`${program} ${first}`, ...others.map((line) => `${program} ${line}`)] })

/** What a command with these flags and arguments is called with. */
type Input<Config extends Command.Command.Config> = Command.Command.Config.Infer<Config>

/** A command of one store. It runs with the settings of its config file. */
export const command = <const Name extends string, const Config extends Command.Command.Config, E, R>(
  name: Name,
  description: Description,
  config: Config,
  run: (input: Input<Config>) => Effect.Effect<void, E, R>
) =>
  Command.make(name, config, (input) => Effect.scoped(Effect.flatMap(Globals.ConfigFile, (file) => configured(file)(run(input))))).pipe(
    described(description),
    Command.withGlobalFlags(Globals.ofStore)
  )

/** Loads a module when it is needed. */
export const load = <Module>(module: () => Promise<Module>): Effect.Effect<Module> => Effect.promise(module)
