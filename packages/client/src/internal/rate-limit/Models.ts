/**
 * The public types of the rate limit, which the modules of this folder share. `RateLimit` and `RateLimitSql` export them.
 *
 * @since 0.1.0
 */
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { ClientClosed } from "../../ClientError.ts"
import type { Shutdown } from "../delivery/Shutdown.ts"

/**
 * The allowance of a key.
 *
 * @since 0.1.0
 * @category models
 */
export interface Allowance {
  /** Requests in a window (default: 120). */
  readonly limit?: number
  /** Length of the window (default: 60 seconds). */
  readonly window?: Duration.Input
}

/**
 * A key's allowance. Every process must use the same limit and window.
 *
 * @since 0.1.0
 * @category models
 */
export type SharedAllowance =
  & Allowance
  & {
    /**
     * How long the slot of a request stays in use if its process dies before the response. It must cover the timeout of an
     * attempt, within which the service may still count the request, and a window (default: 30 seconds plus a window). Set a
     * longer lease if attempts may take longer than 30 seconds.
     */
    readonly lease?: Duration.Input
  }
  & (
    | {
      /** The key of the allowance. The database holds a hash of it, not the key. */
      readonly apiKey: Redacted.Redacted
      readonly name?: undefined
    }
    | {
      /** A name for the allowance instead of the key, the same in every process. */
      readonly name: string
      readonly apiKey?: undefined
    }
  )

/**
 * Options of a wait for a slot.
 *
 * @since 0.1.0
 * @category models
 */
export interface WaitOptions {
  /** The name of the request's operation. While the operation is paused, the request waits and requests of other operations don't. */
  readonly operation?: string | undefined
  /** Whether the service refused the request before. The request then waits before all others in the queue (default: false). */
  readonly isRetry?: boolean | undefined
  /** Ends the wait with `ClientClosed`, as the release of the allowance does. */
  readonly shutdown?: Shutdown | undefined
}

/**
 * An error response that requires a pause.
 *
 * @since 0.1.0
 * @category models
 */
export interface PauseRequest {
  /** The wait of `Retry-After`, if the response had one. */
  readonly retryAfter: Duration.Duration | undefined
  /** Whether the service counted the request; false for a 429. */
  readonly counted: boolean
}

/**
 * Options of a request in a slot.
 *
 * @since 0.1.0
 * @category models
 */
export interface RequestOptions<in E> {
  /** The name of the request's operation, which a quota pauses. */
  readonly operation?: string | undefined
  /**
   * Returns the pause that a failure requires, if any. A pause of up to a window applies to the key. A longer pause applies
   * only to the operation: it comes from a quota, and the document doesn't show which operations count against a quota.
   */
  readonly pauseRequest?: ((failure: E) => PauseRequest | undefined) | undefined
}

/**
 * An operation with an exhausted quota.
 *
 * @since 0.1.0
 * @category models
 */
export interface PausedOperation {
  readonly operation: string
  readonly until: DateTime.Utc
}

/**
 * A snapshot of the allowance.
 *
 * @since 0.1.0
 * @category models
 */
export interface Status {
  /** The number of requests that can be sent now. */
  readonly free: number
  /** The number of requests without a response, in all processes that share the allowance. */
  readonly inFlight: number
  /** The number of requests of this process that wait for a slot, or for the end of their operation's pause. */
  readonly waiting: number
  /** The end of the key's pause; undefined if the key is not paused. */
  readonly pausedUntil: DateTime.Utc | undefined
  /** Operations with an exhausted quota. */
  readonly pausedOperations: ReadonlyArray<PausedOperation>
}

/**
 * The right to send one request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Slot {
  /**
   * Runs the request. The slot is in use until one window after the end of the request. Fails with `ClientClosed` after the release of
   * the layer. Dies on a second request, and on a request after the scope of the slot has closed.
   */
  readonly use: <A, E, R>(
    request: Effect.Effect<A, E, R>,
    options?: RequestOptions<E>
  ) => Effect.Effect<A, E | ClientClosed, R>
}
