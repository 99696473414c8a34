/** How commands are defined: their flags here, what they do in a module that is loaded when the command runs. */
import { UsageError } from "@plaza/cli-kit/CliError"
import type { Description } from "@plaza/cli-kit/Manual"
import * as Manual from "@plaza/cli-kit/Manual"
import { Output } from "@plaza/cli-kit/Output"
import type { OperationName } from "@plaza/domain/Operations"
import * as Command from "effect/cli/Command"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { OutputName } from "../schema/Outputs.ts"
import { name as program } from "../version.ts"

/** What a command prints with `--json`: the response of an operation, a line for each item of a list, or one of `Outputs`. */
export type JsonOutput = OperationName | OutputName

/** The JSON output of a command, as an annotation; undefined for a group and for `mcp`, whose standard output is a protocol. */
export class CommandOutput extends Context.Reference<JsonOutput | undefined>("@plaza/cli/CommandOutput", {
  defaultValue: () => undefined
}) {}

/** Rejects names in `--fields` that no object of the output has, before the command does anything. */
const checkFields = (name: string, output: JsonOutput | undefined): Effect.Effect<void, UsageError, Output> =>
  Effect.gen(function*() {
    const { fields, json } = yield* Output
    if (fields === undefined) return
    if (!json) return yield* new UsageError({ message: "--fields selects fields of JSON: add --json" })
    const Outputs = yield* Effect.promise(() => import("../schema/Outputs.ts"))
    const known = output === undefined ? [] : yield* Outputs.fieldsOf(output)
    const unknown = known && fields.find((field) => !known.includes(field))
    if (known !== undefined && unknown !== undefined) {
      return yield* new UsageError({
        message: known.length === 0
          ? `--fields can't be used with ${name}: its output has no fields`
          : `"${unknown}" is not a field of the output: use one or more of ${known.join(", ")}`
      })
    }
  })

interface CommandDescription extends Description {
  readonly output?: JsonOutput
}

const withProgram = ({ examples: [first, ...others], ...description }: Description): Description => ({
  ...description,
  examples: [`${program} ${first}`, ...others.map((line) => `${program} ${line}`)]
})

/** What a command with these flags and arguments is called with. */
type Input<Config extends Command.Command.Config> = Command.Command.Config.Infer<Config>

/** A command. Its examples are without the program's name. */
export const command = <const Name extends string, const Config extends Command.Command.Config, E, R>(
  name: Name,
  { output, ...description }: CommandDescription,
  config: Config,
  load: () => Promise<(input: NoInfer<Input<Config>>) => Effect.Effect<void, E, R>>
): Command.Command<Name, Input<Config>, {}, E | UsageError, Exclude<R, Scope.Scope> | Output> =>
  Command.make(name, config, (input) =>
    Effect.scoped(Effect.gen(function*() {
      yield* checkFields(name, output)
      const run = yield* Effect.promise(load)
      yield* run(input)
    }))).pipe(
      Manual.describe(withProgram(description)),
      Command.annotate(CommandOutput, output)
    )

/** A group of commands. Alone it shows its help. */
export const group = <
  const Name extends string,
  const Commands extends readonly [Command.Command.Any, ...ReadonlyArray<Command.Command.Any>]
>(
  name: Name,
  description: Description,
  commands: Commands
) => Command.make(name).pipe(Manual.describe(withProgram(description)), Command.withSubcommands(commands))

/** The JSON output of each command below one, by its words. */
export const outputsOf = (command: Command.Command.Any, path: ReadonlyArray<string> = []): ReadonlyMap<string, JsonOutput> =>
  new Map(command.subcommands.flatMap(({ commands }) => commands).flatMap((child) => {
    const words = [...path, child.name]
    const own = Context.get(child.annotations, CommandOutput)
    return [...(own === undefined ? [] : [[words.join(" "), own] as const]), ...outputsOf(child, words)]
  }))
