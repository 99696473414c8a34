/**
 * What a program can say before any of it is loaded: its version, its help, and what may be typed next. Knows what the manual tells, and
 * loads nothing else.
 */
import * as Complete from "./Complete.js"
import * as HelpText from "./HelpText.js"
import { type Manual, type Page, pageAt } from "./Manual.js"
import * as Words from "./Words.js"

/** Where none is told: in a pipe, and at a terminal that knows no width of its own. */
const usualWidth = 80

const wishes = ["--help", "-h", "--version"]

/** Whether these words may be answered from the manual alone; only then it has to be read. */
export const mayAnswer = (argv: ReadonlyArray<string>): boolean =>
  argv.length === 0 || argv[0] === "help" || argv[0] === Complete.command || argv.some((word) => wishes.includes(word))

/** The commands of a page, as the reader of words wants them. */
export const commandsOf = (page: Page): Words.Commands =>
  new Map(page.commands.map((command) => [command.name, {
    children: commandsOf(command),
    takes: () => command.options.map(({ name }) => name.split(" ")[0] ?? name)
  }]))

/** The answer; nothing where the program itself has to be asked. */
export const answer = (manual: Manual, argv: ReadonlyArray<string>, width: () => number): string | undefined => {
  if (argv[0] === Complete.command) return Complete.answer(manual, argv.slice(1))
  const request = Words.request(manual.name, argv, manual.grammar, commandsOf(manual.page))
  if (request._tag === "Version") return `${manual.version}\n`
  return request._tag === "Help" ? HelpText.render(pageAt(manual.page, request.path), [manual.name, ...request.path], width() || usualWidth) : undefined
}
