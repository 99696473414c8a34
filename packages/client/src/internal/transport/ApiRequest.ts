/**
 * The encoded request and the undecoded response of any operation, for the attempts and the delivery rules.
 *
 * @since 0.1.0
 */
import type * as HttpBody from "@effect/platform/HttpBody"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type { DeliveryClass } from "@plaza/domain/Delivery"

/** @since 0.1.0 @category models */
export interface ApiRequest {
  /** The operation's name, for spans, logs and messages; never an id. */
  readonly operation: string
  readonly area: string
  readonly delivery: DeliveryClass
  readonly method: HttpMethod
  /** Relative to the base address, percent-encoded, with a slash at its beginning. */
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
  readonly body: HttpBody.HttpBody
  /** Whether the body can be sent once more at this moment (default: always). Where it can't, the last failure ends the call. */
  readonly canRepeat?: (() => boolean) | undefined
  /** The codes that the contract lists for the operation; all documented ones where it is not in the contract. */
  readonly listed?: ReadonlySet<string> | undefined
}

/**
 * A success: any 2xx, its body read once.
 *
 * @since 0.1.0
 * @category models
 */
export interface ApiResponse {
  readonly status: number
  readonly body: string
  /** The service's clock by its `Date` header, in milliseconds since the epoch. */
  readonly date: number | undefined
}
