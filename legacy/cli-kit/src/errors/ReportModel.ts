/** The data of a report. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"

export interface Report {
  readonly tag: string
  /** The service's error code. */
  readonly code: string | null
  /** The HTTP status. */
  readonly status: number | null
  /** The failure's own message. For an error response, the message of the service. */
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  /** What happened, as a clause. */
  readonly summary: string
  /** Why, if the summary doesn't say so. */
  readonly reason?: string
  /** What to do, one sentence each. */
  readonly remediation: ReadonlyArray<string>
}

/** Creates a report. By default the message is the summary. */
export const report = (tag: string, message: string, rest?: Partial<Report>): Report => ({
  tag,
  code: null,
  status: null,
  message,
  details: {},
  summary: message,
  remediation: [],
  ...rest
})

/** The fields of a failure other than its message, as JSON values. */
export const detailsOf = (failure: object, without: ReadonlyArray<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(failure).flatMap(([name, value]: readonly [string, unknown]) => {
    if (value === undefined || ["_tag", "message", "cause", ...without].includes(name)) return []
    if (Duration.isDuration(value)) return [[`${name}Seconds`, Duration.toSeconds(value)]]
    if (DateTime.isDateTime(value)) return [[name, DateTime.formatIso(value)]]
    return Predicate.isString(value) || Predicate.isNumber(value) || Predicate.isBoolean(value) ? [[name, value]] : []
  }))
