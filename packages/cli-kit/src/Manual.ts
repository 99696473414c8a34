/**
 * The commands of a program as plain data. Help, completions and the man page are made from it. Imports nothing.
 */

/** An argument or option with its description. */
export interface Entry {
  /** An argument as `FILE`, an option as `--json` or `--limit N`. */
  readonly name: string
  readonly said: string
}

/** Every option of every command, and whether it has a value. */
export interface Grammar {
  /** Options with a value, as `--limit`; the same in every command. */
  readonly valued: ReadonlyArray<string>
  /** Those of them that may be given more than once. */
  readonly repeated: ReadonlyArray<string>
  /** Options without a value, as `--json`. */
  readonly flags: ReadonlyArray<string>
  /** Options without a value that the program takes itself, before any command of its own sees the line. */
  readonly global?: ReadonlyArray<Entry>
}

export interface Page {
  /** The last word of the command. */
  readonly name: string
  /** What the command does, in one or more sentences. */
  readonly about: string
  /** The usage line behind the command's name. */
  readonly usage: string
  readonly args: ReadonlyArray<Entry>
  readonly options: ReadonlyArray<Entry>
  /** Command lines without the program's name. */
  readonly examples: ReadonlyArray<string>
  readonly commands: ReadonlyArray<Page>
}

export interface Manual {
  readonly name: string
  readonly version: string
  readonly grammar: Grammar
  readonly page: Page
}

/** The page of a command path; words that are no commands are ignored. */
export const pageAt = (page: Page, path: ReadonlyArray<string>): Page =>
  path.reduce((page, name) => page.commands.find((command) => command.name === name) ?? page, page)

/** A page and all pages below it, each with its command path, the program's name first. */
export const allPages = (
  page: Page,
  before: ReadonlyArray<string> = []
): ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly page: Page }> => {
  const path = [...before, page.name]
  return [{ path, page }, ...page.commands.flatMap((command) => allPages(command, path))]
}
