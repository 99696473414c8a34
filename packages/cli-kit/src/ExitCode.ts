/** The exit codes of the programs, and the code of each failure. No error carries its own code. */
import type { ClientError } from "@plaza/client"
import type { ServiceError } from "@plaza/domain/Errors"
import * as Predicate from "effect/Predicate"

export type ExitCode = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8

/** The codes with their meaning, for help and documentation. */
export const meanings: ReadonlyArray<{ readonly code: string; readonly meaning: string }> = [
  { code: "0", meaning: "Success." },
  { code: "1", meaning: "Any other failure." },
  { code: "2", meaning: "Invalid usage, input or setting, rejected locally or by the service." },
  { code: "3", meaning: "Not found." },
  { code: "4", meaning: "Key, scope, developer access, user profile or permission." },
  { code: "5", meaning: "Conflict." },
  { code: "6", meaning: "Rate limit or quota beyond the max wait." },
  { code: "7", meaning: "Service or network fault, after retries." },
  { code: "8", meaning: "Outcome unknown: check it before you run the command again." },
  { code: "130", meaning: "Interrupted (143 by SIGTERM, 129 by a closed terminal)." }
]

/** The exit code of a program that a signal interrupted. */
export const bySignal = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

export type Signal = keyof typeof bySignal

const byCategory: Readonly<Record<ServiceError["category"], ExitCode>> = {
  InvalidRequest: 2,
  Unauthenticated: 4,
  Forbidden: 4,
  NotFound: 3,
  Conflict: 5,
  TooLarge: 2,
  RateLimited: 6,
  ServiceFault: 7
}

/** An error of the client that is not an error response. */
export type ClientFailure = Exclude<ClientError.Failure, ServiceError> | ClientError.InvalidSettings

const ofClient: Readonly<Record<ClientFailure["_tag"], ExitCode>> = {
  InvalidInput: 2,
  InvalidSettings: 2,
  ConnectionFailed: 7,
  ConnectionLost: 7,
  AttemptTimeout: 7,
  UnreadableItem: 7,
  RateLimitWaitExceeded: 6,
  // The write happened. A script that took this for a network fault would repeat it.
  UnreadableSuccess: 8,
  OutcomeUnknown: 8,
  ClientClosed: 1,
  CursorRepeated: 1,
  CursorRejected: 1
}

const ofProgram: Readonly<Record<string, ExitCode>> = {
  UsageError: 2,
  ConfigError: 2,
  /** From `@plaza/tabular`. */
  SourceError: 2
}

/** Reasons of file errors that the user can correct on the command line. */
const fileInputReasons: ReadonlySet<string> = new Set(["NotFound", "PermissionDenied", "BadResource", "AlreadyExists"])

/** The tag of the reason of a platform error. */
export const reasonOf = (error: object): string =>
  Predicate.hasProperty(error, "reason") && Predicate.hasProperty(error.reason, "_tag") ? String(error.reason._tag) : "Unknown"

// By structure: importing the classes would load every schema of the domain at each start of a program.

export const isServiceError = (error: unknown): error is ServiceError =>
  Predicate.hasProperty(error, "_tag") && Predicate.hasProperty(error, "category") && Predicate.hasProperty(error, "status") &&
  Predicate.hasProperty(error, "details")

export const isClientFailure = (error: unknown): error is ClientFailure =>
  Predicate.hasProperty(error, "_tag") && Predicate.isString(error._tag) && Object.hasOwn(ofClient, error._tag)

/** The codes of an application's own errors. Undefined for all others. */
export type Lookup = (error: unknown) => ExitCode | undefined

// An unknown outcome first, then what may pass by itself, then what somebody has to change.
const bySeverity = [8, 7, 6, 4, 2, 3, 5, 1] as const

const worst = (codes: ReadonlyArray<ExitCode>): ExitCode => bySeverity.find((code) => codes.includes(code)) ?? 1

/** The exit code of a failure. A failure with several `failures` has the code of the worst one. */
export const of = (error: unknown, lookup: Lookup = () => undefined): ExitCode => {
  const own = lookup(error)
  if (own !== undefined) return own
  if (isServiceError(error)) return byCategory[error.category]
  if (isClientFailure(error)) return ofClient[error._tag]
  if (Predicate.isTagged(error, "Explained") && Predicate.hasProperty(error, "cause")) return of(error.cause, lookup)
  if (Predicate.isTagged(error, "PlatformError")) return fileInputReasons.has(reasonOf(error)) ? 2 : 1
  if (Predicate.hasProperty(error, "failures") && Array.isArray(error.failures)) {
    return worst(error.failures.map((failure) => of(failure, lookup)))
  }
  return Predicate.hasProperty(error, "_tag") ? ofProgram[String(error._tag)] ?? 1 : 1
}
