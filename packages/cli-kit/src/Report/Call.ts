/** The report of a failed call: an error response, or an error of the client. */
import type { ClientError as Failures } from "@plaza/client"
import type { ServiceError } from "@plaza/domain/Errors"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as ExitCode from "../ExitCode.js"
import * as Remediation from "../Remediation.js"
import { factsOf, type Report, report } from "./Model.js"

export type ClientFailure = Exclude<Failures.Failure, ServiceError> | Failures.InvalidSettings

const clientTags: Readonly<Record<ClientFailure["_tag"], true>> = {
  InvalidInput: true,
  InvalidSettings: true,
  ConnectionFailed: true,
  ConnectionLost: true,
  AttemptTimeout: true,
  OutcomeUnknown: true,
  UnreadableSuccess: true,
  RateLimitWaitExceeded: true,
  ClientClosed: true,
  CursorRepeated: true,
  CursorRejected: true,
  UnreadableItem: true
}

// By structure: importing the classes would load every schema of the domain at each start of a program.

export const isServiceError = (error: unknown): error is ServiceError =>
  Predicate.hasProperty(error, "_tag") && Predicate.hasProperty(error, "category") && Predicate.hasProperty(error, "status") &&
  Predicate.hasProperty(error, "details")

export const isClientFailure = (error: unknown): error is ClientFailure =>
  Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag) && Object.hasOwn(clientTags, error._tag)

// A proxy may put a whole page there.
const longest = 200

const shortened = (text: string): string => text.length > longest ? `${text.slice(0, longest)}...` : text

/** The title of an HTML page. */
const titleOf = (details: Readonly<Record<string, unknown>>): string | undefined =>
  Predicate.isString(details["body"]) ? /<title[^>]*>([^<]+)</i.exec(details["body"])?.[1]?.trim() : undefined

// The last instant of a JavaScript Date, in milliseconds since the epoch.
const maxInstant = 8.64e15

/** When to run the command again; with the time of day if the current time is known. */
const waitOf = (wait: Duration.Duration, now: number | undefined): string => {
  const seconds = `${Math.ceil(Duration.toSeconds(wait))} seconds`
  return now === undefined
    ? `Run this again after ${seconds}.`
    : `Run this again after ${DateTime.formatIso(DateTime.unsafeMake(Math.min(now + Duration.toMillis(wait), maxInstant)))}, in ${seconds}.`
}

const adviceOf = (error: ServiceError): Remediation.Remediation => {
  if (error._tag !== "UnrecognizedError") return Remediation.byCode[error.code]
  return error.code === undefined ? Remediation.foreign(error.category) : Remediation.byCategory[error.category]
}

const originOf = ({ code, status }: ServiceError): string => code === undefined ? String(status) : `${status} ${code}`

/** The report of an error response. */
export const ofService = (error: ServiceError, now: number | undefined): Report => {
  const { advice, meaning } = adviceOf(error)
  const details = { ...error.details, ...factsOf(error, ["status", "code", "category", "details"]) }
  const title = titleOf(details)
  const facts = [
    ...(title === undefined ? [] : [`its page says "${shortened(title)}"`]),
    ...Object.entries(details).flatMap(([name, value]) =>
      name !== "body" && (Predicate.isString(value) || Predicate.isNumber(value)) ? [`${name}: ${shortened(String(value))}`] : []
    )
  ]
  const comesBack = error.category === "RateLimited" || error.category === "ServiceFault"
  return {
    tag: error._tag,
    code: error.code ?? null,
    status: error.status,
    message: error.message,
    details,
    sentence: meaning,
    why: `${originOf(error)}: ${error.message}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`,
    advice: [
      error._tag === "InsufficientScope"
        ? Remediation.forScope([...Object.values(error.details).filter(Predicate.isString), error.message])
        : comesBack && error.retryAfter !== undefined
        ? waitOf(error.retryAfter, now)
        : advice
    ],
    exitCode: ExitCode.of(error)
  }
}

/** What happened and what to do, if the failure's own message only says why. */
const clientAdvice = (failure: ClientFailure): Remediation.Remediation | undefined => {
  switch (failure._tag) {
    case "InvalidInput":
    case "InvalidSettings":
      return undefined
    case "ConnectionFailed":
      return { meaning: "the service can't be reached, and nothing was done", advice: Remediation.forReason(failure.reason) }
    case "ConnectionLost":
      return { meaning: "the connection to the service broke", advice: "Run this again: a second time does no harm." }
    case "AttemptTimeout":
      return {
        meaning: "the service doesn't answer in time",
        advice: "Run this again, which does no harm; PLAZA_TIMEOUT gives it more time."
      }
    case "OutcomeUnknown":
      return { meaning: "nobody knows whether it happened", advice: Remediation.forOutcome(failure.operation) }
    case "UnreadableSuccess":
      return { meaning: "the service agreed, but its answer can't be read", advice: Remediation.forUnreadable(failure.operation) }
    case "RateLimitWaitExceeded":
      return { meaning: Remediation.byCode.RATE_LIMITED.meaning, advice: `Run this again after ${DateTime.formatIso(failure.retryAt)}.` }
    case "ClientClosed":
      return { meaning: "the client was closed before the request was sent", advice: "Run this again: this request did not leave." }
    case "CursorRepeated":
      return {
        meaning: "the list goes round and never ends",
        advice: "What was read of it is right; tell the service's support of the rest."
      }
    case "CursorRejected":
      return { meaning: "the list can't be read on", advice: "Read it again from its beginning." }
    case "UnreadableItem":
      return {
        meaning: "an item of the list can't be read",
        advice: failure.nextCursor === null
          ? "Report it to the service's support."
          : `Continue with the page after it: cursor ${failure.nextCursor}.`
      }
  }
}

/** Fields that help the service's support to find a request with an unknown outcome. */
const behind = (failure: ClientFailure): string => {
  const cause = failure._tag === "OutcomeUnknown" ? failure.cause : undefined
  if (!isServiceError(cause)) return ""
  return ` (${originOf(cause)}${cause.requestId === undefined ? "" : `, requestId: ${cause.requestId}`})`
}

/** The report of an error of the client. */
export const ofClient = (failure: ClientFailure): Report => {
  const found = clientAdvice(failure)
  return report(failure._tag, failure.message, ExitCode.of(failure), {
    details: factsOf(failure, []),
    ...(found === undefined ? {} : { sentence: found.meaning, why: `${failure.message}${behind(failure)}`, advice: [found.advice] })
  })
}
