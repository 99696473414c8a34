/**
 * What a program says of a failure, and the status it ends with: one sentence for people, one JSON object for programs. Knows
 * nothing of where it is written.
 *
 * @since 0.1.0
 */
import * as Failures from "@plaza/client/Failures"
import type { ServiceError } from "@plaza/domain/Errors"
import * as Cause from "effect/Cause"
import type * as ConfigError from "effect/ConfigError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Advice from "./Advice.js"
import type { Explained } from "./Problem.js"
import { lines, type Medium } from "./Table.js"
import { json } from "./Text.js"

/** @since 0.1.0 @category models */
export interface Report {
  readonly tag: string
  /** The service's code. */
  readonly code: string | null
  /** The HTTP status. */
  readonly status: number | null
  /** What the failure says of itself; for an error of the service, the service's words. */
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  /** For people: the whole of it in a sentence. */
  readonly sentence: string
  /** For people: what to do about it, a sentence each. */
  readonly advice: ReadonlyArray<string>
  readonly exitCode: number
}

const indent = "  "

const report = (tag: string, message: string, exitCode: number, rest?: Partial<Report>): Report => ({
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

/** The facts that a failure carries beside its message, in a form that JSON knows. */
const factsOf = (failure: object, without: ReadonlyArray<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(failure).flatMap(([name, value]: readonly [string, unknown]) => {
    if (value === undefined || ["_tag", "message", "cause", ...without].includes(name)) return []
    if (Duration.isDuration(value)) return [[`${name}Seconds`, Duration.toSeconds(value)]]
    if (DateTime.isDateTime(value)) return [[name, DateTime.formatIso(value)]]
    return Predicate.isString(value) || Predicate.isNumber(value) || Predicate.isBoolean(value) ? [[name, value]] : []
  }))

const clientTags: Readonly<Record<Exclude<Failures.Failure, ServiceError>["_tag"] | "InvalidSettings", true>> = {
  InvalidInput: true,
  InvalidSettings: true,
  ConnectionFailed: true,
  ConnectionLost: true,
  AttemptTimeout: true,
  OutcomeUnknown: true,
  UnreadableSuccess: true,
  RateLimitWaitExceeded: true,
  CursorRepeated: true,
  CursorRejected: true
}

// By structure, for the classes themselves would load every schema of the domain at each start of a program.
const isServiceError = (error: unknown): error is ServiceError =>
  Predicate.hasProperty(error, "_tag") && Predicate.hasProperty(error, "category") && Predicate.hasProperty(error, "status") &&
  Predicate.hasProperty(error, "details")
const isClientFailure = (error: unknown): error is Exclude<Failures.Failure, ServiceError> | Failures.InvalidSettings =>
  Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag) && Object.hasOwn(clientTags, error._tag)
const isConfigError = (error: unknown): error is ConfigError.ConfigError =>
  Predicate.isTagged(error, "ConfigError") && Predicate.hasProperty(error, "_op")

const isCode = (code: string | undefined): code is keyof typeof Advice.byCode => code !== undefined && Object.hasOwn(Advice.byCode, code)

const ofService = (error: ServiceError): Report => {
  const { advice, meaning } = error._tag !== "UnrecognizedError" && isCode(error.code) ? Advice.byCode[error.code] : Advice.byCategory[error.category]
  const details = { ...error.details, ...factsOf(error, ["status", "code", "category", "details"]) }
  const told = Object.entries(details).flatMap(([name, value]) =>
    name !== "body" && (Predicate.isString(value) || Predicate.isNumber(value)) ? [`${name}: ${value}`] : [])
  const origin = [error.status, ...(error.code === undefined ? [] : [error.code])].join(" ")
  const wait = error.retryAfter === undefined ? [] : [`The service asks to wait ${Math.ceil(Duration.toSeconds(error.retryAfter))} seconds.`]
  return {
    tag: error._tag,
    code: error.code ?? null,
    status: error.status,
    message: error.message,
    details,
    sentence: `${meaning}: ${error.message} (${[origin, ...told].join(", ")})`,
    advice: [...wait, advice],
    exitCode: Failures.exitCode(error)
  }
}

const ofConfig = (error: ConfigError.ConfigError): Report => {
  // The left one is the first that was asked for; one thing to change at a time is enough.
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

/**
 * The report of something that a program failed with.
 *
 * @since 0.1.0
 * @category reporting
 */
export const ofFailure = (error: unknown): Report => {
  if (isServiceError(error)) return ofService(error)
  if (isClientFailure(error)) return report(error._tag, error.message, Failures.exitCode(error), { details: factsOf(error, []) })
  if (isConfigError(error)) return ofConfig(error)
  if (Predicate.isTagged(error, "SystemError") || Predicate.isTagged(error, "BadArgument")) return ofFile(error)
  if (Predicate.isTagged(error, "SqlError")) {
    return report("SqlError", `the database can't be used: ${messageOf(Predicate.hasProperty(error, "cause") ? error.cause : error)}`, 1)
  }
  if (isExplained(error)) {
    const below = ofFailure(error.cause)
    return { ...below, details: { ...below.details, ...error.details }, advice: [error.advice, ...below.advice] }
  }
  const tag = Predicate.hasProperty(error, "_tag") ? String(error._tag) : "Error"
  const exitCode = Predicate.hasProperty(error, "exitCode") && Predicate.isNumber(error.exitCode) ? error.exitCode : 1
  return report(tag, messageOf(error), exitCode, Predicate.isObject(error) ? { details: factsOf(error, ["exitCode", "name", "stack"]) } : {})
}

const isExplained = (error: unknown): error is Explained => Predicate.isTagged(error, "Explained") && Predicate.hasProperty(error, "advice")

/** @since 0.1.0 @category models */
export type Signal = "SIGINT" | "SIGTERM"

const bySignal: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 }

/**
 * The report of what a program ended in; nothing when the reader of its output went away, which isn't a failure. A defect is ours,
 * so its report says how to find out more.
 *
 * @since 0.1.0
 * @category reporting
 */
export const ofCause = (cause: Cause.Cause<unknown>, signal: Signal): Option.Option<Report> => {
  if (Cause.isInterruptedOnly(cause)) {
    return Option.some(report("Interrupted", "interrupted before it was done", bySignal[signal]))
  }
  return Either.match(Cause.failureOrCause(cause), {
    onLeft: (error) => Predicate.isTagged(error, "OutputClosed") ? Option.none() : Option.some(ofFailure(error)),
    onRight: (defects) =>
      Option.some(report("Defect", messageOf(Cause.squash(defects)), 1, {
        sentence: `a fault in this program: ${messageOf(Cause.squash(defects))}`,
        advice: ["Run it again with PLAZA_DEBUG=1 to see where, and please report it."]
      }))
  })
}

/**
 * For people: `plaza: the sentence`, and what to do on lines of its own. On a terminal, broken between words.
 *
 * @since 0.1.0
 * @category rendering
 */
export const toText = (program: string, { advice, sentence }: Report, medium: Medium): string => {
  const inside: Medium = { ...medium, columns: () => medium.columns() - indent.length }
  const broken = (text: string) => lines([{ head: "", overflow: "wrap" }], [[text]], inside, { head: false })
  return [`${program}: ${sentence}`, ...advice]
    .flatMap((text, paragraph) => broken(text).map((line, index) => `${paragraph + index === 0 ? "" : indent}${line}\n`))
    .join("")
}

/**
 * For programs: `{ "error": { "tag", "code", "status", "message", "details" } }` on one line.
 *
 * @since 0.1.0
 * @category rendering
 */
export const toJson = ({ code, details, message, status, tag }: Report): string =>
  `${json({ error: { tag, code, status, message, details } })}\n`
