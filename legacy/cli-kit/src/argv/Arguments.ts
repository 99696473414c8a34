/** `ArgvLexer` for programs on Effect. */
import * as Either from "effect/Either"
import { UsageError } from "../errors/CliError.ts"
import type { CommandSyntax } from "../help/Manual.ts"
import * as ArgvLexer from "./ArgvLexer.ts"

/** Parses a command line without the names of runtime and program. Options may stand anywhere, and a value may start with a dash. */
export const parse = (program: CommandSyntax, argv: ReadonlyArray<string>): Either.Either<ArgvLexer.Request, UsageError> => {
  const request = ArgvLexer.parse(program, argv)
  return request._tag === "Invalid" ? Either.left(new UsageError({ message: request.message })) : Either.right(request)
}

/** Whether a flag is set, also on an invalid command line. */
export const has = (argv: ReadonlyArray<string>, flag: string): boolean => {
  const end = argv.indexOf("--")
  return (end === -1 ? argv : argv.slice(0, end)).includes(flag)
}
