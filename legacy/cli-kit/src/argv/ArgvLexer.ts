/**
 * Sorts the words of a command line into commands, options, flags and arguments, and reports what is wrong with them. Depends only on
 * the manual's data, so that it runs before the program is loaded. Why `@effect/cli` alone is not enough: docs/decisions/014.
 */
import { distance } from "fastest-levenshtein"
import { type ArgumentSyntax, type CommandSyntax, optionsByName, type OptionSyntax } from "../help/Manual.ts"
import { excerpt } from "../output/Text.ts"

/** A usage error, as one sentence. */
export interface Invalid {
  readonly _tag: "Invalid"
  readonly message: string
}

/** The request of a command line: help for a command, the version, or a command to run. */
export type Request =
  | { readonly _tag: "Help"; readonly path: ReadonlyArray<string> }
  | { readonly _tag: "Version" }
  /** `argv` is the command line in the order that `@effect/cli` parses unambiguously. */
  | { readonly _tag: "Run"; readonly path: ReadonlyArray<string>; readonly argv: ReadonlyArray<string> }

interface Tokens {
  readonly path: ReadonlyArray<string>
  /** The command at the path. */
  readonly command: CommandSyntax
  readonly options: ReadonlyMap<string, ReadonlyArray<string>>
  readonly flags: ReadonlySet<string>
  readonly args: ReadonlyArray<string>
  readonly unknown: ReadonlyArray<string>
}

const helpFlags = ["--help", "-h"]
const versionFlag = "--version"

// A lone dash is standard input, a dash before a digit a negative number.
const isOption = (word: string): boolean => word.startsWith("-") && !/^-(\d|$|\.\d)/.test(word)

const invalid = (message: string): Invalid => ({ _tag: "Invalid", message })

/** Sorts the words by the options of every command, because an option may precede its command. */
const tokenize = (program: CommandSyntax, argv: ReadonlyArray<string>): Tokens | Invalid => {
  const known = optionsByName(program)
  const isFlag = (name: string) =>
    helpFlags.includes(name) || name === versionFlag || (known.has(name) && known.get(name)?.value === undefined)
  const path: Array<string> = []
  const options = new Map<string, ReadonlyArray<string>>()
  const flags = new Set<string>()
  const args: Array<string> = []
  const unknown: Array<string> = []
  let command = program
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? ""
    if (word === "--") {
      args.push(...argv.slice(index + 1))
      break
    }
    if (!isOption(word)) {
      const next = args.length === 0 ? command.commands.find(({ name }) => name === word) : undefined
      if (next === undefined) args.push(word)
      else {
        path.push(word)
        command = next
      }
      continue
    }
    const equals = word.startsWith("--") ? word.indexOf("=") : -1
    const name = equals === -1 ? word : word.slice(0, equals)
    const option = known.get(name)
    const help = `see ${[program.name, ...path, "--help"].join(" ")}`
    if (isFlag(name)) {
      if (equals !== -1) {
        // Not "remove it": without its value, `--allow-writes=NAME` would allow more.
        return invalid(`${name} takes no value, but "${excerpt(word.slice(equals))}" follows it: ${help}`)
      }
      flags.add(name)
    } else if (option === undefined) unknown.push(name)
    else {
      const value = equals === -1 ? argv[index + 1] : word.slice(equals + 1)
      if (value === undefined) return invalid(`${name} requires a value: ${help}`)
      if (equals === -1) {
        const next = value.startsWith("--") && value.includes("=") ? value.slice(0, value.indexOf("=")) : value
        if (value === "--" || known.has(next) || isFlag(next)) {
          return invalid(
            value === "--"
              ? `${name} requires a value: ${help}`
              : `${name} requires a value: to use "${excerpt(value)}" as the value, write ${name}=${excerpt(value)}`
          )
        }
        index++
      }
      const earlier = options.get(name) ?? []
      if (earlier.length > 0 && !option.repeated) return invalid(`${name} is given twice: remove one of them`)
      // @effect/cli drops an empty value of a repeatable option, and the command would run without it.
      if (value === "" && option.repeated) return invalid(`${name} requires a value, but it is empty: ${help}`)
      // @effect/cli ends the options at this word wherever it stands.
      if (value === "--") return invalid(`${name} can't have the value "--": ${help}`)
      options.set(name, [...earlier, value])
    }
  }
  return { path, command, options, flags, args, unknown }
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

const namesOf = (named: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<string> => named.map(({ name }) => name)

const unknownCommand = (path: string, word: string, { commands }: CommandSyntax): Invalid => {
  const similar = nearest(word, namesOf(commands))
  return invalid(
    `unknown command "${path} ${excerpt(word)}": ${
      similar === undefined ? `use one of ${namesOf(commands).join(", ")}` : `did you mean ${path} ${similar}?`
    }`
  )
}

const unknownOption = (path: string, option: string, known: Iterable<string>): Invalid => {
  const similar = nearest(option, known)
  return invalid(`${path} has no option ${excerpt(option)}: ${similar === undefined ? `see ${path} --help` : `did you mean ${similar}?`}`)
}

/** `a`, `a and b`, or `a, b and c`. */
const listed = (names: ReadonlyArray<string>): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`

const labelOf = ({ choices, name }: ArgumentSyntax | OptionSyntax): string =>
  choices === undefined ? name : `${name} (${choices.join(" | ")})`

/** What is missing, superfluous or not one of the choices. */
const mistake = (path: string, { args: params, options: declared }: CommandSyntax, { args, options }: Tokens): Invalid | undefined => {
  const help = `see ${path} --help`
  const isOpenEnded = params.some(({ repeated }) => repeated)
  const superfluous = isOpenEnded ? undefined : args[params.length]
  if (superfluous !== undefined) {
    return invalid(`${path} takes no ${params.length === 0 ? "" : "further "}argument "${excerpt(superfluous)}": ${help}`)
  }
  const missingArgs = params.filter(({ required }, index) => required && args.length <= index).map(labelOf)
  const missing = [
    ...(missingArgs.length === 0 ? [] : [`the ${missingArgs.length === 1 ? "argument" : "arguments"} ${listed(missingArgs)}`]),
    ...declared.filter(({ name, required }) => required && !options.has(name)).map(labelOf)
  ]
  if (missing.length > 0) return invalid(`${path} requires ${listed(missing)}: ${help}`)
  const given = [
    ...params.flatMap((param, index) =>
      (param.repeated ? args.slice(index) : args.slice(index, index + 1)).map((value) => ({ param, value }))
    ),
    ...declared.flatMap((param) => (options.get(param.name) ?? []).map((value) => ({ param, value })))
  ]
  const wrong = given.find(({ param, value }) => param.choices?.includes(value) === false)
  return wrong === undefined
    ? undefined
    : invalid(`${wrong.param.name} must be one of ${wrong.param.choices?.join(", ")}, not "${excerpt(wrong.value)}": ${help}`)
}

/**
 * Parses a command line without the names of runtime and program. `--help` and `--version` win over everything else; no words and a
 * leading `help` mean help.
 */
export const parse = (program: CommandSyntax, argv: ReadonlyArray<string>): Request | Invalid => {
  const isHelpCommand = argv[0] === "help" && !program.commands.some(({ name }) => name === "help")
  const tokens = tokenize(program, isHelpCommand ? [...argv.slice(1), "--help"] : argv)
  if ("_tag" in tokens) return tokens
  const { args, command, flags, options, path, unknown } = tokens
  const name = [program.name, ...path].join(" ")
  if (flags.has(versionFlag)) return { _tag: "Version" }
  const isGroup = command.commands.length > 0
  if (isHelpCommand && isGroup && args[0] !== undefined) return unknownCommand(name, args[0], command)
  if (helpFlags.some((flag) => flags.has(flag)) || argv.length === 0) return { _tag: "Help", path }
  if (isGroup) {
    return args[0] === undefined
      ? invalid(`${name} requires a command: use one of ${namesOf(command.commands).join(", ")}`)
      : unknownCommand(name, args[0], command)
  }
  const own = [...namesOf(command.options), ...namesOf(program.options)]
  // An option of another command, which @effect/cli would take as an argument of a command with any number of them.
  const strange = unknown[0] ?? [...options.keys(), ...flags].find((option) => !own.includes(option))
  if (strange !== undefined) return unknownOption(name, strange, [...own, "--help"])
  const wrong = mistake(name, command, tokens)
  if (wrong !== undefined) return wrong
  const words = [...options].flatMap(([option, values]) => values.flatMap((value) => [option, value]))
  // Options of the program stand before the command.
  const ofProgram = [...flags].filter((flag) => program.options.some((option) => option.name === flag))
  return {
    _tag: "Run",
    path,
    argv: [
      ...ofProgram,
      ...path,
      ...words,
      ...[...flags].filter((flag) => !ofProgram.includes(flag)),
      ...(args.length === 0 ? [] : ["--", ...args])
    ]
  }
}
