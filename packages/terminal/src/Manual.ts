/**
 * What a program tells of its commands, as plain data: made from the commands once, and from then on all that help, completions and
 * the page of the manual need. Knows neither the parser nor how anything of it is shown, and loads nothing.
 */

/** Something with what is said of it. */
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
  /** The last word that calls the command. */
  readonly name: string
  /** What it does, in a sentence or some. */
  readonly about: string
  /** What stands behind the words that call it. */
  readonly usage: string
  readonly args: ReadonlyArray<Entry>
  readonly options: ReadonlyArray<Entry>
  /** Without the program's name. */
  readonly examples: ReadonlyArray<string>
  readonly commands: ReadonlyArray<Page>
}

export interface Manual {
  readonly name: string
  readonly version: string
  readonly grammar: Grammar
  readonly page: Page
}

/** The page that some words lead to, as far as they are commands. */
export const pageAt = (page: Page, path: ReadonlyArray<string>): Page =>
  path.reduce((page, name) => page.commands.find((command) => command.name === name) ?? page, page)

/** Every page from one on, with the words that lead there, the program's name first. */
export const allPages = (page: Page, before: ReadonlyArray<string> = []): ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly page: Page }> => {
  const path = [...before, page.name]
  return [{ path, page }, ...page.commands.flatMap((command) => allPages(command, path))]
}
