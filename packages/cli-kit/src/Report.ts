/**
 * The report of a failure and its exit code: for people what happened, why and what to do, a line each; for programs
 * one JSON object.
 */
import * as Cause from "effect/Cause"
import type * as ConfigError from "effect/ConfigError"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Explained } from "./CliError.js"
import { isClientFailure, isServiceError, ofClient, ofService } from "./Report/Call.js"
import { factsOf, type Report, report } from "./Report/Model.js"
import { lines, type Medium } from "./Table.js"
import { json } from "./Text.js"

export type { Report } from "./Report/Model.js"

const indent = "  "

const isConfigError = (error: unknown): error is ConfigError.ConfigError =>
  Predicate.isTagged(error, "ConfigError") && Predicate.hasProperty(error, "_op")

const ofConfig = (error: ConfigError.ConfigError): Report => {
  // The left error is the first one; report one thing to change at a time.
  if (error._op === "And") return ofConfig(error.left)
  if (error._op === "Or") return ofConfig(error.left._op === "MissingData" && error.right._op !== "MissingData" ? error.right : error.left)
  const variable = error.path.join("_")
  const message = error._op === "MissingData"
    ? `${variable} is not set: set this environment variable and run this again`
    : `${variable} can't be used: ${error.message}`
  return report("ConfigError", message, 2, { details: { variable } })
}

const ofFile = (error: object): Report => {
  const path = Predicate.hasProperty(error, "pathOrDescriptor") ? String(error.pathOrDescriptor) : "a file"
  const reason = Predicate.hasProperty(error, "reason") ? String(error.reason) : "BadArgument"
  const description = Predicate.hasProperty(error, "description") && Predicate.isString(error.description) ? error.description : reason
  const wrongPath: Readonly<Record<string, string>> = {
    NotFound: `there is no file ${path}: check the path`,
    PermissionDenied: `${path} can't be opened: this user may not`,
    BadResource: `${path} can't be used as a file: check the path`,
    AlreadyExists: `${path} exists already: name another one`
  }
  const known = wrongPath[reason]
  return report("FileError", known ?? `${path}: ${description}`, known === undefined ? 1 : 2, { details: { path, reason } })
}

const messageOf = (error: unknown): string => {
  const message = Predicate.hasProperty(error, "message") && Predicate.isString(error.message) ? error.message : ""
  return message === "" ? Predicate.isString(error) ? error : "an error without a message" : message
}

/** The report of a failure. With `now`, in milliseconds since the epoch, it says until when to wait. */
export const ofFailure = (error: unknown, now?: number): Report => {
  if (isServiceError(error)) return ofService(error, now)
  if (isClientFailure(error)) return ofClient(error)
  if (isConfigError(error)) return ofConfig(error)
  if (Predicate.isTagged(error, "SystemError") || Predicate.isTagged(error, "BadArgument")) return ofFile(error)
  if (Predicate.isTagged(error, "SqlError")) {
    return report("SqlError", `the database can't be used: ${messageOf(Predicate.hasProperty(error, "cause") ? error.cause : error)}`, 1)
  }
  if (isExplained(error)) {
    const below = ofFailure(error.cause, now)
    return { ...below, details: { ...below.details, ...error.details }, advice: [error.advice, ...below.advice] }
  }
  const tag = Predicate.hasProperty(error, "_tag") ? String(error._tag) : "Error"
  const exitCode = Predicate.hasProperty(error, "exitCode") && Predicate.isNumber(error.exitCode) ? error.exitCode : 1
  return report(tag, messageOf(error), exitCode,
    Predicate.isObject(error) ? { details: factsOf(error, ["exitCode", "name", "stack"]) } : {})
}

const isExplained = (error: unknown): error is Explained => Predicate.isTagged(error, "Explained") && Predicate.hasProperty(error, "advice")

export type Signal = "SIGINT" | "SIGTERM"

const bySignal: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 }

/**
 * The report of a cause; none if the reader of the output closed it, which isn't a failure. The report of a defect says how to find out
 * more.
 */
export const ofCause = (cause: Cause.Cause<unknown>, signal: Signal, now?: number): Option.Option<Report> => {
  if (Cause.isInterruptedOnly(cause)) {
    return Option.some(report("Interrupted", "interrupted before it was done", bySignal[signal]))
  }
  return Either.match(Cause.failureOrCause(cause), {
    onLeft: (error) => Predicate.isTagged(error, "OutputClosed") ? Option.none() : Option.some(ofFailure(error, now)),
    onRight: (defects) =>
      Option.some(report("Defect", messageOf(Cause.squash(defects)), 1, {
        sentence: `a fault in this program: ${messageOf(Cause.squash(defects))}`,
        advice: ["Run it again with PLAZA_DEBUG=1 to see where, and please report it."]
      }))
  })
}

/** For people: `plaza: what happened`, why, and what to do, a line each. On a terminal, broken between words. */
export const toText = (program: string, { advice, sentence, why }: Report, medium: Medium): string => {
  const inside: Medium = { ...medium, columns: () => medium.columns() - indent.length }
  const broken = (text: string) => lines([{ head: "", overflow: "wrap" }], [[text]], inside, { head: false })
  return [`${program}: ${sentence}`, ...(why === undefined ? [] : [why]), ...(advice.length === 0 ? [] : [advice.join(" ")])]
    .flatMap((text, paragraph) => broken(text).map((line, index) => `${paragraph + index === 0 ? "" : indent}${line}\n`))
    .join("")
}

/** For programs: `{ "error": { "tag", "code", "status", "message", "details" } }` on one line. */
export const toJson = ({ code, details, message, status, tag }: Report): string =>
  `${json({ error: { tag, code, status, message, details } })}\n`
