/** Flags and arguments of the programs: their descriptions name the default, and an invalid value is reported in one sentence. */
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { excerpt } from "./Text.ts"

/** Parses the text of a value, or returns a sentence that names it and says what it must be. */
export type Parse<A> = (written: string) => Result.Result<A, string>

const parseBy = <A>(parse: Parse<A>) => (written: string): Effect.Effect<A, CliError.ValidationError> =>
  Effect.mapError(Effect.fromResult(parse(written)), (message) => new CliError.ValidationError({ message }))

/** A flag with a value. */
export const text = (name: string, metavar: string, description: string): Flag.Flag<string> =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description))

/** A flag with a value that is parsed. */
export const parsed = <A>(name: string, metavar: string, description: string, parse: Parse<A>): Flag.Flag<A> =>
  Flag.mapEffect(text(name, metavar, description), parseBy(parse))

/**
 * A flag without a value, false by default. It takes its value only after `=`: the platform would take a following `1`, `yes` or `on`
 * for it, which may be an argument.
 */
export const boolean = (name: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(name).pipe(
    Flag.withOptionalValue("true"),
    Flag.withoutNegation,
    Flag.withDescription(description),
    Flag.withDefault(false)
  )

/** A flag that may be given several times. An empty value is an error: it is most likely an unset variable of a script. */
export const repeatable = (name: string, metavar: string, description: string): Flag.Flag<ReadonlyArray<string>> =>
  parsed(name, metavar, `${description.replace(/\.$/, "")} (repeatable).`, (written) =>
    written === ""
      ? Result.fail(`--${name} requires a value, but it is empty: remove the option, or give it a value`)
      : Result.succeed(written)).pipe(
      Flag.atLeast(0),
      // Without a default, the platform's help calls it required.
      Flag.withDefault([])
    )

/** Parses a whole number within bounds. */
export const parseWholeNumber = (
  name: string,
  { max = Number.MAX_SAFE_INTEGER, min }: { readonly min: number; readonly max?: number }
): Parse<number> =>
(written) =>
  /^\d{1,16}$/.test(written) && Number(written) >= min && Number(written) <= max
    ? Result.succeed(Number(written))
    : Result.fail(
      max >= Number.MAX_SAFE_INTEGER
        ? `${name} must be a whole number of at least ${min}, not "${excerpt(written)}"`
        : `${name} must be a whole number from ${min} to ${max}, not "${excerpt(written)}"`
    )

/** A flag with a whole number. Its description names the default, if there is one. */
export const wholeNumber = (
  name: string,
  { default: otherwise, description, ...bounds }: {
    readonly description: string
    readonly min: number
    readonly max?: number
    readonly default?: number
  }
): Flag.Flag<number> => {
  const parse = parseWholeNumber(`--${name}`, bounds)
  return otherwise === undefined
    ? parsed(name, "N", description, parse)
    : Flag.withDefault(parsed(name, "N", `${description.replace(/\.$/, "")} (default: ${otherwise}).`, parse), otherwise)
}

/** An argument, whose name is in upper case. */
export const argument = (name: string, description: string): Argument.Argument<string> =>
  Argument.String(name).pipe(Argument.withDescription(description))

/** An argument that is parsed. */
export const parsedArgument = <A>(name: string, description: string, parse: Parse<A>): Argument.Argument<A> =>
  Argument.mapEffect(argument(name, description), parseBy(parse))
