/**
 * Runs a program's commands: the words in their order, help and version on standard output without the colours of a terminal where
 * there is none, and wrong words as one error instead of a page on each stream. Knows nothing of what the commands do.
 *
 * @since 0.1.0
 */
import type * as CliApp from "@effect/cli/CliApp"
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as ValidationError from "@effect/cli/ValidationError"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import type * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Arguments from "./Arguments.js"
import { UsageError } from "./Problem.js"
import { type OutputError, Streams } from "./Streams.js"
import { oneLine, withoutColour } from "./Text.js"

/** The names of the commands below one, all the way down. */
const commandsOf = (below: HashMap.HashMap<string, CommandDescriptor.Command<unknown>>): Arguments.Commands =>
  new Map([...HashMap.entries(below)].map(([name, command]) => {
    const next = CommandDescriptor.getSubcommands(command)
    // Without any below it, a command names itself.
    return [name, HashMap.has(next, name) && HashMap.size(next) === 1 ? new Map() : commandsOf(next)]
  }))

/**
 * The words of a parser's error, on one line.
 *
 * @since 0.1.0
 * @category errors
 */
export const sentenceOf = (error: ValidationError.ValidationError): string => oneLine(withoutColour(HelpDoc.toAnsiText(error.error)))

/** @since 0.1.0 @category models */
export interface Options {
  readonly name: string
  readonly version: string
  readonly grammar: Arguments.Grammar
}

/**
 * Runs a command on the words behind the program's name.
 *
 * @since 0.1.0
 * @category running
 */
export const run = <Name extends string, R, E, A>(command: Command.Command<Name, R, E, A>, options: Options) => {
  const commands = commandsOf(Command.getSubcommands(command))
  const parse = Command.run(command, { name: options.name, version: options.version, executable: options.name })
  return (
    argv: ReadonlyArray<string>
  ): Effect.Effect<void, Exclude<E, ValidationError.ValidationError> | UsageError | OutputError, R | Streams | CliApp.CliApp.Environment> =>
    Effect.gen(function*() {
      const words = yield* Arguments.normalize(options.name, argv, options.grammar, commands)
      const { stdout } = yield* Streams
      const console = yield* Effect.console
      // The parser prints what it then fails with; it is said once, with the failure.
      const quiet: Console.Console = {
        ...console,
        error: () => Effect.void,
        log: (...texts: ReadonlyArray<unknown>) => {
          const text = texts.map(String).join(" ").trimEnd()
          return Effect.ignore(stdout.write(`${stdout.colour ? text : withoutColour(text)}\n`))
        }
      }
      yield* parse(["node", options.name, ...words]).pipe(
        Effect.catchIf(ValidationError.isValidationError, (error) =>
          Effect.fail(new UsageError({ message: `${sentenceOf(error)}; see ${options.name} --help` }))),
        Effect.withConsole(quiet)
      )
    }).pipe(Effect.provide(CliConfig.layer({ isCaseSensitive: true })))
}

/**
 * What the parser needs: files and paths for options that name them, and the terminal.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<CliApp.CliApp.Environment> = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)
