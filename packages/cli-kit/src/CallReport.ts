/** The report of a failed call: an error response, or an error of the client. Also the data of a report. */
import * as FailureScope from "@plaza/client/FailureScope"
import { longestWait } from "@plaza/domain/ErrorResponse"
import type { ServiceError } from "@plaza/domain/Errors"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import { type ClientFailure, isServiceError } from "./ExitCode.ts"
import * as Remediation from "./Remediation.ts"
import { json } from "./Text.ts"
import type { Write } from "./WriteOutcome.ts"

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

export interface ReportOptions {
  /** The current time in milliseconds since the epoch, for the time of day of a wait. */
  readonly now?: number
  /** The program's own instructions. */
  readonly remediation?: Remediation.Overrides
  /** The write of the command, if it has one. */
  readonly write?: Write | undefined
}

// A proxy may send a whole page.
const maxLength = 200
const maxFields = 10

const shortened = (text: string): string => text.length > maxLength ? `${text.slice(0, maxLength)}...` : text

/** The title of an HTML page. */
const titleOf = (details: Readonly<Record<string, unknown>>): string | undefined =>
  Predicate.isString(details["body"]) ? /<title[^>]*>([^<]+)</i.exec(details["body"])?.[1]?.trim() : undefined

// A longer wait in seconds says little to a person.
const secondsToHours = 7200

// A date names whole seconds, so a wait of a day by one may be shorter.
const rounding = Duration.minutes(1)

/** When a wait ends; with the time of day if the current time is known. A longer wait is cut to a day. */
const waitOf = (wait: Duration.Duration, now: number | undefined): string => {
  if (Duration.isGreaterThanOrEqualTo(wait, Duration.subtract(longestWait, rounding))) return "in a day at the earliest"
  const seconds = Math.ceil(Duration.toSeconds(wait))
  const length = seconds < secondsToHours ? `in ${seconds} seconds` : `in ${Math.ceil(seconds / 3600)} hours`
  return now === undefined
    ? length
    : `${length}, at ${DateTime.formatIso(DateTime.makeUnsafe(now + Duration.toMillis(wait)))}`
}

/** What to do after a wait. Repeats a write that may have been made only after a check. */
const afterWait = (when: string, isDoubtful: boolean): ReadonlyArray<string> =>
  isDoubtful ? [Remediation.doubtful, `If it was not made, run the command again ${when}.`] : [`Run the command again ${when}.`]

/** Fields as text. A flag and a body say nothing to a person. */
const fieldsOf = (details: Readonly<Record<string, unknown>>): ReadonlyArray<string> =>
  Object.entries(details).flatMap(([name, value]) =>
    name === "body" || Predicate.isBoolean(value) || value === null
      ? []
      : [shortened(`${name}: ${Predicate.isString(value) ? value : json(value)}`)]
  )

const remediationOf = (error: ServiceError): Remediation.Remediation => {
  if (error._tag !== "UnrecognizedError") return Remediation.byCode[error.code]
  return error.code === undefined ? Remediation.foreign(error) : Remediation.byCategory[error.category]
}

const statusOf = ({ code, status }: ServiceError): string => code === undefined ? String(status) : `${status} ${code}`

/** The report of an error response. */
export const ofService = (error: ServiceError, { now, remediation: { key } = {} }: ReportOptions): Report => {
  const { action, summary } = remediationOf(error)
  const isTemporary = error.category === "RateLimited" || error.category === "ServiceFault"
  // A fault doesn't claim that nothing was changed.
  const isDoubtful = error.category !== "ServiceFault" && FailureScope.mayHaveHappened(error)
  const own = detailsOf(error, ["status", "code", "category", "details"])
  const details = { ...error.details, ...own, ...(isDoubtful ? { mayHaveHappened: true } : {}) }
  const title = titleOf(details)
  const shown = [
    ...(title === undefined ? [] : [`page title: "${shortened(title)}"`]),
    ...fieldsOf(error.details).slice(0, maxFields),
    ...fieldsOf(own)
  ]
  const isScope = error._tag === "InsufficientScope"
  return {
    tag: error._tag,
    code: error.code ?? null,
    status: error.status,
    message: error.message,
    details,
    summary,
    reason: `${statusOf(error)}: ${error.message}${shown.length === 0 ? "" : ` (${shown.join(", ")})`}`,
    remediation: [
      ...(key !== undefined && (isScope || (error.category === "Unauthenticated" && error.code !== undefined)) ? [key] : []),
      ...(isTemporary && (error.retryAfter !== undefined || isDoubtful)
        ? afterWait(error.retryAfter === undefined ? "later" : waitOf(error.retryAfter, now), isDoubtful)
        : [
          isScope ? Remediation.forScope([...Object.values(error.details).filter(Predicate.isString), error.message]) : action,
          ...(isDoubtful ? [Remediation.doubtful] : [])
        ])
    ]
  }
}

/** Whether a call that sent nothing at its end may have happened before. */
const isDoubtfulEnd = (failure: ClientFailure): boolean =>
  (failure._tag === "ConnectionFailed" || failure._tag === "RateLimitWaitExceeded") && FailureScope.mayHaveHappened(failure)

/** Summary and remediation. Undefined if the message says it all. */
const clientRemediation = (failure: ClientFailure, overrides: Remediation.Overrides): Remediation.Remediation | undefined => {
  switch (failure._tag) {
    case "InvalidInput":
    case "InvalidSettings":
      return undefined
    case "ConnectionFailed":
      return isDoubtfulEnd(failure)
        ? {
          summary: "can't connect to the service",
          action: `${Remediation.forReason(failure.reason)} ${Remediation.doubtful}`
        }
        : { summary: "can't connect to the service; nothing was changed", action: Remediation.forReason(failure.reason) }
    case "ConnectionLost":
      return { summary: "the connection to the service was lost", action: "Run the command again: repeating it is safe." }
    case "AttemptTimeout":
      return {
        summary: "the service did not respond in time",
        action: "Run the command again: repeating it is safe. Set PLAZA_TIMEOUT to wait longer."
      }
    case "OutcomeUnknown":
      return {
        summary: "the outcome is unknown: the change may have been made",
        action: Remediation.forOutcome(failure.operation, overrides)
      }
    case "UnreadableSuccess":
      return {
        summary: "the service reported success, but its response can't be read",
        action: Remediation.forUnreadable(failure.operation)
      }
    case "RateLimitWaitExceeded":
      return {
        summary: Remediation.byCode.RATE_LIMITED.summary,
        action: afterWait(`at ${DateTime.formatIso(failure.retryAt)}`, isDoubtfulEnd(failure)).join(" ")
      }
    case "ClientClosed":
      return { summary: "the client was closed before the request was sent", action: "Run the command again: the request was not sent." }
    case "CursorRepeated":
      return {
        summary: "the list repeats a cursor and never ends",
        action: "Use the items so far, and report the repeated cursor to the service's support."
      }
    case "CursorRejected":
      return { summary: "the list can't be continued", action: "Start the list from its first page." }
    case "UnreadableItem":
      return {
        summary: "an item of the list can't be read",
        action: failure.nextCursor === null
          ? "Report the item to the service's support."
          : `Continue with the next page: cursor ${failure.nextCursor}.`
      }
  }
}

/** The response behind an unknown outcome, by which the service's support can find the request. */
const causeOf = (failure: ClientFailure): string => {
  const cause = failure._tag === "OutcomeUnknown" ? failure.cause : undefined
  if (!isServiceError(cause)) return ""
  return ` (${statusOf(cause)}${cause.requestId === undefined ? "" : `, requestId: ${cause.requestId}`})`
}

/** The report of an error of the client. */
export const ofClient = (failure: ClientFailure, { remediation = {} }: ReportOptions): Report => {
  const found = clientRemediation(failure, remediation)
  return report(failure._tag, failure.message, {
    details: { ...detailsOf(failure, []), ...(isDoubtfulEnd(failure) ? { mayHaveHappened: true } : {}) },
    ...(found === undefined
      ? {}
      : { summary: found.summary, reason: `${failure.message}${causeOf(failure)}`, remediation: [found.action] })
  })
}

/** A report that doesn't know what became of the command's write, with what is known of it. */
export const withWrite = (failure: Report, { remediation, write }: ReportOptions): Report => {
  if (write === undefined) return failure
  const { operation, outcome } = write
  const add = (consequence: string, action?: string): Report => ({
    ...failure,
    summary: `${failure.summary}; ${consequence}`,
    details: {
      ...failure.details,
      ...(operation === undefined ? {} : { operation }),
      outcome,
      ...(outcome === "unknown" ? { mayHaveHappened: true } : {})
    },
    remediation: [...(action === undefined ? [] : [action]), ...failure.remediation]
  })
  switch (outcome) {
    case "notDone":
      return add("the change was not made")
    case "unknown":
      return add("the change may have been made", Remediation.forOutcome(operation ?? "", remediation))
    case "done":
      return add("the change was made", "Don't run the command again to see its result.")
  }
}
