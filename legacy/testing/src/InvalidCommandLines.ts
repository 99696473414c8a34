/**
 * Invalid command lines of every command of a program, derived from its manual, so that a new command is covered. Each is a usage error
 * that a person can act on: one line that names what is wrong.
 */

interface Parameter {
  readonly name: string
  readonly required: boolean
  readonly repeated: boolean
  readonly choices?: ReadonlyArray<string>
}

interface Option extends Parameter {
  readonly value?: string
}

interface Page {
  readonly name: string
  readonly args: ReadonlyArray<Parameter>
  readonly options: ReadonlyArray<Option>
  readonly commands: ReadonlyArray<Page>
}

export interface InvalidCommandLine {
  readonly argv: ReadonlyArray<string>
  /** What the message names. */
  readonly names: ReadonlyArray<string>
  /** It has an invalid value. The message says what the value must be, and may report another setting first. */
  readonly hasInvalidValue?: boolean
}

/** Words that a shell can pass and a terminal must not get as they are. */
const strangeWords = ["it's \"quoted\" `ticks`", "two\nlines\ttab", "\u001b[31mred\u001b[0m \u202eleft", "x".repeat(3_000)]

const notNumbers = ["abc", "", "1.2.3", "0x10", "1e3", "1,5", "\u0663", ...strangeWords]

const without = <A>(list: ReadonlyArray<A>, index: number): ReadonlyArray<A> => list.filter((_, at) => at !== index)

/** The names of arguments that are numbers. All options with the value `N` are numbers, except a tracking number. */
const numbers = ["N", "SNAPSHOT"]

const valueOf = ({ choices }: Parameter): string => choices?.[0] ?? "1"

const optionWords = (option: Option): ReadonlyArray<string> => [option.name, valueOf(option)]

const leafCases = (path: ReadonlyArray<string>, page: Page, everyOption: ReadonlyArray<Option>): ReadonlyArray<InvalidCommandLine> => {
  const options = page.options.filter(({ required }) => required)
  const args = page.args.filter(({ required }) => required)
  const line = (options: ReadonlyArray<Option>, args: ReadonlyArray<Parameter>, ...more: ReadonlyArray<string>) => [
    ...path,
    ...options.flatMap(optionWords),
    ...args.map(valueOf),
    ...more
  ]
  const valid = line(options, args)
  const other = everyOption.find(({ name }) => !page.options.some((option) => option.name === name))
  const [long] = page.options.filter(({ name }) => name.length > 5)
  const invalid = (argv: ReadonlyArray<string>, ...names: ReadonlyArray<string>): InvalidCommandLine => ({ argv, names })
  const isOpenEnded = page.args.some(({ repeated }) => repeated)
  const missing = [...args, ...options].map(({ name }) => name)
  return [
    ...options.map(({ name }, index) => invalid(line(without(options, index), args), name)),
    // Arguments are given in order, so the last ones are missing.
    ...args.map((_, index) => invalid(line(options, args.slice(0, index)), ...args.slice(index).map(({ name }) => name))),
    ...(missing.length === 0 ? [] : [invalid(path, ...missing), invalid([...path, "--json"], ...missing)]),
    ...["--nonsense", "--nonsense=1", "-x", "---", "--="].map((word) => invalid([...valid, word], word.replace(/=.*$/, ""))),
    ...strangeWords.map((word) => invalid([...valid, `--${word}`], "--")),
    ...(other === undefined ? [] : [
      invalid([...valid, ...other.value === undefined ? [other.name] : optionWords(other)], other.name),
      invalid([...other.value === undefined ? [other.name] : optionWords(other), ...valid], other.name)
    ]),
    ...(long === undefined ? [] : [invalid([...valid, long.name.slice(0, -1)], long.name)]),
    ...page.options.flatMap((option) =>
      option.value === undefined
        ? ["", "true", "\u001b[31m`two\"\nlines'"].map((word) => invalid([...valid, `${option.name}=${word}`], option.name))
        : [
          invalid([...line(options.filter(({ name }) => name !== option.name), args), option.name], option.name),
          invalid([...line(options.filter(({ name }) => name !== option.name), args), option.name, "--json"], option.name),
          invalid([...line(options.filter(({ name }) => name !== option.name), args), `${option.name}=--`], option.name),
          ...(option.repeated ? [] : [invalid([...valid, ...optionWords(option), ...optionWords(option)], option.name)])
        ]
    ),
    ...[...page.options, ...page.args].flatMap((parameter) =>
      parameter.choices === undefined ? [] : ["no-such-choice", "", ...strangeWords].map((word) =>
        "value" in parameter
          ? invalid([...valid, `${parameter.name}=${word}`], parameter.name)
          : invalid([...path, ...options.flatMap(optionWords), word], parameter.name)
      )
    ),
    ...page.options.flatMap((option) =>
      option.value !== "N" || option.name === "--tracking-number" ? [] : notNumbers.map((word) => ({
        argv: [...line(options.filter(({ name }) => name !== option.name), args), `${option.name}=${word}`],
        names: [],
        hasInvalidValue: true
      }))
    ),
    ...page.args.flatMap(({ name }, index) =>
      !numbers.includes(name) ? [] : notNumbers.map((word) => ({
        argv: [...line(options, page.args.slice(0, index)), word],
        names: [],
        hasInvalidValue: true
      }))
    ),
    ...(isOpenEnded ? [] : strangeWords.map((word) => invalid([...line(options, page.args), word], "argument")))
  ]
}

const groupCases = (path: ReadonlyArray<string>, page: Page): ReadonlyArray<InvalidCommandLine> => [
  ...(path.length === 0 ? [] : [{ argv: path, names: [page.name] }]),
  { argv: [...path, "--json"], names: [page.name] },
  { argv: [...path, "no-such-command"], names: ["no-such-command"] },
  { argv: [...path, `${page.commands[0]?.name}x`], names: [page.commands[0]?.name ?? ""] },
  ...["", ...strangeWords].map((word) => ({ argv: [...path, word], names: ["unknown command"] }))
]

const casesOf = (path: ReadonlyArray<string>, page: Page, everyOption: ReadonlyArray<Option>): ReadonlyArray<InvalidCommandLine> =>
  page.commands.length === 0
    ? leafCases(path, page, everyOption)
    : [...groupCases(path, page), ...page.commands.flatMap((child) => casesOf([...path, child.name], child, everyOption))]

const optionsOf = (page: Page): ReadonlyArray<Option> => [...page.options, ...page.commands.flatMap(optionsOf)]

/** The cases of a program. Options of the program itself are valid with every command. */
export const all = (program: Page): ReadonlyArray<InvalidCommandLine> =>
  casesOf([], program, program.commands.flatMap(optionsOf).filter(({ name }) => !program.options.some((option) => option.name === name)))

/** Phrases of the parser library. */
const raw = /Expected|Received|Missing argument|HelpDoc|\bis not a integer\b|with choices|\bcases\b/

/** What is wrong with the result of an invalid command line; undefined if nothing is. */
export const complaintOf = (
  program: string,
  { argv, hasInvalidValue = false, names }: InvalidCommandLine,
  ended: { readonly code: number | string | null; readonly stdout: string; readonly stderr: string }
): string | undefined => {
  const isJson = argv.includes("--json")
  const message = isJson
    ? messageOf(ended.stderr)
    : ended.stderr.startsWith(`${program}: `)
    ? ended.stderr.slice(program.length + 2, -1)
    : undefined
  return ended.code !== 2
    ? `exit code ${ended.code}`
    : ended.stdout !== ""
    ? "prints a result"
    : message === undefined || !ended.stderr.endsWith("\n")
    ? "is not reported in the form of a failure"
    : /[\p{Control}\p{Bidi_Control}]/u.test(message)
    ? "is not one line of plain text"
    : message.length > 700
    ? "is too long to read"
    : raw.test(message)
    ? "shows a text of the parser library"
    : !names.every((name) => message.includes(name))
    ? `does not name ${names.filter((name) => !message.includes(name)).join(", ")}`
    : !hasInvalidValue && !/--help$|did you mean .+\?$|use one of .+$|: (?:remove|write|to use) .+$/.test(message)
    ? "does not say what to do"
    : undefined
}

const messageOf = (json: string): string | undefined => {
  const parsed: unknown = JSON.parse(json)
  // The cast is true or the result undefined: only the fields that are there are read.
  const { error } = parsed as { readonly error?: { readonly tag?: unknown; readonly message?: unknown } }
  return error?.tag === "UsageError" && typeof error.message === "string" ? error.message : undefined
}
