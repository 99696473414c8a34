/** Presents a failure: for people what happened, why and what to do, a line each; for programs one JSON object. */
import * as Cause from "effect/Cause"
import type * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { lines, type Medium } from "../output/Table.ts"
import { json } from "../output/Text.ts"
import { ofClient, ofService, type ReportOptions } from "./CallReport.ts"
import type { Explained } from "./CliError.ts"
import { isClientFailure, isServiceError } from "./ExitCode.ts"
import { detailsOf, type Report, report } from "./ReportModel.ts"

export type { ReportOptions } from "./CallReport.ts"
export type { Report } from "./ReportModel.ts"

const indent = "  "

const isConfigError = (error: unknown): error is ConfigError.ConfigError =>
  Predicate.isTagged(error, "ConfigError") && Predicate.hasProperty(error, "_op")

const ofConfig = (error: ConfigError.ConfigError): Report => {
  // Reports one thing to change at a time: the first one.
  if (error._op === "And") return ofConfig(error.left)
  if (error._op === "Or") return ofConfig(error.left._op === "MissingData" && error.right._op !== "MissingData" ? error.right : error.left)
  const variable = error.path.join("_")
  const message = error._op === "MissingData"
    ? `${variable} is not set: set this environment variable`
    : `${variable} is invalid: ${error.message}`
  return report("ConfigError", message, { details: { variable } })
}

const ofFile = (error: object): Report => {
  const path = Predicate.hasProperty(error, "pathOrDescriptor") ? String(error.pathOrDescriptor) : "a file"
  const reason = Predicate.hasProperty(error, "reason") ? String(error.reason) : "BadArgument"
  const description = Predicate.hasProperty(error, "description") && Predicate.isString(error.description) ? error.description : reason
  const known: Readonly<Record<string, string>> = {
    NotFound: `${path} does not exist: check the path`,
    PermissionDenied: `permission denied for ${path}: check its owner and mode`,
    BadResource: `${path} can't be used as a file: check the path`,
    AlreadyExists: `${path} already exists: use another name`
  }
  return report("FileError", known[reason] ?? `${path}: ${description}`, { details: { path, reason } })
}

const messageOf = (error: unknown): string => {
  const message = Predicate.hasProperty(error, "message") && Predicate.isString(error.message) ? error.message : ""
  return message === "" ? Predicate.isString(error) ? error : "an error without a message" : message
}

const isExplained = (error: unknown): error is Explained =>
  Predicate.isTagged(error, "Explained") && Predicate.hasProperty(error, "explanation")

/** The report of a failure. */
export const ofFailure = (error: unknown, options: ReportOptions = {}): Report => {
  if (isServiceError(error)) return ofService(error, options)
  if (isClientFailure(error)) return ofClient(error, options)
  if (isConfigError(error)) return ofConfig(error)
  if (Predicate.isTagged(error, "SystemError") || Predicate.isTagged(error, "BadArgument")) return ofFile(error)
  if (Predicate.isTagged(error, "SqlError")) {
    return report("SqlError", `database error: ${messageOf(Predicate.hasProperty(error, "cause") ? error.cause : error)}`)
  }
  if (isExplained(error)) {
    const cause = ofFailure(error.cause, options)
    return { ...cause, details: { ...cause.details, ...error.details }, remediation: [error.explanation, ...cause.remediation] }
  }
  const tag = Predicate.hasProperty(error, "_tag") ? String(error._tag) : "Error"
  return report(tag, messageOf(error), Predicate.isObject(error) ? { details: detailsOf(error, ["name", "stack"]) } : {})
}

/** The report of a cause; none if the reader closed the output, which is no failure. */
export const ofCause = (cause: Cause.Cause<unknown>, options: ReportOptions = {}): Option.Option<Report> => {
  if (Cause.isInterruptedOnly(cause)) return Option.some(report("Interrupted", "interrupted"))
  return Either.match(Cause.failureOrCause(cause), {
    onLeft: (error) => Predicate.isTagged(error, "OutputClosed") ? Option.none() : Option.some(ofFailure(error, options)),
    onRight: (defects) =>
      Option.some(report("Defect", messageOf(Cause.squash(defects)), {
        summary: `internal error: ${messageOf(Cause.squash(defects))}`,
        remediation: ["Run the command again with PLAZA_DEBUG=1 for a stack trace, and report it as a bug."]
      }))
  })
}

/** For people: `plaza: what happened`, why, and what to do, a line each. On a terminal, wrapped between words. */
export const toText = (program: string, { reason, remediation, summary }: Report, medium: Medium): string => {
  const indented: Medium = { ...medium, columns: () => medium.columns() - indent.length }
  const wrapped = (text: string) => lines([{ head: "", overflow: "wrap" }], [[text]], indented, { head: false })
  return [`${program}: ${summary}`, ...(reason === undefined ? [] : [reason]), ...(remediation.length === 0 ? [] : [remediation.join(" ")])]
    .flatMap((text, paragraph) => wrapped(text).map((line, index) => `${paragraph + index === 0 ? "" : indent}${line}\n`))
    .join("")
}

/** For programs: `{ "error": { "tag", "code", "status", "message", "details" } }` on one line. */
export const toJson = ({ code, details, message, status, tag }: Report): string =>
  `${json({ error: { tag, code, status, message, details } })}\n`
