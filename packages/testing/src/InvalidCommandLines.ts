/**
 * Invalid command lines of every command of a program, derived from its manual, so that a new command is covered. Each is a usage error
 * that a person can act on: one line that names what is wrong.
 */

interface Argument {
  readonly name: string
  readonly description: string
  readonly required: boolean
  readonly variadic: boolean
}

interface Flag {
  readonly name: string
  readonly aliases: ReadonlyArray<string>
  readonly value: string | undefined
  readonly description: string
  readonly required: boolean
}

/** A page of a manual, as that of `@plaza/cli-kit`. */
interface Page {
  readonly path: ReadonlyArray<string>
  readonly args: ReadonlyArray<Argument>
  readonly flags: ReadonlyArray<Flag>
  readonly globals: ReadonlyArray<Flag>
  readonly commands: ReadonlyArray<{ readonly commands: ReadonlyArray<{ readonly name: string }> }>
}

export interface InvalidCommandLine {
  readonly argv: ReadonlyArray<string>
  /** What the message names. */
  readonly names: ReadonlyArray<string>
  /** It has an invalid value. The message says what the value must be. */
  readonly hasInvalidValue?: boolean
}

/** Words that a shell can pass and a terminal must not get as they are. */
const strangeWords = ["it's \"quoted\" `ticks`", "two\nlines\ttab", "\u001b[31mred\u001b[0m \u202eleft", "x".repeat(3_000)]

const notNumbers = ["abc", "", "1.2.3", "0x10", "1e3", "1,5", "\u0663", ...strangeWords]

const isNumber = ({ name, value }: { readonly name: string; readonly value?: string | undefined }): boolean =>
  value === "N" ? name !== "tracking-number" : value === undefined && name === "N"

/** The values that a description lists, as the platform's help and our own flags do. */
const choicesOf = ({ description }: { readonly description: string }): ReadonlyArray<string> | undefined =>
  /\(choices: ([^)]*)\)/.exec(description)?.[1]?.split(", ") ??
    /(?:^|: |One of )((?:[a-z]+, )+[a-z]+ or [a-z]+)[ .]/.exec(description)?.[1]?.split(/, | or /)

const isRepeatable = ({ description }: Flag): boolean => description.includes("(repeatable)")

/** A valid value of each argument and each value of a flag by its name, such as `METHOD`, where "1" is none. */
export type Samples = Readonly<Record<string, string>>

const valueFor =
  (samples: Samples) => (parameter: { readonly name: string; readonly value?: string | undefined; readonly description: string }): string =>
    samples[parameter.value ?? parameter.name] ?? choicesOf(parameter)?.[0] ?? "1"

const wordOf = ({ name }: Flag): string => `--${name}`

const leafCases = (
  { args, flags, globals, path: [, ...path] }: Page,
  { everyFlag, samples }: { readonly everyFlag: ReadonlyArray<Flag>; readonly samples: Samples }
): ReadonlyArray<InvalidCommandLine> => {
  const valueOf = valueFor(samples)
  const flagWords = (flag: Flag): ReadonlyArray<string> => flag.value === undefined ? [wordOf(flag)] : [wordOf(flag), valueOf(flag)]
  const own = [...flags, ...globals]
  const requiredFlags = flags.filter(({ required }) => required)
  const requiredArgs = args.filter(({ required }) => required)
  const line = (flags: ReadonlyArray<Flag>, args: ReadonlyArray<Argument>, ...more: ReadonlyArray<string>) => [
    ...path,
    ...flags.flatMap(flagWords),
    ...args.map(valueOf),
    ...more
  ]
  const valid = line(requiredFlags, requiredArgs)
  /** A valid line without a flag. */
  const validWithout = (flag: Flag) => line(requiredFlags.filter((other) => other !== flag), requiredArgs)
  const invalid = (argv: ReadonlyArray<string>, ...names: ReadonlyArray<string>): InvalidCommandLine => ({ argv, names })
  const invalidValue = (argv: ReadonlyArray<string>, ...names: ReadonlyArray<string>): InvalidCommandLine => ({
    argv,
    names,
    hasInvalidValue: true
  })
  const other = everyFlag.find(({ name }) => !own.some((flag) => flag.name === name))
  const long = own.find(({ name }) => name.length > 5)
  const [missing] = [...requiredArgs, ...requiredFlags.map(wordOf)].map((required) =>
    typeof required === "string" ? required : required.name
  )
  const isOpenEnded = args.some(({ variadic }) => variadic)
  return [
    ...requiredFlags.map((flag) => invalid(validWithout(flag), wordOf(flag))),
    // Arguments are given in order, so the last ones are missing. The first of them is named.
    ...requiredArgs.map(({ name }, index) => invalid(line(requiredFlags, requiredArgs.slice(0, index)), name)),
    ...(missing === undefined ? [] : [invalid(path, missing), invalid([...path, "--json"], missing), invalid(["-j", ...path], missing)]),
    ...["--nonsense", "--nonsense=1", "-X", "---"].map((word) => invalid([...valid, word], word.replace(/=.*$/, ""))),
    invalid([...valid, "-qX"], "-X"),
    ...strangeWords.map((word) => invalid([...valid, `--${word}`], "--")),
    ...(other === undefined
      ? []
      : [invalid([...valid, ...flagWords(other)], wordOf(other)), invalid([...flagWords(other), ...valid], wordOf(other))]),
    ...(long === undefined ? [] : [invalid([...valid, wordOf(long).slice(0, -1)], wordOf(long))]),
    ...flags.flatMap((flag) => [
      ...(flag.value === undefined ? [] : [
        ...[wordOf(flag), ...flag.aliases].map((word) => invalid([...validWithout(flag), word], wordOf(flag))),
        invalid([...validWithout(flag), wordOf(flag), "--json"], wordOf(flag)),
        invalid([...validWithout(flag), wordOf(flag), "--"], wordOf(flag))
      ]),
      ...(isRepeatable(flag) ? [] : [invalid([...validWithout(flag), ...flagWords(flag), ...flagWords(flag)], wordOf(flag))]),
      ...(flag.aliases.length === 0 || isRepeatable(flag)
        ? []
        : [invalid([...validWithout(flag), ...flagWords(flag), ...flag.aliases, ...flagWords(flag).slice(1)], wordOf(flag))]),
      ...(isRepeatable(flag) ? [invalid([...validWithout(flag), `${wordOf(flag)}=`], wordOf(flag))] : [])
    ]),
    ...own.flatMap((flag) =>
      // The value of a flag of the platform's own, such as --help, is not read.
      flag.value !== undefined || ["help", "version"].includes(flag.name)
        ? []
        : ["", "maybe", "\u001b[31m`two\"\nlines'"].map((word) => invalid([...valid, `${wordOf(flag)}=${word}`], wordOf(flag)))
    ),
    ...flags.flatMap((flag) =>
      choicesOf(flag) === undefined
        ? []
        : ["no-such-choice", "", ...strangeWords].map((word) =>
          invalidValue([...validWithout(flag), `${wordOf(flag)}=${word}`], wordOf(flag))
        )
    ),
    ...flags.flatMap((flag) =>
      isNumber(flag) ? notNumbers.map((word) => invalidValue([...validWithout(flag), `${wordOf(flag)}=${word}`], wordOf(flag))) : []
    ),
    ...args.flatMap((arg, index) =>
      choicesOf(arg) === undefined && !isNumber(arg)
        ? []
        : [...isNumber(arg) ? notNumbers : ["no-such-choice", "", ...strangeWords]].map((word) =>
          invalidValue([...line(requiredFlags, args.slice(0, index)), word])
        )
    ),
    ...(isOpenEnded ? [] : [
      ...["more", ...strangeWords].map((word) => invalid([...line(requiredFlags, args), word], "argument")),
      invalid([...line(requiredFlags, args), "--", "--json"], "argument")
    ])
  ]
}

/** Flags of every command are the same everywhere: they are tried with one command that needs no words of its own. */
const globalCases = ({ globals, path: [, ...valid] }: Page): ReadonlyArray<InvalidCommandLine> =>
  globals.flatMap((flag) => {
    const word = wordOf(flag)
    if (["help", "version"].includes(flag.name)) return []
    const lines = flag.value === undefined
      ? [[...valid, word, word], [word, ...valid, word], ...flag.aliases.map((alias) => [...valid, word, alias])]
      : [
        ...[word, ...flag.aliases].flatMap((name) => [[...valid, name], [...valid, name, "--quiet"], [...valid, name, "--"]]),
        [...valid, word, "a", word, "b"],
        [`${word}=a`, ...valid, `${word}=a`],
        ...flag.aliases.map((alias) => [...valid, word, "a", alias, "b"])
      ]
    return lines.map((argv) => ({ argv, names: [word] }))
  })

const groupCases = ({ commands, path: [program = "", ...path] }: Page): ReadonlyArray<InvalidCommandLine> => {
  const [first = ""] = commands.flatMap(({ commands }) => commands.map(({ name }) => name))
  const name = [program, ...path].join(" ")
  return [
    { argv: [...path, "no-such-command"], names: ["no-such-command", name] },
    { argv: [...path, "no-such-command", "--json"], names: ["no-such-command", name] },
    { argv: [...path, `${first}x`], names: [`${name} ${first}?`] },
    { argv: ["help", ...path, `${first}x`], names: [`${name} ${first}?`] },
    { argv: ["help", ...path, "no-such-command"], names: ["no-such-command", name] },
    { argv: [...path, "--nonsense"], names: [name, "--nonsense"] },
    { argv: [...path, "--quite"], names: [name, "--quiet?"] },
    ...["", ...strangeWords].map((word) => ({ argv: [...path, word], names: ["unknown command"] }))
  ]
}

/** The cases of a program, from its pages. */
export const all = (pages: ReadonlyArray<Page>, samples: Samples): ReadonlyArray<InvalidCommandLine> => {
  const everyFlag = pages.flatMap(({ flags }) => flags)
  const leaf = pages.find(({ args, commands, flags }) =>
    commands.length === 0 && args.length === 0 && !flags.some(({ required }) => required)
  )
  return [
    ...pages.flatMap((page) => page.commands.length === 0 ? leafCases(page, { everyFlag, samples }) : groupCases(page)),
    ...(leaf === undefined ? [] : globalCases(leaf))
  ]
}

/** Phrases of the parser library. */
const raw =
  /Expected|Received|Missing (?:required )?(?:argument|flag)|Unrecognized|Invalid value|occurrences|HelpDoc|validation failed|\bchoices\b/

const isSet = (argv: ReadonlyArray<string>, flag: RegExp): boolean => {
  const end = argv.indexOf("--")
  return (end === -1 ? argv : argv.slice(0, end)).some((word) => flag.test(word))
}

/** What is wrong with the result of an invalid command line; undefined if nothing is. */
export const complaintOf = (
  program: string,
  { argv, hasInvalidValue = false, names }: InvalidCommandLine,
  ended: { readonly code: number | string | null; readonly stdout: string; readonly stderr: string }
): string | undefined => {
  const message = isSet(argv, /^(?:--json|-j)$/)
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
