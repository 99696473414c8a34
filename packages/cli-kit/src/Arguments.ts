/**
 * Normalises the arguments of a command line to the one order that the parser reads unambiguously: the command,
 * options with their values, flags, `--`, arguments. Options may stand anywhere, and a value may begin with a dash.
 * Ambiguous input fails. This is `ArgvLexer` for programs on Effect.
 */
import * as Either from "effect/Either"
import * as ArgvLexer from "./ArgvLexer.js"
import { UsageError } from "./CliError.js"
import type { Grammar } from "./Manual.js"

export type { Commands, Request } from "./ArgvLexer.js"
export type { Grammar } from "./Manual.js"

/** Parses a command line without the names of runtime and program. */
export const normalize = (
  program: string,
  argv: ReadonlyArray<string>,
  grammar: Grammar,
  commands: ArgvLexer.Commands
): Either.Either<ArgvLexer.Request, UsageError> => {
  const request = ArgvLexer.request(program, argv, grammar, commands)
  return request._tag === "Invalid" ? Either.left(new UsageError({ message: request.message })) : Either.right(request)
}

/** Whether a flag is set, also on an invalid command line. */
export const has = (argv: ReadonlyArray<string>, flag: string): boolean => {
  const end = argv.indexOf("--")
  return (end === -1 ? argv : argv.slice(0, end)).includes(flag)
}
