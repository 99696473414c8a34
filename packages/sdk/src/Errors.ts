/** The errors of the client as plain classes, with the same names and fields. Durations are in milliseconds, instants are `Date`. */
import type { ClientError } from "@plaza/client"
import type { Category } from "@plaza/domain/Errors"
import type { Plain } from "@plaza/domain/Plain"
import type { Cause } from "effect"
import type * as Self from "./Errors.ts"

type ClientFailure = ClientError.Failure | ClientError.Inconclusive | ClientError.InvalidSettings

const brand = Symbol.for("@plaza/sdk/PlazaError")

/**
 * What every error of this package has. Use {@link isPlazaError} to narrow a caught value, and `_tag`, which is the name of the class, or
 * `category` to decide what to do. `message` is a sentence for people and may change.
 */
export abstract class PlazaError extends Error {
  /** The name of the class. */
  abstract readonly _tag: string
  /** Why the call failed: the general meaning of the status, also for codes that the document doesn't list. Check `mayHaveHappened` first. */
  readonly category!: Category
  /**
   * Whether the service may have carried out the call all the same. Then check the result before you repeat a write. It is false if the
   * client sent nothing, if the service refused every attempt, and for reads.
   */
  readonly mayHaveHappened!: boolean
  /** The status of the response that the call failed with, if it did. */
  declare readonly status?: number | undefined
  /** The code of the service's error, or of the system's for a file, if there is one. */
  declare readonly code?: string | undefined
  /** How long to wait before the next call, if that is known. */
  declare readonly retryAfter?: number | undefined

  constructor({ cause, message, ...fields }: Record<string, unknown>) {
    super(String(message), cause === undefined ? undefined : { cause })
    Object.assign(this, fields)
  }

  /** The fields and the message, for logs. */
  toJSON(): object {
    return Object.assign({ message: this.message }, this)
  }
}
Object.defineProperty(PlazaError.prototype, brand, { value: true })

type FieldsOf<Tag extends string> = Extract<ClientFailure, { readonly _tag: Tag }> extends infer Source
  ? [Source] extends [never] ? unknown : Plain<Omit<Source, keyof Cause.YieldableError | "category">>
  : never

/** The base of a class: the fields of the client's error with that tag. */
const errorOf = <Tag extends string>(tag: Tag) => {
  class Tagged extends PlazaError {
    override readonly _tag: string = tag
  }
  Object.defineProperty(Tagged.prototype, "name", { value: tag })
  // True because `toFailure` passes the fields of the client's error with this tag.
  return Tagged as unknown as abstract new(fields: Record<string, unknown>) => PlazaError & { readonly _tag: Tag } & FieldsOf<Tag>
}

/** The service found a parameter or a field invalid; `details` names it. Nothing changed, unless `mayHaveHappened`. Correct the input. */
export class ValidationError extends errorOf("ValidationError") {}

/** The service could not parse the body. Nothing changed, unless `mayHaveHappened`. Report it to us: this package sends valid JSON. */
export class InvalidJson extends errorOf("InvalidJson") {}

/** The key is missing, malformed or revoked. Nothing changed, unless `mayHaveHappened`. Every call will fail: stop, and set a valid key. */
export class InvalidApiKey extends errorOf("InvalidApiKey") {}

/** The key lacks the scope of the endpoint. Nothing changed, unless `mayHaveHappened`. Use a key with that scope. */
export class InsufficientScope extends errorOf("InsufficientScope") {}

/**
 * Developer access of the account is suspended or revoked. Nothing changed, unless `mayHaveHappened`. Every call will fail: stop, and ask
 * the service.
 */
export class DeveloperAccessRevoked extends errorOf("DeveloperAccessRevoked") {}

/** The account has no profile photo or no cover, which writes require. Nothing changed, unless `mayHaveHappened`. Complete the profile. */
export class ProfileIncomplete extends errorOf("ProfileIncomplete") {}

/**
 * The recipient has not written to the account and does not follow it. Nothing was sent, unless `mayHaveHappened`. Wait until the
 * recipient does.
 */
export class ChatNotAllowed extends errorOf("ChatNotAllowed") {}

/** One side of the conversation blocked the other. Nothing was sent, unless `mayHaveHappened`. Do not repeat it. */
export class ChatBlocked extends errorOf("ChatBlocked") {}

/** The store blocked the account. Nothing changed, unless `mayHaveHappened`. Do not repeat it. */
export class StoreBlocked extends errorOf("StoreBlocked") {}

/** The user is blocked, private or suspended. Nothing changed, unless `mayHaveHappened`. Skip the user. */
export class UserUnavailable extends errorOf("UserUnavailable") {}

/** The action is not allowed for this account. Nothing changed, unless `mayHaveHappened`. Do not repeat it. */
export class Forbidden extends errorOf("Forbidden") {}

/** The resource does not exist or is not visible to the account. Nothing changed, unless `mayHaveHappened`. Check the id. */
export class NotFound extends errorOf("NotFound") {}

/**
 * The request conflicts with the current state, such as a second shipment of an order. Nothing changed, unless `mayHaveHappened`. Read
 * the state.
 */
export class Conflict extends errorOf("Conflict") {}

/** The body or the file is too large. Nothing was stored, unless `mayHaveHappened`. Send a smaller one. */
export class PayloadTooLarge extends errorOf("PayloadTooLarge") {}

/**
 * The service accepts no request now, or a daily quota is exhausted. Nothing changed, unless `mayHaveHappened`. Call again after
 * `retryAfter`.
 */
export class RateLimited extends errorOf("RateLimited") {}

/** A fault of the service. Only reads and repeatable writes fail with it. Call again later. */
export class InternalError extends errorOf("InternalError") {}

/** A response that the document does not describe: a new code, or a page of a proxy. Decide by `mayHaveHappened` and `category`. */
export class UnrecognizedError extends errorOf("UnrecognizedError") {}

/** An argument is invalid; `field` names it. Nothing was sent, unless `mayHaveHappened`. Correct the argument. */
export class InvalidInput extends errorOf("InvalidInput") {}

/** An option or a variable is invalid; `setting` names it. Nothing was sent. Correct it. */
export class InvalidSettings extends errorOf("InvalidSettings") {}

/**
 * The last attempt had no connection: unknown host, refused connection, untrusted certificate. Nothing changed, unless `mayHaveHappened`.
 * Check the base URL and the network.
 */
export class ConnectionFailed extends errorOf("ConnectionFailed") {}

/** The connection broke after the client may have sent the request. Only reads and repeatable writes fail with it. Call again. */
export class ConnectionLost extends errorOf("ConnectionLost") {}

/** No complete response within the timeout. Only reads and repeatable writes fail with it. Call again, or allow more time. */
export class AttemptTimeout extends errorOf("AttemptTimeout") {}

/** The service accepted the write, but its response can't be read. It most likely happened: check before you repeat it. */
export class UnreadableSuccess extends errorOf("UnreadableSuccess") {}

/** The wait for the key's allowance would exceed `maxWait`. Nothing changed, unless `mayHaveHappened`. Call again after `retryAt`. */
export class RateLimitWaitExceeded extends errorOf("RateLimitWaitExceeded") {
  /** The time until `retryAt`. */
  declare readonly retryAfter: number
}

/** The client was closed before it sent the request. Nothing changed, unless `mayHaveHappened`. Create a new client. */
export class ClientClosed extends errorOf("ClientClosed") {}

/** A list returned the same cursor twice, so it might never end. The items so far are valid. Read the list again. */
export class CursorRepeated extends errorOf("CursorRepeated") {}

/** An item of a list can't be decoded. The items before it are valid. Continue from `nextCursor`. */
export class UnreadableItem extends errorOf("UnreadableItem") {}

/** A file can't be read; `code` is that of the system, such as `ENOENT`. Check the path. */
export class PlatformError extends errorOf("PlatformError") {
  declare readonly code: string | undefined
  declare readonly path: string | undefined
}

/** The list of posts does not show whether a post was created. Only the `cause` of an `OutcomeUnknown`. */
export class Inconclusive extends errorOf("Inconclusive") {}

/** The service rejected a cursor, most likely because it expired. The items so far are valid. Read the list again from its beginning. */
export class CursorRejected extends errorOf("CursorRejected") {
  /** The error of the service. */
  declare readonly cause: Failure
}

/** The service may or may not have carried out the write. Check the result before you repeat it. */
export class OutcomeUnknown extends errorOf("OutcomeUnknown") {
  /** Why the outcome is unknown. */
  declare readonly cause: Failure
}

/** Every error of this package. */
export type Failure = { [Name in keyof Classes]: Classes[Name] extends abstract new(fields: never) => infer E ? E : never }[keyof Classes]

/** Every export that is a class of errors; the compiler reports a failure of the client without one. */
type Classes = Pick<typeof Self, ClientFailure["_tag"] | "PlatformError">

/**
 * Whether a caught value is an error of this package. Everything else is a fault of the program, or of a callback or source that it passed.
 *
 * @example
 * import { createPlaza, isPlazaError } from "@plaza/sdk"
 *
 * const plaza = createPlaza({ baseUrl: "https://host/open/v1", apiKey: "a key" })
 * const outcome = await plaza.profiles.find("nobody").then(
 *   ({ id }) => id,
 *   (error: unknown) => isPlazaError(error) ? error._tag : "a fault of the program"
 * )
 * // => "NotFound"
 */
export const isPlazaError = (value: unknown): value is Failure => typeof value === "object" && value !== null && brand in value
