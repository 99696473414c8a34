/**
 * How an answer looks before it is delivered, and how every failure becomes one: the document's envelope, whatever
 * failed. Knows nothing of sockets.
 *
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 */
import type { DocumentedError } from "@plaza/domain/Errors"
import * as Errors from "@plaza/domain/Errors"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/** @since 0.1.0 @category models */
export interface Answer {
  readonly status: number
  /** With lower-case names; the length of the body is added by whoever delivers it. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent as UTF-8. As text it leaves together with the head, in one piece. */
  readonly body: string
  /** Whether the transport must not add a `Date` header of its own. */
  readonly isDateless?: true
}

const jsonHeaders = { "content-type": "application/json; charset=utf-8" }

/** @since 0.1.0 @category constructors */
export const json = (status: number, value: unknown): Answer => ({
  status,
  headers: jsonHeaders,
  body: JSON.stringify(value)
})

/** @since 0.1.0 @category constructors */
export const empty = (status: number): Answer => ({ status, headers: {}, body: "" })

/** @since 0.1.0 @category constructors */
export const raw = (status: number, body: string, contentType: string): Answer => ({
  status,
  headers: { "content-type": contentType },
  body
})

/** @since 0.1.0 @category combinators */
export const withHeader = (answer: Answer, name: string, value: string): Answer => ({
  ...answer,
  headers: { ...answer.headers, [name]: value }
})

/**
 * The answer to a request that failed. `Retry-After` is in whole seconds, rounded up, so that waiting that long is
 * always enough. Without fields it has the code and the message alone, which are all that the document shows.
 *
 * @since 0.1.0
 * @category constructors
 */
export const failure = (error: DocumentedError, withFields = true): Answer => {
  const { code, details, message, retryAfter, status } = error
  // Named first for the eye; nothing in the details is called like them.
  const answer = json(status, { error: withFields ? { code, message, ...details } : { code, message } })
  return retryAfter === undefined
    ? answer
    : withHeader(answer, "retry-after", String(Math.max(1, Math.ceil(Duration.toSeconds(retryAfter)))))
}

/**
 * The answer to a request that failed in any way. What isn't one of the document's errors is a fault of the sandbox
 * itself: the caller is told nothing of its inside.
 *
 * @since 0.1.0
 * @category constructors
 */
export const failureOfCause = (cause: Cause.Cause<DocumentedError>, withFields = true): Answer =>
  failure(Option.getOrElse(Cause.failureOption(cause), () =>
    new Errors.InternalError({ message: "the service failed on its own side; the request may or may not have taken" })), withFields)

/**
 * The refusal of one parameter or field. The envelope names it as `field`, which is assumed: the document says that
 * the invalid field is named, not how.
 *
 * @since 0.1.0
 * @category constructors
 */
export const invalidField = (field: string, problem: string): Errors.ValidationError =>
  new Errors.ValidationError({ message: `"${field}" ${problem}`, details: { field } })

/**
 * The refusal of an id that leads nowhere. The envelope repeats the id as it arrived.
 *
 * @since 0.1.0
 * @category constructors
 */
export const notFound = (resource: string, id: string): Errors.NotFound =>
  new Errors.NotFound({
    message: `there is no ${resource} "${id}", or this account can't see it`,
    details: { resource, id }
  })
