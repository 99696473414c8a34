/**
 * Checks the durations that callers pass as options. A typed text is not enough: `"30s"` from JavaScript, and `NaN` or a
 * negative number from a calculation, reach the client as well.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"

const decoded = Option.liftThrowable((input: Duration.DurationInput) => Duration.decode(input))

// Duration reads a negative number, and NaN, as zero.
const isNegative = (input: Duration.DurationInput): boolean =>
  typeof input === "string"
    ? input.startsWith("-")
    : typeof input === "bigint"
    ? input < 0n
    : typeof input === "number"
    ? !(input >= 0)
    : Array.isArray(input) && input.some((part) => !(part >= 0))

/**
 * A finite duration of zero or more, or what is required instead.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parse = (input: Duration.DurationInput): Either.Either<Duration.Duration, string> =>
  Option.match(Option.filter(decoded(input), (duration) => Duration.isFinite(duration) && !isNegative(input)), {
    onNone: () => Either.left(`must be a finite duration of zero or more, such as "30 seconds"`),
    onSome: Either.right
  })

/**
 * A finite duration above zero, or what is required instead.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parsePositive = (input: Duration.DurationInput): Either.Either<Duration.Duration, string> =>
  Either.filterOrLeft(
    Either.mapLeft(parse(input), () => notPositive),
    Duration.greaterThan(Duration.zero),
    () => notPositive
  )

const notPositive = `must be a finite duration above zero, such as "30 seconds"`
