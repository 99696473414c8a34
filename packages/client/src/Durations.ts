/**
 * Validates durations from options and from text. Types are not enough: JavaScript code can pass `"30s"`, and a calculation can
 * return `NaN` or a negative number.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

// A duration of many nanoseconds is finite, but can be too long for a number.
const isUsable = (duration: Duration.Duration): boolean => {
  const millis = Duration.toMillis(duration)
  return millis >= 0 && Number.isFinite(millis)
}

const units: ReadonlySet<string> = new Set(
  ["weeks", "days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"] satisfies ReadonlyArray<
    keyof Duration.DurationObject
  >
)

// `Duration.fromInput` converts NaN and an object without a known unit to zero.
const isDefined = (input: Duration.Input): boolean =>
  Duration.isDuration(input) || typeof input !== "object"
    ? !Number.isNaN(input)
    : Array.isArray(input)
    ? !input.some(Number.isNaN)
    : Object.keys(input).length > 0 && Object.entries(input).every(([unit, count]) => units.has(unit) && !Number.isNaN(Number(count ?? 0)))

/**
 * Parses a finite duration of zero or more. The failure is the violated requirement, for an error message.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parse = (input: Duration.Input): Result.Result<Duration.Duration, string> =>
  Option.match(Option.filter(Duration.fromInput(input), (duration) => isUsable(duration) && isDefined(input)), {
    onNone: () => Result.fail(`must be a finite duration of zero or more, such as "30 seconds"`),
    onSome: Result.succeed
  })

/**
 * Parses a finite duration above zero. The failure is the violated requirement, for an error message.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parsePositive = (input: Duration.Input): Result.Result<Duration.Duration, string> =>
  Result.filterOrFail(Result.mapError(parse(input), () => notPositive), Duration.isGreaterThan(Duration.zero), () => notPositive)

// The format of `Duration.format`, with or without spaces.
const parts =
  /^(?:(\d+(?:\.\d+)?)\s*d)?\s*(?:(\d+(?:\.\d+)?)\s*h)?\s*(?:(\d+(?:\.\d+)?)\s*m)?\s*(?:(\d+(?:\.\d+)?)\s*s)?\s*(?:(\d+(?:\.\d+)?)\s*ms)?$/

// True of a text in the form of `Duration.Input`; any other text gives none.
const fromUnknown = (text: string): Option.Option<Duration.Duration> => Duration.fromInput(text as Duration.Input)

// A thousand years. With a longer one, a time that is so far away is none.
const longestOfText = Duration.days(365_250)

const millisPerPart = [86_400_000, 3_600_000, 60_000, 1_000, 1]

/**
 * Parses a duration from text, from zero to a thousand years, such as `30s`, `1h30m`, `500ms` or `30 seconds`.
 *
 * @example
 * import { Durations } from "@plaza/client"
 * import { Duration, Option } from "effect"
 *
 * const seconds = Option.map(Durations.fromText("1m30s"), Duration.toSeconds)
 * // => Option.some(90)
 *
 * @since 0.1.0
 * @category parsing
 */
export const fromText = (text: string): Option.Option<Duration.Duration> => {
  // One blank at a time, because the pattern would try each division of a longer run.
  const trimmed = text.trim().replaceAll(/\s+/g, " ")
  if (trimmed === "0") {
    return Option.some(Duration.zero)
  }
  const counts = trimmed === "" ? null : parts.exec(trimmed)
  const duration = counts === null
    ? fromUnknown(trimmed)
    : Option.some(Duration.millis(millisPerPart.reduce((sum, millis, index) => sum + Number(counts[index + 1] ?? 0) * millis, 0)))
  return Option.filter(duration, (found) => isUsable(found) && Duration.isLessThanOrEqualTo(found, longestOfText))
}

/**
 * Parses a finite duration above zero from text. The failure is the violated requirement, for an error message.
 *
 * @since 0.1.0
 * @category parsing
 */
export const parsePositiveText = (text: string): Result.Result<Duration.Duration, string> =>
  Result.fromOption(Option.filter(fromText(text), Duration.isGreaterThan(Duration.zero)), () =>
    `must be a duration above zero, such as 30s or 1h30m`)

const notPositive = `must be a finite duration above zero, such as "30 seconds"`
