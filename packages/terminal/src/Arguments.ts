/**
 * The words of a command line put into the one order that the parser reads without doubt: the command, options with their values,
 * flags, `--`, arguments. So options may stand anywhere, a value may begin with a dash or be called like a command, and what
 * can't be told apart is refused instead of guessed. Knows which options there are, and nothing of what they mean.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import { UsageError } from "./Problem.js"

/** @since 0.1.0 @category models */
export interface Grammar {
  /** Options with a value, as `--limit`; the same in every command. */
  readonly valued: ReadonlyArray<string>
  /** Those of them that may be given more than once. */
  readonly repeated: ReadonlyArray<string>
  /** Options without a value, as `--json`. */
  readonly flags: ReadonlyArray<string>
}

/** The commands below a command, by name. @since 0.1.0 @category models */
export type Commands = ReadonlyMap<string, { readonly children: Commands }>

/**
 * What a command line asks for: help on a command, the version, or that the parser runs these words.
 *
 * @since 0.1.0
 * @category models
 */
export type Request =
  | { readonly _tag: "Help"; readonly path: ReadonlyArray<string> }
  | { readonly _tag: "Version" }
  | { readonly _tag: "Run"; readonly path: ReadonlyArray<string>; readonly words: ReadonlyArray<string> }

const help = ["--help", "-h"]
const version = ["--version"]
const completions = ["--completions"]

// A lone dash is standard input, a dash before a digit a negative number.
const isOption = (word: string): boolean => word.startsWith("-") && !/^-(\d|$|\.\d)/.test(word)

interface Read {
  readonly path: ReadonlyArray<string>
  /** What the command that was found still needs behind it. */
  readonly below: Commands
  readonly options: ReadonlyMap<string, ReadonlyArray<string>>
  readonly flags: ReadonlySet<string>
  readonly words: ReadonlyArray<string>
  readonly unknown: ReadonlyArray<string>
}

const refuse = (message: string) => Either.left(new UsageError({ message }))

const read = (argv: ReadonlyArray<string>, grammar: Grammar, commands: Commands): Either.Either<Read, UsageError> => {
  const valued = [...grammar.valued, ...completions]
  const flags = [...grammar.flags, ...help, ...version]
  const path: Array<string> = []
  const options = new Map<string, ReadonlyArray<string>>()
  const given = new Set<string>()
  const words: Array<string> = []
  const unknown: Array<string> = []
  let below: Commands = commands
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? ""
    if (word === "--") {
      words.push(...argv.slice(index + 1))
      break
    }
    if (!isOption(word)) {
      const next = words.length === 0 ? below.get(word) : undefined
      if (next === undefined) words.push(word)
      else {
        path.push(word)
        below = next.children
      }
      continue
    }
    const equals = word.startsWith("--") ? word.indexOf("=") : -1
    const name = equals === -1 ? word : word.slice(0, equals)
    if (flags.includes(name)) {
      if (equals !== -1) return refuse(`${name} takes no value: leave out everything from the = on`)
      given.add(name)
    } else if (valued.includes(name)) {
      const following = argv[index + 1]
      const value = equals === -1 ? following : word.slice(equals + 1)
      if (value === undefined) return refuse(`${name} needs a value behind it`)
      if (equals === -1) {
        const option = value.startsWith("--") && value.includes("=") ? value.slice(0, value.indexOf("=")) : value
        if (value === "--" || valued.includes(option) || flags.includes(option)) {
          return refuse(`${name} needs a value behind it; if "${value}" is meant to be that value, write ${name}=${value}`)
        }
        index++
      }
      const earlier = options.get(name) ?? []
      if (earlier.length > 0 && !grammar.repeated.includes(name)) return refuse(`${name} is given twice: leave one of them out`)
      // The parser ends the options at this word wherever it stands.
      if (value === "--") return refuse(`the value of ${name} can't be two dashes`)
      options.set(name, [...earlier, value])
    } else unknown.push(word)
  }
  return Either.right({ path, below, options, flags: given, words, unknown })
}

const listed = (names: Iterable<string>): string => [...names].join(", ")

/**
 * Reads a command line, without the names of runtime and program. A wish for help or for the version goes before everything else; the
 * program's name alone is a wish for help. Otherwise the words are put into the order described above.
 *
 * @since 0.1.0
 * @category parsing
 */
export const normalize = (
  program: string,
  argv: ReadonlyArray<string>,
  grammar: Grammar,
  commands: Commands
): Either.Either<Request, UsageError> =>
  Either.flatMap(read(argv, grammar, commands), ({ below, flags, options, path, unknown, words }): Either.Either<Request, UsageError> => {
    const command = [program, ...path].join(" ")
    if (flags.has("--version")) return Either.right({ _tag: "Version" })
    if (help.some((flag) => flags.has(flag)) || argv.length === 0) return Either.right({ _tag: "Help", path })
    if (options.has("--completions")) return Either.right({ _tag: "Run", path, words: ["--completions", ...options.get("--completions") ?? []] })
    if (below.size > 0) {
      return refuse(
        words.length === 0
          ? `${command} needs a command behind it, one of ${listed(below.keys())}`
          : `there is no command "${command} ${words[0]}"; there are ${listed(below.keys())}`
      )
    }
    if (unknown.length > 0) return refuse(`${command} has no option ${unknown[0]}; see ${command} --help`)
    return Either.right({
      _tag: "Run",
      path,
      words: [
        ...path,
        ...[...options].flatMap(([name, values]) => values.flatMap((value) => [name, value])),
        ...flags,
        ...(words.length === 0 ? [] : ["--", ...words])
      ]
    })
  })

/**
 * Whether a flag is given, however wrong the rest of the line may be.
 *
 * @since 0.1.0
 * @category parsing
 */
export const has = (argv: ReadonlyArray<string>, flag: string): boolean => {
  const end = argv.indexOf("--")
  return (end === -1 ? argv : argv.slice(0, end)).includes(flag)
}
