/**
 * The commands of a program as plain data. Help, completions, the man page and the grammar of the command line use it.
 * Imports nothing, so that the launcher can load it alone.
 */

/** What the grammar of the command line requires of an argument. */
export interface ArgumentSyntax {
  /** In upper case, as `FILE`. */
  readonly name: string
  readonly required: boolean
  readonly repeated: boolean
  /** The valid values, if they are a fixed list. */
  readonly choices?: ReadonlyArray<string>
}

/** An argument of a command. */
export interface Argument extends ArgumentSyntax {
  readonly description: string
}

/** What the grammar of the command line requires of an option. */
export interface OptionSyntax {
  /** With its dashes, as `--limit`. */
  readonly name: string
  /** The name of its value, as `N`. Absent for a flag. */
  readonly value?: string
  readonly required: boolean
  readonly repeated: boolean
  /** The valid values, if they are a fixed list. */
  readonly choices?: ReadonlyArray<string>
}

/** An option of a command. */
export interface Option extends OptionSyntax {
  readonly description: string
}

/** What the grammar of the command line requires of a command. */
export interface CommandSyntax {
  readonly name: string
  readonly args: ReadonlyArray<ArgumentSyntax>
  readonly options: ReadonlyArray<OptionSyntax>
  readonly commands: ReadonlyArray<CommandSyntax>
}

/** A command with its help. */
export interface Page extends CommandSyntax {
  /** One sentence. */
  readonly summary: string
  /** Further paragraphs. */
  readonly details: ReadonlyArray<string>
  readonly args: ReadonlyArray<Argument>
  readonly options: ReadonlyArray<Option>
  /** Command lines without the program's name. */
  readonly examples: ReadonlyArray<string>
  readonly commands: ReadonlyArray<Page>
}

/** A table of names and descriptions, such as the environment variables. */
export interface Section {
  readonly title: string
  readonly entries: ReadonlyArray<{ readonly name: string; readonly description: string }>
}

export interface Manual {
  readonly name: string
  readonly version: string
  /** The program itself. Its options are valid with every command. */
  readonly page: Page
  /** Sections of the program's help and man page, such as the exit codes. */
  readonly sections: ReadonlyArray<Section>
}

/** The page at a command path. Ignores words that are not commands. */
export const pageAt = (page: Page, path: ReadonlyArray<string>): Page =>
  path.reduce((page, name) => page.commands.find((command) => command.name === name) ?? page, page)

/** A page and all pages below it, each with its command path from the program's name. */
export const allPages = (
  page: Page,
  parent: ReadonlyArray<string> = []
): ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly page: Page }> => {
  const path = [...parent, page.name]
  return [{ path, page }, ...page.commands.flatMap((command) => allPages(command, path))]
}

/** Every option of the program and of its commands, by name. The same name has the same syntax everywhere. */
export const optionsByName = (command: CommandSyntax): ReadonlyMap<string, OptionSyntax> =>
  new Map([
    ...command.commands.flatMap((child) => [...optionsByName(child)]),
    ...command.options.map((option) => [option.name, option] as const)
  ])

/** An option with its value, as `--limit N`. */
export const labelOf = ({ name, value }: OptionSyntax): string => value === undefined ? name : `${name} ${value}`

/** The usage line of a command, without the command itself. */
export const usageOf = ({ args, commands, options }: Page): string => {
  if (commands.length > 0) return "COMMAND"
  const required = options.filter((option) => option.required)
  return [
    ...args.map(({ name, repeated, required }) => {
      const word = repeated ? `${name}...` : name
      return required ? word : `[${word}]`
    }),
    ...required.map(labelOf),
    ...(required.length === options.length ? [] : ["[OPTION]..."])
  ].join(" ")
}
