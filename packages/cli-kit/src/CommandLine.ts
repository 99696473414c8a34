/**
 * Runs the commands of a program on `effect/cli`: prints help and version on standard output, and fails with a usage error for an invalid
 * command line, so that every failure is reported in one place.
 */
import * as CliConfig from "effect/cli/CliConfig"
import type * as CliError from "effect/cli/CliError"
import { isCliError } from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import { distance } from "fastest-levenshtein"
import { UsageError } from "./CliError.ts"
import * as HelpText from "./HelpText.ts"
import * as KeyMask from "./KeyMask.ts"
import * as Manual from "./Manual.ts"
import * as SecretFile from "./SecretFile.ts"
import { type OutputError, Streams } from "./Streams.ts"
import { excerpt } from "./Text.ts"

/** The program that runs, for commands that describe it. */
export class Program extends Context.Service<Program, {
  readonly command: Command.Command.Any
  /** The help of every command. */
  readonly pages: ReturnType<typeof Manual.pages>
}>()("@plaza/cli-kit/Program") {}

/** The width in a pipe and on a terminal that reports none. */
const defaultWidth = 80

/** Whether a flag without a value is set, also on an invalid command line. */
export const has = (argv: ReadonlyArray<string>, name: string, letter: string): boolean => {
  const end = argv.indexOf("--")
  // Also among other letters, the last of which may have a value.
  const set = new RegExp(`^(?:(?:--${name}|-[A-Za-z]*${letter})(?:=(?:true|yes|on|1|y))?|-[A-Za-z]*${letter}[A-Za-z]+(?:=.*)?)$`, "s")
  return (end === -1 ? argv : argv.slice(0, end)).some((word) => set.test(word))
}

/** The name most similar to a misspelt one; undefined if none is similar. */
export const nearest = (written: string, names: Iterable<string>): string | undefined => {
  const [best] = [...names]
    .map((name) => ({ name, away: name.startsWith(written) && written.length > 2 ? 0 : distance(written, name) }))
    // At most two letters differ, and at most half of the word.
    .filter(({ away, name }) => away <= 2 && away * 2 <= name.replace(/^-+/, "").length)
    .toSorted((one, other) => one.away - other.away)
  return best?.name
}

const unknownCommand = (path: ReadonlyArray<string>, word: string, names: ReadonlyArray<string>): string => {
  const name = path.join(" ")
  const similar = nearest(word, names)
  return `unknown command "${name} ${excerpt(word)}": ${
    similar === undefined ? `use one of ${names.join(", ")}` : `did you mean ${name} ${similar}?`
  }`
}

/** The label of a flag or an argument in a message. */
const labelOf = ({ kind, option }: CliError.InvalidValue): string => kind === "flag" ? `--${option}` : option

const invalidValue = (error: CliError.InvalidValue, isBoolean: boolean, name: string, argv: ReadonlyArray<string>): string => {
  const label = labelOf(error)
  const help = `see ${name} --help`
  if (/^\d+ (?:occurrences|values)$/.test(error.value)) return `${label} is given twice: remove one of them`
  if (isBoolean) return `${label} must be true or false, not "${excerpt(error.value)}": ${help}`
  const choices = error.expected.split(" | ")
  if (error.value === "" && !argv.includes(`${label}=`)) {
    const next = argv[argv.indexOf(label) + 1]
    return `${label} requires a value: ${
      next !== undefined && next.startsWith("-") && next !== "--" && argv.includes(label)
        ? `to use "${excerpt(next)}" as the value, write ${label}=${excerpt(next)}`
        : help
    }`
  }
  return `${label} must be one of ${choices.map((choice) => choice.replace(/^"|"$/g, "")).join(", ")}, not "${
    excerpt(error.value)
  }": ${help}`
}

/** The choices of an argument, which the platform's help leaves out. */
const choicesOf = (program: Command.Command.Any, path: ReadonlyArray<string>, argument: string): string => {
  const command = path.slice(1).reduce<Completions.CommandDescriptor | undefined>(
    (command, word) => command?.subcommands.find(({ name }) => name === word),
    Completions.fromCommand(program)
  )
  const type = command?.arguments.find(({ name }) => name === argument)?.type
  return type?._tag === "Choice" ? ` (${type.values.join(" | ")})` : ""
}

type Invalid = Extract<CliOutput.Presenter.Event, { readonly _tag: "InvalidInvocation" }>

/** One sentence about the first mistake. */
const sentenceOf = (
  program: Command.Command.Any,
  { commandPath, errors: [error], helpDoc }: Invalid,
  argv: ReadonlyArray<string>
): string => {
  const name = commandPath.join(" ")
  const help = `see ${name} --help`
  const flags = [...helpDoc.flags, ...helpDoc.globalFlags ?? []]
  switch (error?._tag) {
    case "UnrecognizedOption": {
      if (flags.some((flag) => [`--${flag.name}`, ...flag.aliases].includes(error.option))) {
        return `${error.option} must stand after ${name}: ${help}`
      }
      const similar = nearest(error.option, flags.map((flag) => `--${flag.name}`))
      return `${name} has no option ${excerpt(error.option)}: ${
        similar !== undefined
          ? `did you mean ${similar}?`
          : helpDoc.subcommands === undefined
          ? help
          : `options of a command stand after it, ${help}`
      }`
    }
    case "UnknownSubcommand":
      return unknownCommand(commandPath, error.subcommand,
        (helpDoc.subcommands ?? []).flatMap(({ commands }) => commands).map(({ name }) => name))
    case "MissingOption":
      return `${name} requires --${error.option}: ${help}`
    case "MissingArgument":
      return `${name} requires the argument ${error.argument}${choicesOf(program, commandPath, error.argument)}: ${help}`
    case "UnexpectedArgument":
      return `${name} takes no ${(helpDoc.args ?? []).length === 0 ? "" : "further "}argument "${
        excerpt(error.arguments[0] ?? "")
      }": ${help}`
    case "InvalidValue":
      return invalidValue(error, flags.some((flag) => flag.name === error.option && Manual.isSwitch(flag.type)), name, argv)
    case "DuplicateOption":
    case "UserError":
    case "ValidationError":
      return error.message
    case undefined:
      return help
  }
}

const subcommandsOf = (command: Command.Command.Any): ReadonlyArray<Command.Command.Any> =>
  command.subcommands.flatMap(({ commands }) => commands)

/** `help posts list` as `posts list --help`. Fails for a word that is no command, which `--help` ignores. */
const helpWords = (program: Command.Command.Any, words: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, UsageError> => {
  let command = program
  const path = [program.name]
  for (const word of words.filter((word) => !word.startsWith("-"))) {
    const commands = subcommandsOf(command).filter(({ unlisted }) => !unlisted)
    const next = commands.find(({ name }) => name === word)
    if (next === undefined) {
      return commands.length === 0
        ? Effect.succeed([...words, "--help"])
        : Effect.fail(new UsageError({ message: unknownCommand(path, word, commands.map(({ name }) => name)) }))
    }
    command = next
    path.push(word)
  }
  return Effect.succeed([...words, "--help"])
}

/** Whether a word is a flag, not a value such as `-5`. */
const isFlag = (word: string | undefined): word is string => word !== undefined && /^--?[A-Za-z]/.test(word)

/**
 * Rejects `--text --json hello`: the platform removes global flags first, so `--text` would get `hello`. Only two flags in a row can cause
 * this; other lines skip the check, which describes every command.
 */
const checkValues = (program: Command.Command.Any, words: ReadonlyArray<string>): Effect.Effect<void, UsageError> => {
  const end = words.indexOf("--")
  const before = end === -1 ? words : words.slice(0, end)
  const pairs = before.flatMap((word, index) => {
    const next = before[index + 1]
    return isFlag(word) && !word.includes("=") && isFlag(next) ? [{ word, next }] : []
  })
  if (pairs.length === 0 || before.some((word) => word === "--help" || word === "-h")) return Effect.void
  let command = Completions.fromCommand(program)
  const path = [command.name]
  for (const word of before) {
    const next = command.subcommands.find(({ name }) => name === word)
    if (next === undefined) continue
    command = next
    path.push(word)
  }
  const withValue = command.flags.filter(({ optionalValue, type }) => type._tag !== "Boolean" && optionalValue !== true)
    .flatMap(({ aliases, name }) => [`--${name}`, ...aliases.map((alias) => `-${alias}`)])
  const found = pairs.find(({ word }) => withValue.includes(word))
  if (found === undefined) return Effect.void
  const { next, word } = found
  const advice = word.startsWith("--")
    ? `to use "${excerpt(next)}" as the value, write ${word}=${excerpt(next)}`
    : `see ${path.join(" ")} --help`
  return Effect.fail(new UsageError({ message: `${word} requires a value: ${advice}` }))
}

/** What parsing of flags uses. */
type Files = FileSystem.FileSystem | Path.Path

/** What the platform's prompts use. No flag of the programs has a prompt, and to load these services takes as long as a tenth of a command. */
type PromptServices = Exclude<Command.Environment, Files>

/** The cast is true: the caller has handled the errors of the platform. */
const ownOf = <E>(error: unknown) => error as Exclude<E, CliError.CliError>

/** The cast is true: the effect has its program, and see `PromptServices`. */
const withoutPrompts = <R>() => <A, E>(effect: Effect.Effect<A, E, unknown>) =>
  effect as Effect.Effect<A, E, Exclude<R, Program | PromptServices> | Files>

/** Runs the command that the arguments name. */
export const run =
  <Name extends string, Input, E, R, ContextInput>(command: Command.Command<Name, Input, ContextInput, E, R>, version: string) =>
  (
    argv: ReadonlyArray<string>
  ): Effect.Effect<
    void,
    Exclude<E, CliError.CliError> | UsageError | OutputError,
    Exclude<R, Program | PromptServices> | Streams | Files
  > =>
    Effect.gen(function*() {
      const { stdout } = yield* Streams
      yield* KeyMask.addWords(argv)
      const config = yield* SecretFile.withKeyFile(yield* ConfigProvider.ConfigProvider)
      yield* Effect.provideService(KeyMask.addConfigured, ConfigProvider.ConfigProvider, config)
      const words = argv[0] === "help" ? yield* helpWords(command, argv.slice(1)) : argv
      yield* checkValues(command, words)
      let event: CliOutput.Presenter.Event | undefined
      const presenter = CliOutput.layerPresenter({
        present: (presented) =>
          Effect.sync(() => {
            event = presented
          })
      })
      yield* Command.runWith(command, { version })(words).pipe(
        // The presenter has its event.
        Effect.catch((error) => isCliError(error) ? Effect.void : Effect.fail(ownOf<E>(error))),
        Effect.provide(presenter),
        Effect.provideService(CliConfig.CliConfig, Manual.builtIns),
        Effect.provideService(ConfigProvider.ConfigProvider, config),
        Effect.provideService(Program, { command, pages: Manual.pages(command) }),
        withoutPrompts<R>()
      )
      switch (event?._tag) {
        case "Version":
          return yield* stdout.write(`${event.version}\n`)
        case "Help":
          return yield* stdout.write(HelpText.render(Manual.pageOf(event.helpDoc), stdout.isTerminal ? stdout.columns() : defaultWidth))
        case "InvalidInvocation":
          return yield* new UsageError({ message: sentenceOf(command, event, words) })
        case undefined:
      }
    })
