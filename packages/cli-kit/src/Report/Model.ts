/** The data of a report. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"

export interface Report {
  readonly tag: string
  /** The service's code. */
  readonly code: string | null
  /** The HTTP status. */
  readonly status: number | null
  /** The failure's own message; for an error response, the service's message. */
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  /** For people: what happened. */
  readonly sentence: string
  /** For people: why, if the sentence doesn't say so. */
  readonly why?: string
  /** For people: what to do about it, a sentence each. */
  readonly advice: ReadonlyArray<string>
  readonly exitCode: number
}

/** Creates a report from the fields of every failure. */
export const report = (tag: string, message: string, exitCode: number, rest?: Partial<Report>): Report => ({
  tag,
  code: null,
  status: null,
  message,
  details: {},
  sentence: message,
  advice: [],
  exitCode,
  ...rest
})

/** The fields of a failure beside its message, as JSON values. */
export const factsOf = (failure: object, without: ReadonlyArray<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(failure).flatMap(([name, value]: readonly [string, unknown]) => {
    if (value === undefined || ["_tag", "message", "cause", ...without].includes(name)) return []
    if (Duration.isDuration(value)) return [[`${name}Seconds`, Duration.toSeconds(value)]]
    if (DateTime.isDateTime(value)) return [[name, DateTime.formatIso(value)]]
    return Predicate.isString(value) || Predicate.isNumber(value) || Predicate.isBoolean(value) ? [[name, value]] : []
  }))
