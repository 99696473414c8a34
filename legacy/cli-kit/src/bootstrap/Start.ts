/** The requests that the manual alone can answer, before the program is loaded: version, help and completions. */
import * as ArgvLexer from "../argv/ArgvLexer.ts"
import * as Complete from "../help/Complete.ts"
import * as HelpText from "../help/HelpText.ts"
import type { Manual } from "../help/Manual.ts"

/** The width in a pipe and on a terminal that reports none. */
const defaultWidth = 80

const requests = ["--help", "-h", "--version"]

/** Whether the manual may answer these arguments. */
export const mayAnswer = (argv: ReadonlyArray<string>): boolean =>
  argv.length === 0 || argv[0] === "help" || argv[0] === Complete.command || argv.some((word) => requests.includes(word))

/** The text to print; undefined if the program itself has to run. */
export const answer = (manual: Manual, argv: ReadonlyArray<string>, width: () => number): string | undefined => {
  if (argv[0] === Complete.command) return Complete.complete(manual, argv.slice(1))
  const request = ArgvLexer.parse(manual.page, argv)
  if (request._tag === "Version") return `${manual.version}\n`
  return request._tag === "Help" ? HelpText.render(manual, request.path, width() || defaultWidth) : undefined
}
