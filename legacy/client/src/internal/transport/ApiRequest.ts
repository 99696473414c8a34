/**
 * The encoded request and the undecoded response of any operation.
 *
 * @since 0.1.0
 */
import type * as HttpBody from "@effect/platform/HttpBody"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type { DeliveryClass } from "@plaza-legacy/domain/Delivery"

/** @since 0.1.0 @category models */
export interface ApiRequest {
  /** The operation's name, for spans, logs and messages. It doesn't contain an id. */
  readonly operation: string
  readonly area: string
  readonly delivery: DeliveryClass
  readonly method: HttpMethod
  /** Relative to the base URL, percent-encoded, with a leading slash. */
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
  readonly body: HttpBody.HttpBody
  /** Whether the body can be sent again now (default: always). If not, the call fails with its last failure. */
  readonly canRepeat?: (() => boolean) | undefined
  /** The codes that the contract lists for the operation (default: all documented ones). */
  readonly listed?: ReadonlySet<string> | undefined
}

/**
 * A 2xx response with its complete body.
 *
 * @since 0.1.0
 * @category models
 */
export interface ApiResponse {
  readonly status: number
  readonly body: string
  /** The `Date` header, if the response has one. */
  readonly date: string | undefined
}
