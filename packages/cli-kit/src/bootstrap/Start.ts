/**
 * What a program answers before it is loaded: its version, its help and completions. Depends only on the manual's
 * data.
 */
import * as ArgvLexer from "../ArgvLexer.js"
import * as Complete from "../Complete.js"
import * as HelpText from "../HelpText.js"
import { type Manual, type Page, pageAt } from "../Manual.js"

/** The width in a pipe and on a terminal that reports none. */
const defaultWidth = 80

const requests = ["--help", "-h", "--version"]

/** Whether the manual alone can answer these arguments. */
export const mayAnswer = (argv: ReadonlyArray<string>): boolean =>
  argv.length === 0 || argv[0] === "help" || argv[0] === Complete.command || argv.some((word) => requests.includes(word))

/** The commands of a page for the parser of `ArgvLexer`. */
export const commandsOf = (page: Page): ArgvLexer.Commands =>
  new Map(page.commands.map((command) => [command.name, {
    children: commandsOf(command),
    takes: () => command.options.map(({ name }) => name.split(" ")[0] ?? name)
  }]))

/** The text to print; undefined if the program itself has to run. */
export const answer = (manual: Manual, argv: ReadonlyArray<string>, width: () => number): string | undefined => {
  if (argv[0] === Complete.command) return Complete.answer(manual, argv.slice(1))
  const request = ArgvLexer.request(manual.name, argv, manual.grammar, commandsOf(manual.page))
  if (request._tag === "Version") return `${manual.version}\n`
  return request._tag === "Help"
    ? HelpText.render(pageAt(manual.page, request.path), [manual.name, ...request.path], width() || defaultWidth)
    : undefined
}
