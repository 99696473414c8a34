/** Validates the values of options and arguments. An error is one sentence, instead of the text of `@effect/cli`. */
import * as Args from "@effect/cli/Args"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Either from "effect/Either"
import { excerpt } from "../output/Text.ts"

/** Parses the text of a value, or returns a sentence that names it and says what it must be. */
export type Parse<A> = (written: string) => Either.Either<A, string>

/** An option whose text is parsed. */
export const option = <A>(parse: Parse<A>) => (option: Options.Options<string>): Options.Options<A> =>
  Options.mapEffect(option, (written) => Either.mapLeft(parse(written), (message) => ValidationError.invalidValue(HelpDoc.p(message))))

/** An argument whose text is parsed. */
export const argument = <A>(parse: Parse<A>) => (argument: Args.Args<string>): Args.Args<A> =>
  Args.mapEffect(argument, (written) => Either.mapLeft(parse(written), HelpDoc.p))

const maxWholeNumber = 999_999_999_999_999

/** Parses a whole number within bounds. */
export const wholeNumber = (
  name: string,
  { max = maxWholeNumber, min }: { readonly min: number; readonly max?: number }
): Parse<number> =>
(written) =>
  /^\d{1,16}$/.test(written) && Number(written) >= min && Number(written) <= max
    ? Either.right(Number(written))
    : Either.left(
      max >= maxWholeNumber
        ? `${name} must be a whole number of at least ${min}, not "${excerpt(written)}"`
        : `${name} must be a whole number from ${min} to ${max}, not "${excerpt(written)}"`
    )
