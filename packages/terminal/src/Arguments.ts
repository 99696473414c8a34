/**
 * Normalises the arguments of a command line to the one order that the parser reads unambiguously: the command,
 * options with their values, flags, `--`, arguments. Options may stand anywhere, and a value may begin with a dash.
 * Ambiguous input fails. This is `Words` for programs on Effect.
 */
import * as Either from "effect/Either"
import type { Grammar } from "./Manual.js"
import { UsageError } from "./Problem.js"
import * as Words from "./Words.js"

export type { Grammar } from "./Manual.js"
export type { Commands, Request } from "./Words.js"

/** Parses a command line without the names of runtime and program. */
export const normalize = (
  program: string,
  argv: ReadonlyArray<string>,
  grammar: Grammar,
  commands: Words.Commands
): Either.Either<Words.Request, UsageError> => {
  const request = Words.request(program, argv, grammar, commands)
  return request._tag === "Refused" ? Either.left(new UsageError({ message: request.message })) : Either.right(request)
}

/** Whether a flag is set, also on an invalid command line. */
export const has = (argv: ReadonlyArray<string>, flag: string): boolean => {
  const end = argv.indexOf("--")
  return (end === -1 ? argv : argv.slice(0, end)).includes(flag)
}
