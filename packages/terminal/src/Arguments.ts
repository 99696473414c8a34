/**
 * The words of a command line put into the one order that the parser reads without doubt: the command, options with their values,
 * flags, `--`, arguments. So options may stand anywhere, a value may begin with a dash or be called like a command, and what
 * can't be told apart is refused instead of guessed. How words are told apart is in `Words`; this is its form for programs on Effect.
 */
import * as Either from "effect/Either"
import type { Grammar } from "./Manual.js"
import { UsageError } from "./Problem.js"
import * as Words from "./Words.js"

export type { Grammar } from "./Manual.js"
export type { Commands, Request } from "./Words.js"

/** Reads a command line, without the names of runtime and program. */
export const normalize = (
  program: string,
  argv: ReadonlyArray<string>,
  grammar: Grammar,
  commands: Words.Commands
): Either.Either<Words.Request, UsageError> => {
  const request = Words.request(program, argv, grammar, commands)
  return request._tag === "Refused" ? Either.left(new UsageError({ message: request.message })) : Either.right(request)
}

/** Whether a flag is given, however wrong the rest of the line may be. */
export const has = (argv: ReadonlyArray<string>, flag: string): boolean => {
  const end = argv.indexOf("--")
  return (end === -1 ? argv : argv.slice(0, end)).includes(flag)
}
