/**
 * Runs the commands of a program: sorts the arguments, prints help and version on standard output, and fails with a
 * usage error for an invalid command line.
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
import * as Arguments from "./argv/Arguments.ts"
import * as Start from "./bootstrap/Start.ts"
import { UsageError } from "./errors/CliError.ts"
import * as KeyMask from "./errors/KeyMask.ts"
import * as Help from "./help/Help.ts"
import { type OutputError, Streams } from "./output/Streams.ts"
import { oneLine, withoutColour } from "./output/Text.ts"
import * as SecretFile from "./SecretFile.ts"

/** Renders the error of a value's validation as one sentence. `ArgvLexer` reports all other errors. */
const sentenceOf = (error: ValidationError.ValidationError, command: string): string => {
  const text = oneLine(withoutColour(HelpDoc.toAnsiText(error.error)))
  return error._tag === "InvalidValue" || error._tag === "InvalidArgument" ? text : `${text}: see ${command} --help`
}

/** The commands of a program, which are loaded when they are needed. */
export interface Commands<Name extends string, R, E, A> extends Help.Program {
  /** Loads the program with the named command alone, or with all commands. */
  readonly load: (name?: string) => Effect.Effect<Command.Command<Name, R, E, A>>
}

/** Runs the command that the arguments name. */
export const run = <Name extends string, R, E, A>({ load, ...program }: Commands<Name, R, E, A>) => {
  const manual = Effect.map(load(), (command) => Help.manual(command, program))
  return (
    argv: ReadonlyArray<string>
  ): Effect.Effect<void, Exclude<E, ValidationError.ValidationError> | UsageError | OutputError, R | Streams | CliApp.CliApp.Environment> =>
    Effect.gen(function*() {
      const { stdout } = yield* Streams
      yield* Effect.zipRight(KeyMask.addWords(argv), KeyMask.addConfigured)
      const answer = Start.mayAnswer(argv)
        ? Start.answer(yield* manual, argv, () => stdout.isTerminal ? stdout.columns() : 0)
        : undefined
      if (answer !== undefined) return yield* stdout.write(answer)
      const request = yield* Arguments.parse((yield* manual).page, argv)
      // `Start` answers every other request.
      if (request._tag !== "Run") return
      const parse = Command.run(yield* load(request.path[0]), { name: program.name, version: program.version, executable: program.name })
      const console = yield* Effect.console
      // @effect/cli also prints the error that it fails with.
      const silent: Console.Console = {
        ...console,
        error: () => Effect.void,
        log: (...texts: ReadonlyArray<unknown>) => Effect.ignore(stdout.write(`${withoutColour(texts.map(String).join(" ")).trimEnd()}\n`))
      }
      const config = yield* Effect.configProviderWith(SecretFile.withKeyFile)
      yield* Effect.withConfigProvider(KeyMask.addConfigured, config)
      yield* parse(["node", program.name, ...request.argv]).pipe(
        Effect.withConfigProvider(config),
        Effect.catchIf(ValidationError.isValidationError, (error) =>
          Effect.fail(new UsageError({ message: sentenceOf(error, [program.name, ...request.path].join(" ")) }))),
        Effect.withConsole(silent)
      )
    }).pipe(Effect.provideService(CliConfig.CliConfig, CliConfig.make({ isCaseSensitive: true })))
}

/** The services of `@effect/cli` on Node: file system, paths and terminal. */
export const layer: Layer.Layer<CliApp.CliApp.Environment> = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)
