/** Converts the failures of the client to the errors of this package. */
import { ClientError, FailureScope } from "@plaza/client"
import * as DomainErrors from "@plaza/domain/Errors"
import { toPlain } from "@plaza/domain/Plain"
import { PlatformError } from "effect"
import * as Errors from "./Errors.ts"

/** The errors by their tags. */
export type FailuresByTag = { readonly [F in Errors.Failure as F["_tag"]]: F }

const classes = { ...Errors }

type ClientFailure = ClientError.Failure | ClientError.Inconclusive | ClientError.InvalidSettings

// By the classes of the client: errors of other programs can have the same tags.
const sources: Readonly<Record<string, unknown>> = { ...ClientError, ...DomainErrors }

const isClientFailure = (value: unknown): value is ClientFailure => {
  if (!(value instanceof Error) || !("_tag" in value) || typeof value._tag !== "string" || !Object.hasOwn(classes, value._tag)) return false
  const source = sources[value._tag]
  return typeof source === "function" && value instanceof source
}

/** The category of a failure, and whether the call may have happened. The client's functions accept only failures of calls. */
const classify = (failure: ClientFailure) =>
  failure._tag === "InvalidSettings"
    ? { category: "InvalidRequest", mayHaveHappened: false }
    : {
      category: ClientError.categoryOf(failure),
      mayHaveHappened: failure._tag !== "Inconclusive" && FailureScope.mayHaveHappened(failure)
    }

const fromPlatform = (failure: PlatformError.PlatformError) => {
  const { cause, message, reason } = failure
  const path = "pathOrDescriptor" in reason ? reason.pathOrDescriptor : undefined
  return new Errors.PlatformError({
    category: "InvalidRequest",
    mayHaveHappened: FailureScope.mayHaveHappened(failure),
    cause,
    code: typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined,
    path,
    message: `the file ${path ?? ""} can't be read: ${cause instanceof Error ? cause.message : message}`
  })
}

/** The time until a date. */
const until = (date: unknown): number => date instanceof Date ? Math.max(0, date.getTime() - Date.now()) : 0

/** The error of a failure, whose stack begins above a function. Returns every other value unchanged. */
export const toFailure = (failure: unknown, above?: (...args: never) => unknown): unknown => {
  const error = convert(failure)
  // Engines other than V8 don't have it.
  if (error !== failure && error instanceof Error) Error.captureStackTrace?.(error, above ?? toFailure)
  return error
}

const convert = (failure: unknown): unknown => {
  if (failure instanceof PlatformError.PlatformError) return fromPlatform(failure)
  if (!isClientFailure(failure)) return failure
  const { _tag, ...fields } = failure
  const plain = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toPlain(value)]))
  return new classes[failure._tag]({
    ...plain,
    ...(_tag === "RateLimitWaitExceeded" ? { retryAfter: until(plain["retryAt"]) } : {}),
    ...classify(failure),
    cause: convert(failure.cause),
    message: failure.message
  })
}
