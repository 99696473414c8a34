/**
 * Decodes an error response with any body to an error of `Errors`. Parses `Retry-After` and HTTP dates.
 *
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Errors from "./Errors.ts"
import * as NestingDepth from "./NestingDepth.ts"
import { optional } from "./Resources.ts"

/**
 * A response that is not a success.
 *
 * @since 0.1.0
 * @category models
 */
export interface ErrorResponse {
  readonly status: number
  /** The headers, with lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The body, or the part of it that arrived. */
  readonly body: string
  /** Whether the response ended before its body was complete (default: false). */
  readonly isIncomplete?: boolean | undefined
  /**
   * When the response was received, in milliseconds since the epoch by the caller's clock. A `Retry-After` date is compared
   * with it only if the response has no `Date` header.
   */
  readonly receivedAt: number
  /** The number of attempts of the call so far, if the client counts them. */
  readonly attempts?: number | undefined
  /** The codes that the endpoint lists (default: all documented codes). Any other code becomes an `UnrecognizedError`. */
  readonly listed?: ReadonlySet<string> | undefined
}

const decodeEnvelope = Schema.decodeUnknownOption(
  Schema.fromJsonString(Errors.envelope({ code: Schema.String, message: optional(Schema.String) }))
)

const decodeStrictEnvelope = Schema.decodeUnknownOption(
  Schema.fromJsonString(Errors.envelope({ code: Schema.String, message: Schema.String }))
)

/**
 * Whether a body is the error envelope of the document: `error` is an object whose `code` and `message` are strings. Any other body of
 * an error response comes from a proxy. {@link toError} accepts an envelope without a message all the same.
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 * @category decoding
 */
export const isEnvelope = (body: string): boolean => Option.isSome(decodeStrictEnvelope(body))

/**
 * The number of characters that an error keeps of a body that isn't an error envelope: enough to recognise a proxy's page.
 *
 * @since 0.1.0
 * @category decoding
 */
export const excerptLength = 500

// Programs print and log details by recursive functions, such as `JSON.stringify`.
const maxDepth = 100

const isDocumented = (code: string): code is Errors.ErrorCode => Object.hasOwn(Errors.byCode, code)

/**
 * Decodes an error response. A documented code with its documented status becomes its class. Any other response becomes an
 * `UnrecognizedError`. `details` has no field that is nested in more than 100 levels. Never throws.
 *
 * @since 0.1.0
 * @category decoding
 */
export const toError = (response: ErrorResponse): Errors.ServiceError => {
  const { headers, status } = response
  const wait = retryAfter(headers["retry-after"], response.receivedAt, headers["date"])
  const requestId = headers["x-request-id"]
  const common = {
    ...(requestId === undefined ? {} : { requestId }),
    ...(Option.isNone(wait) ? {} : { retryAfter: wait.value }),
    ...(response.attempts === undefined ? {} : { attempts: response.attempts })
  }
  const envelope = decodeEnvelope(response.body)
  if (Option.isNone(envelope)) {
    return new Errors.UnrecognizedError({
      ...common,
      status,
      category: Errors.categoryOf(status),
      message: response.isIncomplete === true
        ? `the response with status ${status} ended before its body was complete`
        : `the response with status ${status} is not an error of the interface; a proxy may have sent it: check the base URL`,
      details: {
        ...(response.isIncomplete === true ? { isIncomplete: true } : {}),
        ...(response.body === "" ? {} : { body: response.body.slice(0, excerptLength) })
      }
    })
  }
  const { code, message: text, ...fields } = envelope.value.error
  const details = Object.fromEntries(Object.entries(fields).filter(([, field]) => !NestingDepth.isBeyond(field, maxDepth)))
  const message = text || `status ${status}, code ${code}`
  if (isDocumented(code) && (response.listed === undefined || response.listed.has(code))) {
    const error = Errors.fromCode(code, { ...common, message, details })
    if (error.status === status) {
      return error
    }
  }
  return new Errors.UnrecognizedError({ ...common, status, code, category: Errors.categoryOf(status), message, details })
}

/**
 * The longest wait of a `Retry-After`, a day: the quotas of the document are daily.
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 * @category constants
 */
export const longestWait: Duration.Duration = Duration.days(1)

/**
 * A longer value can't be a wait. It is a time of day in seconds or milliseconds, or the date of a wrong clock.
 *
 * @since 0.1.0
 * @category constants
 */
export const longestPlausibleWait: Duration.Duration = Duration.days(7)

/**
 * Parses a date in one of the three forms of HTTP to milliseconds since the epoch. Returns `undefined` for any other text.
 *
 * @since 0.1.0
 * @category decoding
 */
export const parseHttpDate = (header: string | undefined): number | undefined =>
  Option.getOrUndefined(Option.map(Result.getSuccess(Headers.parseHttpDate(header ?? "")), DateTime.toEpochMillis))

/**
 * Parses a `Retry-After` header: seconds, or an HTTP date. A date is compared with the `Date` header of the same response,
 * because both come from the service's clock. Without a valid `Date` it is compared with `receivedAt` (milliseconds since the
 * epoch by the caller's clock). The wait is never negative and at most a day. Returns `none` for a header in neither form, and for a
 * value beyond seven days, which can't be a wait.
 * Source: interface v1, "Limits".
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
  const millis = /^\d+(\.\d+)?$/.test(text)
    ? Number(text) * 1_000
    : (parseHttpDate(text) ?? Number.NaN) - (parseHttpDate(date) ?? receivedAt)
  return millis <= Duration.toMillis(longestPlausibleWait)
    ? Option.some(Duration.min(Duration.millis(Math.max(millis, 0)), longestWait))
    : Option.none()
}
