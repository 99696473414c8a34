/**
 * Parses the words of a command line: commands, options with their values, flags and arguments. Depends only on the
 * grammar, so that it runs before the program is loaded.
 */
import { distance } from "fastest-levenshtein"
import type { Grammar } from "./Manual.js"

/** The commands below a command, by name. `takes` gives the options of a command; it is called only for suggestions. */
export type Commands = ReadonlyMap<string, { readonly children: Commands; readonly takes: () => ReadonlyArray<string> }>

/** A usage error as one sentence. */
export interface Invalid {
  readonly _tag: "Invalid"
  readonly message: string
}

/** The request of a command line: help on a command, the version, or a command to run. */
export type Request =
  | { readonly _tag: "Help"; readonly path: ReadonlyArray<string> }
  | { readonly _tag: "Version" }
  | { readonly _tag: "Run"; readonly path: ReadonlyArray<string>; readonly words: ReadonlyArray<string> }

export interface Read {
  readonly _tag: "Read"
  readonly path: ReadonlyArray<string>
  /** The commands below the one that was found. */
  readonly below: Commands
  readonly takes: () => ReadonlyArray<string>
  readonly options: ReadonlyMap<string, ReadonlyArray<string>>
  readonly flags: ReadonlySet<string>
  readonly words: ReadonlyArray<string>
  readonly unknown: ReadonlyArray<string>
}

const help = ["--help", "-h"]
const version = ["--version"]

// A lone dash is standard input, a dash before a digit a negative number.
const isOption = (word: string): boolean => word.startsWith("-") && !/^-(\d|$|\.\d)/.test(word)

const globalsOf = (grammar: Grammar): ReadonlyArray<string> => (grammar.global ?? []).map(({ name }) => name)

const refuse = (message: string): Invalid => ({ _tag: "Invalid", message })

/** Sorts the words into commands, options, flags and arguments. */
export const read = (argv: ReadonlyArray<string>, grammar: Grammar, commands: Commands): Read | Invalid => {
  const { valued } = grammar
  const flags = [...grammar.flags, ...globalsOf(grammar), ...help, ...version]
  const path: Array<string> = []
  const options = new Map<string, ReadonlyArray<string>>()
  const given = new Set<string>()
  const words: Array<string> = []
  const unknown: Array<string> = []
  let below: Commands = commands
  let takes = (): ReadonlyArray<string> => []
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
        takes = next.takes
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
    } else unknown.push(name)
  }
  return { _tag: "Read", path, below, takes, options, flags: given, words, unknown }
}

/** The name that is nearest to a misspelt one; undefined if none is near. */
export const nearest = (written: string, names: Iterable<string>): string | undefined => {
  const [best] = [...names]
    .map((name) => ({ name, away: name.startsWith(written) && written.length > 2 ? 0 : distance(written, name) }))
    // At most two letters differ, and at most half of the word.
    .filter(({ away, name }) => away <= 2 && away * 2 <= name.replace(/^-+/, "").length)
    .toSorted((one, other) => one.away - other.away)
  return best?.name
}

const meant = (suggestion: string | undefined): string => suggestion === undefined ? "" : `; did you mean ${suggestion}?`

const listed = (names: Iterable<string>): string => [...names].join(", ")

const unknownCommand = (command: string, word: string, below: Commands): Invalid => {
  const suggestion = nearest(word, below.keys())
  return refuse(
    `there is no command "${command} ${word}"${
      suggestion === undefined ? `; there are ${listed(below.keys())}` : meant(`${command} ${suggestion}`)
    }`
  )
}

const noOption = (command: string, option: string, known: Iterable<string>): string => {
  const suggestion = nearest(option, known)
  return `${command} has no option ${option}${suggestion === undefined ? `; see ${command} --help` : meant(suggestion)}`
}

/**
 * Parses a command line. `--help` and `--version` win over everything else; no arguments and a leading `help` mean help. Otherwise the
 * words are returned in the one order that the parser reads unambiguously.
 */
export const request = (
  program: string,
  argv: ReadonlyArray<string>,
  grammar: Grammar,
  commands: Commands
): Request | Invalid => {
  const found = read(argv[0] === "help" && !commands.has("help") ? [...argv.slice(1), "--help"] : argv, grammar, commands)
  if (found._tag === "Invalid") return found
  const { below, flags, options, path, takes, unknown, words } = found
  const command = [program, ...path].join(" ")
  if (flags.has("--version")) return { _tag: "Version" }
  if (argv[0] === "help" && below.size > 0 && words[0] !== undefined) return unknownCommand(command, words[0], below)
  if (help.some((flag) => flags.has(flag)) || argv.length === 0) return { _tag: "Help", path }
  if (below.size > 0) {
    const [word] = words
    return word === undefined
      ? refuse(`${command} needs a command behind it, one of ${listed(below.keys())}`)
      : unknownCommand(command, word, below)
  }
  if (unknown[0] !== undefined) return refuse(noOption(command, unknown[0], [...takes(), ...globalsOf(grammar), "--help"]))
  return {
    _tag: "Run",
    path,
    words: [
      ...path,
      ...[...options].flatMap(([name, values]) => values.flatMap((value) => [name, value])),
      ...[...flags].filter((flag) => !globalsOf(grammar).includes(flag)),
      ...(words.length === 0 ? [] : ["--", ...words])
    ]
  }
}
