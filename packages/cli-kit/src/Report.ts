/** Presents a failure: for people what happened, why and what to do, a line each; for programs one JSON object. */
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as Predicate from "effect/Predicate"
import { detailsOf, ofClient, ofService, report, withWrite } from "./CallReport.ts"
import type { Report, ReportOptions } from "./CallReport.ts"
import type { Explained } from "./CliError.ts"
import * as ConfigIssue from "./ConfigIssue.ts"
import { isClientFailure, isServiceError, reasonOf } from "./ExitCode.ts"
import * as FileProblem from "./FileProblem.ts"
import type { Medium } from "./Table.ts"
import { json, oneLine, wrap } from "./Text.ts"

export type { Report, ReportOptions } from "./CallReport.ts"

const indent = "  "

const ofConfig = (error: Config.ConfigError): Report => {
  const { message, variable } = ConfigIssue.of(error)
  return report("ConfigError", message === `${variable} is not set` ? `${message}: set this environment variable` : message, {
    details: { variable }
  })
}

const ofFile = (error: PlatformError): Report =>
  report("FileError", FileProblem.describe(error), { details: { path: FileProblem.pathOf(error), reason: reasonOf(error) } })

const messageOf = (error: unknown): string => {
  const message = Predicate.hasProperty(error, "message") && Predicate.isString(error.message) ? error.message : ""
  return message === "" ? Predicate.isString(error) ? error : "an error without a message" : message
}

/** The error of the driver, which says what is wrong. */
const innermost = (error: unknown): unknown =>
  Predicate.hasProperty(error, "reason")
    ? innermost(error.reason)
    : Predicate.hasProperty(error, "cause") && error.cause !== undefined
    ? innermost(error.cause)
    : error

const isPlatformError = (error: unknown): error is PlatformError =>
  Predicate.isTagged(error, "PlatformError") && Predicate.hasProperty(error, "reason")

const isExplained = (error: unknown): error is Explained =>
  Predicate.isTagged(error, "Explained") && Predicate.hasProperty(error, "explanation")

/** The report of a failure. */
export const ofFailure = (error: unknown, options: ReportOptions = {}): Report => {
  if (isServiceError(error)) return ofService(error, options)
  if (isClientFailure(error)) return ofClient(error, options)
  if (error instanceof Config.ConfigError) return ofConfig(error)
  if (isPlatformError(error)) return ofFile(error)
  if (Predicate.isTagged(error, "SqlError")) return report("SqlError", `database error: ${messageOf(innermost(error))}`)
  if (isExplained(error)) {
    const cause = ofFailure(error.cause, options)
    return { ...cause, details: { ...cause.details, ...error.details }, remediation: [error.explanation, ...cause.remediation] }
  }
  const tag = Predicate.hasProperty(error, "_tag") ? String(error._tag) : "Error"
  return report(tag, messageOf(error), Predicate.isObject(error) ? { details: detailsOf(error, ["name", "stack"]) } : {})
}

/** The report of a cause; none if the reader closed the output, which is no failure. */
export const ofCause = (cause: Cause.Cause<unknown>, options: ReportOptions = {}): Option.Option<Report> => {
  if (Cause.hasInterruptsOnly(cause)) return Option.some(withWrite(report("Interrupted", "interrupted"), options))
  const failure = Cause.findErrorOption(cause)
  if (Option.isSome(failure)) {
    if (Predicate.isTagged(failure.value, "OutputClosed")) return Option.none()
    const report = ofFailure(failure.value, options)
    return Option.some(report.tag === "OutputFailed" ? withWrite(report, options) : report)
  }
  const message = messageOf(Cause.squash(cause))
  return Option.some(withWrite(
    report("Defect", message, {
      summary: `internal error: ${message}`,
      remediation: [
        options.write === undefined || options.write.outcome === "notDone"
          ? "Run the command again with PLAZA_DEBUG=1 for a stack trace, and report it as a bug."
          : "Report it as a bug."
      ]
    }),
    options
  ))
}

/** For people: `plaza: what happened`, why, and what to do, a line each. On a terminal, wrapped between words. Paths stay whole. */
export const toText = (program: string, { reason, remediation, summary }: Report, medium: Medium): string => {
  const wrapped = (text: string) => medium.isTerminal ? wrap(oneLine(text), medium.columns() - indent.length) : [oneLine(text)]
  return [`${program}: ${summary}`, ...(reason === undefined ? [] : [reason]), ...(remediation.length === 0 ? [] : [remediation.join(" ")])]
    .flatMap((text, paragraph) => wrapped(text).map((line, index) => `${paragraph + index === 0 ? "" : indent}${line}\n`))
    .join("")
}

/** For programs: `{ "error": { "tag", "code", "status", "message", "details" } }` on one line. */
export const toJson = ({ code, details, message, status, tag }: Report): string =>
  `${json({ error: { tag, code, status, message, details } })}\n`
