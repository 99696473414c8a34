/**
 * A request as it goes out, already encoded, and its answer as it came in, not yet decoded: what the attempts and the
 * delivery rules work on, whichever operation it is. Knows nothing of the contract.
 *
 * @since 0.1.0
 */
import type * as HttpBody from "@effect/platform/HttpBody"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type { DeliveryClass } from "@plaza/domain/Delivery"

/** @since 0.1.0 @category models */
export interface Outgoing {
  /** The operation's name, for spans, logs and messages; never an id. */
  readonly operation: string
  readonly area: string
  readonly delivery: DeliveryClass
  readonly method: HttpMethod
  /** Relative to the base address, percent-encoded, with a slash at its beginning. */
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
  readonly body: HttpBody.HttpBody
  /** The codes that the contract lists for the operation; all documented ones where it is not in the contract. */
  readonly listed?: ReadonlySet<string> | undefined
}

/**
 * A success: any 2xx, its body read once.
 *
 * @since 0.1.0
 * @category models
 */
export interface Answer {
  readonly status: number
  readonly body: string
  /** The service's clock by its `Date` header, in milliseconds since the epoch. */
  readonly date: number | undefined
}
