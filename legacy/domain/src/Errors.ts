/**
 * One tagged error class for each code of the interface. `ErrorResponse` decodes a response to one of these classes, and
 * `ErrorSchema` has their schemas as response bodies.
 *
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { Category, categoryOf } from "./Category.ts"
import { taggedError } from "./internal/TaggedError.ts"

const details = () => Schema.Record({ key: Schema.String, value: Schema.Unknown })

const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

const withDefault = <S extends Schema.Schema.All>(schema: S, value: () => Schema.Schema.Type<S>) =>
  Schema.optionalWith(schema, { exact: true, default: value })

/** The fields of every error in addition to `status`, `code` and `category`. */
const common = () => ({
  /** A text for humans. Its wording may change. */
  message: Schema.String,
  /** Every other field of the envelope. */
  details: withDefault(details(), () => ({})),
  /** The `X-Request-Id` of the response, if it had one. */
  requestId: optional(Schema.String),
  /** The wait of `Retry-After`, if the response had one. */
  retryAfter: optional(Schema.DurationFromSelf),
  /** The number of attempts of the call, if the client counts them. */
  attempts: optional(Schema.Number)
})

const constant = <A, I, R>(schema: Schema.Schema<A, I, R>, value: () => A) =>
  schema.pipe(Schema.propertySignature, Schema.withConstructorDefault(value))

const documented = <const Status extends number, const Code extends string>(status: Status, code: Code) => ({
  status: constant(Schema.Literal(status), () => status),
  code: constant(Schema.Literal(code), () => code),
  category: constant(Category, () => categoryOf(status)),
  ...common()
})

/**
 * A parameter or body field is missing or invalid; `details` names the field.
 *
 * @since 0.1.0
 * @category errors
 */
export class ValidationError extends taggedError<ValidationError>("@plaza-legacy/domain/ValidationError")(
  "ValidationError",
  () => documented(400, "VALIDATION_ERROR")
) {}

/**
 * The body is not valid JSON.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidJson extends taggedError<InvalidJson>("@plaza-legacy/domain/InvalidJson")(
  "InvalidJson",
  () => documented(400, "INVALID_JSON")
) {}

/**
 * The key is missing, malformed or revoked.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidApiKey extends taggedError<InvalidApiKey>("@plaza-legacy/domain/InvalidApiKey")(
  "InvalidApiKey",
  () => documented(401, "INVALID_API_KEY")
) {}

/**
 * The key lacks the scope that the endpoint requires.
 *
 * @since 0.1.0
 * @category errors
 */
export class InsufficientScope extends taggedError<InsufficientScope>("@plaza-legacy/domain/InsufficientScope")(
  "InsufficientScope",
  () => documented(403, "INSUFFICIENT_SCOPE")
) {}

/**
 * Developer access of the account is suspended or revoked.
 *
 * @since 0.1.0
 * @category errors
 */
export class DeveloperAccessRevoked extends taggedError<DeveloperAccessRevoked>("@plaza-legacy/domain/DeveloperAccessRevoked")(
  "DeveloperAccessRevoked",
  () => documented(403, "DEVELOPER_ACCESS_REVOKED")
) {}

/**
 * The account has no profile photo or no cover; both are required to write.
 *
 * @since 0.1.0
 * @category errors
 */
export class ProfileIncomplete extends taggedError<ProfileIncomplete>("@plaza-legacy/domain/ProfileIncomplete")(
  "ProfileIncomplete",
  () => documented(403, "PROFILE_INCOMPLETE")
) {}

/**
 * The recipient has not written to the caller and does not follow the caller.
 *
 * @since 0.1.0
 * @category errors
 */
export class ChatNotAllowed extends taggedError<ChatNotAllowed>("@plaza-legacy/domain/ChatNotAllowed")(
  "ChatNotAllowed",
  () => documented(403, "CHAT_NOT_ALLOWED")
) {}

/**
 * One side of the conversation blocked the other.
 *
 * @since 0.1.0
 * @category errors
 */
export class ChatBlocked extends taggedError<ChatBlocked>("@plaza-legacy/domain/ChatBlocked")(
  "ChatBlocked",
  () => documented(403, "CHAT_BLOCKED")
) {}

/**
 * The store blocked the caller.
 *
 * @since 0.1.0
 * @category errors
 */
export class StoreBlocked extends taggedError<StoreBlocked>("@plaza-legacy/domain/StoreBlocked")(
  "StoreBlocked",
  () => documented(403, "STORE_BLOCKED")
) {}

/**
 * The user is blocked, private or suspended.
 *
 * @since 0.1.0
 * @category errors
 */
export class UserUnavailable extends taggedError<UserUnavailable>("@plaza-legacy/domain/UserUnavailable")(
  "UserUnavailable",
  () => documented(403, "USER_UNAVAILABLE")
) {}

/**
 * The action is not allowed for this account.
 *
 * @since 0.1.0
 * @category errors
 */
export class Forbidden extends taggedError<Forbidden>("@plaza-legacy/domain/Forbidden")(
  "Forbidden",
  () => documented(403, "FORBIDDEN")
) {}

/**
 * The resource does not exist or is not visible to the caller.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotFound extends taggedError<NotFound>("@plaza-legacy/domain/NotFound")(
  "NotFound",
  () => documented(404, "NOT_FOUND")
) {}

/**
 * The request conflicts with the current state, for example a second shipment of an order.
 *
 * @since 0.1.0
 * @category errors
 */
export class Conflict extends taggedError<Conflict>("@plaza-legacy/domain/Conflict")(
  "Conflict",
  () => documented(409, "CONFLICT")
) {}

/**
 * The body or an uploaded file is too large.
 *
 * @since 0.1.0
 * @category errors
 */
export class PayloadTooLarge extends taggedError<PayloadTooLarge>("@plaza-legacy/domain/PayloadTooLarge")(
  "PayloadTooLarge",
  () => documented(413, "PAYLOAD_TOO_LARGE")
) {}

/**
 * Too many requests, or an exhausted daily quota. `retryAfter` is the time to wait.
 *
 * @since 0.1.0
 * @category errors
 */
export class RateLimited extends taggedError<RateLimited>("@plaza-legacy/domain/RateLimited")(
  "RateLimited",
  () => documented(429, "RATE_LIMITED")
) {}

/**
 * A fault of the service.
 *
 * @since 0.1.0
 * @category errors
 */
export class InternalError extends taggedError<InternalError>("@plaza-legacy/domain/InternalError")(
  "InternalError",
  () => documented(500, "INTERNAL_ERROR")
) {}

/**
 * A response that the document doesn't describe: an unknown code, a code with a status that isn't its own, a body that isn't an
 * error envelope (HTML from a proxy, empty, truncated) or an undocumented status. `category` is the general meaning of the
 * status. `details.body` holds the beginning of a body that isn't an envelope.
 * Source: interface v1, "Errors", "New codes may be added".
 *
 * @since 0.1.0
 * @category errors
 */
export class UnrecognizedError extends taggedError<UnrecognizedError>("@plaza-legacy/domain/UnrecognizedError")(
  "UnrecognizedError",
  () => ({
    status: Schema.Number,
    code: optional(Schema.String),
    category: Category,
    ...common()
  })
) {}

/**
 * The error classes by code.
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 * @category errors
 */
export const byCode = {
  VALIDATION_ERROR: ValidationError,
  INVALID_JSON: InvalidJson,
  INVALID_API_KEY: InvalidApiKey,
  INSUFFICIENT_SCOPE: InsufficientScope,
  DEVELOPER_ACCESS_REVOKED: DeveloperAccessRevoked,
  PROFILE_INCOMPLETE: ProfileIncomplete,
  CHAT_NOT_ALLOWED: ChatNotAllowed,
  CHAT_BLOCKED: ChatBlocked,
  STORE_BLOCKED: StoreBlocked,
  USER_UNAVAILABLE: UserUnavailable,
  FORBIDDEN: Forbidden,
  NOT_FOUND: NotFound,
  CONFLICT: Conflict,
  PAYLOAD_TOO_LARGE: PayloadTooLarge,
  RATE_LIMITED: RateLimited,
  INTERNAL_ERROR: InternalError
} as const

/**
 * A code that the document lists.
 *
 * @since 0.1.0
 * @category errors
 */
export type ErrorCode = keyof typeof byCode

/**
 * An error with a code that the document lists.
 *
 * @since 0.1.0
 * @category errors
 */
export type DocumentedError = InstanceType<(typeof byCode)[ErrorCode]>

/**
 * Any response of the service that is not a success.
 *
 * @since 0.1.0
 * @category errors
 */
export type ServiceError = DocumentedError | UnrecognizedError

/**
 * The JSON body of every error response.
 *
 * @since 0.1.0
 * @category models
 */
export interface ErrorEnvelope {
  readonly error: { readonly [detail: string]: unknown; readonly code: string; readonly message: string }
}

/**
 * The fields of an error without its code.
 *
 * @since 0.1.0
 * @category models
 */
export interface ErrorFields {
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly requestId?: string
  readonly retryAfter?: Duration.Duration
  readonly attempts?: number
}

/**
 * Creates the error of a code.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromCode = (code: ErrorCode, fields: ErrorFields): DocumentedError => new byCode[code](fields)

/**
 * The schema of the error envelope, `{ error: { code, message, ...details } }`, from the schemas of its code and message.
 * Source: interface v1, "Errors".
 *
 * @since 0.1.0
 * @category schemas
 */
export const envelope = <Fields extends { readonly code: Schema.Struct.Field; readonly message: Schema.Struct.Field }>(
  fields: Fields
) => Schema.Struct({ error: Schema.Struct(fields, details()) })
