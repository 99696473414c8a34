/**
 * Runs a program's commands: normalises the arguments, prints help and version on standard output, and reports a
 * usage error once on standard error.
 */
import type * as CliApp from "@effect/cli/CliApp"
import * as CliConfig from "@effect/cli/CliConfig"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as ValidationError from "@effect/cli/ValidationError"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import type * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Arguments from "./Arguments.js"
import type { Commands as LexerCommands } from "./ArgvLexer.js"
import * as Start from "./bootstrap/Start.js"
import { UsageError } from "./CliError.js"
import * as Commands from "./Commands.js"
import * as Help from "./Help.js"
import type { Manual } from "./Manual.js"
import * as SecretFile from "./SecretFile.js"
import { type OutputError, Streams } from "./Streams.js"
import { oneLine, withoutColour } from "./Text.js"

/** The parser's messages for common errors, and their replacements. */
const plainer: ReadonlyArray<readonly [RegExp, (name: string, command: string) => string]> = [
  [/^Expected to find option: '(.+)'$/, (name, command) => `${command} needs ${name}`],
  [/^Missing argument <(.+)>$/, (name, command) => `${command} needs ${name} behind it`],
  [/^Received unknown argument: '(--?\D.*)'$/, (name, command) => `${command} has no option ${name}`],
  [/^Received unknown argument: '(.*)'$/, (name, command) => `${command} can't use "${name}": leave it out`]
]

/** Renders a parser's error as one sentence. */
export const sentenceOf = (error: ValidationError.ValidationError, command: string): string => {
  const text = oneLine(withoutColour(HelpDoc.toAnsiText(error.error)))
  const sentences = plainer.flatMap(([pattern, say]) => {
    const name = pattern.exec(text)?.[1]
    return name === undefined ? [] : [say(name, command)]
  })
  return `${sentences[0] ?? text}; see ${command} --help`
}

export type Options = Pick<Manual, "name" | "version" | "grammar">

const wordsOf = (node: Commands.Node): LexerCommands =>
  new Map([...node.children].map(([name, child]) => [name, { children: wordsOf(child), takes: () => Help.takenBy(child) }]))

/** Runs a command with the arguments of the process. */
export const run = <Name extends string, R, E, A>(command: Command.Command<Name, R, E, A>, options: Options) => {
  const commands = wordsOf(Commands.tree(command))
  const parse = Command.run(command, { name: options.name, version: options.version, executable: options.name })
  return (
    argv: ReadonlyArray<string>
  ): Effect.Effect<void, Exclude<E, ValidationError.ValidationError> | UsageError | OutputError, R | Streams | CliApp.CliApp.Environment> =>
    Effect.gen(function*() {
      const { stdout } = yield* Streams
      const answer = Start.mayAnswer(argv)
        ? Start.answer(Help.manual(command, options), argv, () => stdout.isTerminal ? stdout.columns() : 0)
        : undefined
      if (answer !== undefined) return yield* stdout.write(answer)
      const request = yield* Arguments.normalize(options.name, argv, options.grammar, commands)
      // Answered by then.
      if (request._tag !== "Run") return
      const console = yield* Effect.console
      // The parser also prints the error that it fails with; drop its print.
      const quiet: Console.Console = {
        ...console,
        error: () => Effect.void,
        log: (...texts: ReadonlyArray<unknown>) => Effect.ignore(stdout.write(`${withoutColour(texts.map(String).join(" ")).trimEnd()}\n`))
      }
      const config = yield* Effect.configProviderWith(SecretFile.withKeyFile)
      yield* parse(["node", options.name, ...request.words]).pipe(
        Effect.withConfigProvider(config),
        Effect.catchIf(ValidationError.isValidationError, (error) =>
          Effect.fail(new UsageError({ message: sentenceOf(error, [options.name, ...request.path].join(" ")) }))),
        Effect.withConsole(quiet)
      )
    }).pipe(Effect.provide(CliConfig.layer({ isCaseSensitive: true })))
}

/** The services of the parser: file system, paths and terminal. */
export const layer: Layer.Layer<CliApp.CliApp.Environment> = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)
