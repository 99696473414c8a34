/**
 * Decodes a response that isn't a success to the error it stands for, whatever it is made of, and the dates in its headers.
 *
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { categoryOf } from "./Category.js"
import * as Errors from "./Errors.js"

/** @since 0.1.0 @category models */
export interface ErrorResponse {
  readonly status: number
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** What could be read of the body. */
  readonly body: string
  /**
   * When it was received, in milliseconds since the epoch by the caller's clock. A `Retry-After` that is a date is read
   * against it only where the response has no `Date` header.
   */
  readonly receivedAt: number
  /** Attempts that were made, the one which this answers included, where that is counted. */
  readonly attempts?: number | undefined
  /** The codes that the endpoint lists, where one is known; any other code is not recognised then. */
  readonly listed?: ReadonlySet<string> | undefined
}

const Envelope = Schema.parseJson(Schema.Struct({
  error: Schema.Struct(
    { code: Schema.String, message: Schema.optionalWith(Schema.String, { nullable: true, default: () => "" }) },
    Schema.Record({ key: Schema.String, value: Schema.Unknown })
  )
}))
const decodeEnvelope = Schema.decodeUnknownOption(Envelope)

/**
 * Characters of a body that an error keeps: enough to recognise a proxy's page by, not enough to fill a log with it.
 *
 * @since 0.1.0
 * @category decoding
 */
export const excerptLength = 500

const isDocumented = (code: string): code is Errors.ErrorCode => Object.hasOwn(Errors.byCode, code)

/**
 * The error that an answer stands for. A documented code under its own status becomes its class, everything else an
 * `UnrecognizedError`.
 *
 * @since 0.1.0
 * @category decoding
 */
export const toError = (answer: ErrorResponse): Errors.ServiceError => {
  const { headers, status } = answer
  const wait = retryAfter(headers["retry-after"], answer.receivedAt, headers["date"])
  const requestId = headers["x-request-id"]
  const common = {
    ...(requestId === undefined ? {} : { requestId }),
    ...(Option.isNone(wait) ? {} : { retryAfter: wait.value }),
    ...(answer.attempts === undefined ? {} : { attempts: answer.attempts })
  }
  const envelope = decodeEnvelope(answer.body)
  if (Option.isNone(envelope)) {
    return new Errors.UnrecognizedError({
      ...common,
      status,
      category: categoryOf(status),
      message: `the answer with status ${status} is not in the service's form; something between may have given it`,
      details: answer.body === "" ? {} : { body: answer.body.slice(0, excerptLength) }
    })
  }
  const { code, message: told, ...details } = envelope.value.error
  const message = told === "" ? `status ${status}, code ${code}` : told
  if (isDocumented(code) && (answer.listed === undefined || answer.listed.has(code))) {
    const error = Errors.fromCode(code, { ...common, message, details })
    if (error.status === status) {
      return error
    }
  }
  return new Errors.UnrecognizedError({ ...common, status, code, category: categoryOf(status), message, details })
}

// All three forms are in GMT, and the last leaves that unsaid. `Date.parse` alone takes almost any word with a number
// behind it for a year.
const httpDate = new RegExp(
  [
    /[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT/,
    /[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT/,
    /[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}/
  ].map((form) => `^${form.source}$`).join("|")
)

// The last moment that a date can tell. A wait beyond it is no time to come back at.
const lastMoment = 8.64e15

// Without a `Date` the two clocks may differ by anything; quotas are daily, so no wait is longer than a day.
const longestWithoutDate = 24 * 60 * 60 * 1_000

/**
 * Reads a date in one of the three forms that HTTP has for it, in milliseconds since the epoch. Any other text is none.
 *
 * @since 0.1.0
 * @category decoding
 */
export const parseHttpDate = (header: string | undefined): number | undefined => {
  const text = header?.trim() ?? ""
  const millis = httpDate.test(text) ? Date.parse(text.endsWith("GMT") ? text : `${text} GMT`) : Number.NaN
  return Number.isNaN(millis) ? undefined : millis
}

const waitUntil = (moment: number, receivedAt: number, date: string | undefined): number => {
  const sentAt = parseHttpDate(date)
  const wait = sentAt === undefined ? Math.min(moment - receivedAt, longestWithoutDate) : moment - sentAt
  return Math.max(0, wait)
}

/**
 * Reads a `Retry-After` header in either form: seconds, or an HTTP date. A date is read against the `Date` header of the
 * same response, because both come from the service's clock. Without a usable `Date` it is read against `receivedAt` by
 * the caller's clock (milliseconds since the epoch), and the wait is at most a day. The wait is never negative. A header
 * in neither form, or beyond the last moment that a date can hold, is none.
 *
 * @since 0.1.0
 * @category decoding
 */
export const retryAfter = (
  header: string | undefined,
  receivedAt: number,
  date?: string
): Option.Option<Duration.Duration> => {
  const text = header?.trim() ?? ""
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : waitUntil(parseHttpDate(text) ?? Number.NaN, receivedAt, date)
  return receivedAt + wait <= lastMoment ? Option.some(Duration.millis(wait)) : Option.none()
}
