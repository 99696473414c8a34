/**
 * Validates durations from options and from text. Types are not enough: JavaScript code can pass `"30s"`, and a calculation can
 * return `NaN` or a negative number.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"

const decoded = Option.liftThrowable((input: Duration.DurationInput) => Duration.decode(input))

// `Duration.decode` converts a negative number and NaN to zero.
const isNegative = (input: Duration.DurationInput): boolean =>
  typeof input === "string"
    ? input.startsWith("-")
    : typeof input === "bigint"
    ? input < 0n
    : typeof input === "number"
    ? !(input >= 0)
    : Array.isArray(input) && input.some((part) => !(part >= 0))

/**
 * Parses a finite duration of zero or more. The left value is the violated requirement, for an error message.
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
 * Parses a finite duration above zero. The left value is the violated requirement, for an error message.
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

// The format of `Duration.format`, with or without spaces.
const parts =
  /^(?:(\d+(?:\.\d+)?)\s*d)?\s*(?:(\d+(?:\.\d+)?)\s*h)?\s*(?:(\d+(?:\.\d+)?)\s*m)?\s*(?:(\d+(?:\.\d+)?)\s*s)?\s*(?:(\d+(?:\.\d+)?)\s*ms)?$/

const millisPerPart = [86_400_000, 3_600_000, 60_000, 1_000, 1]

/**
 * Parses a finite duration of zero or more from text, such as `30s`, `1h30m`, `500ms` or `30 seconds`.
 *
 * @example
 * import { Durations } from "@plaza-legacy/client"
 *
 * const timeout = Durations.fromText("1m30s")
 *
 * @since 0.1.0
 * @category parsing
 */
export const fromText = (text: string): Option.Option<Duration.Duration> => {
  const trimmed = text.trim()
  if (trimmed === "0") return Option.some(Duration.zero)
  const counts = trimmed === "" ? null : parts.exec(trimmed)
  const duration = counts === null
    ? Duration.decodeUnknown(trimmed)
    : Option.some(Duration.millis(millisPerPart.reduce((sum, millis, index) => sum + Number(counts[index + 1] ?? 0) * millis, 0)))
  return Option.filter(duration, (each) => Duration.isFinite(each) && !trimmed.startsWith("-"))
}

/**
 * Parses a finite duration above zero from text. The left value is the violated requirement, for an error message.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parsePositiveText = (text: string): Either.Either<Duration.Duration, string> =>
  Either.fromOption(Option.filter(fromText(text), Duration.greaterThan(Duration.zero)), () =>
    `must be a duration above zero, such as 30s or 1h30m`)

const notPositive = `must be a finite duration above zero, such as "30 seconds"`
