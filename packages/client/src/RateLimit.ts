/**
 * The key's allowance: at most 120 requests in any 60 seconds as the service counts them. The client acquires a slot before it
 * sends a request. The slot is free again one window after the response, because the service counted the request at some time
 * before the response.
 *
 * With a backlog, the client uses 99.5% of the limit, without a 429, if the service counts the requests of the last window (a sliding
 * log), counts in fixed windows, or has a token bucket or a leaky bucket of the size of the limit. A sliding-window counter, and a bucket
 * that is smaller, also refuse requests within the limit. After a 429 the client spaces requests evenly for ten windows, so that few more
 * are refused, and every call succeeds at the rate of the limit.
 *
 * Limits: all callers of a key must share one `RateLimit`. The service may still respond with 429 if it counts requests that it
 * refused with 429, or counts a request after its caller gave up.
 *
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { ClientClosed, InvalidSettings, RateLimitWaitExceeded } from "./ClientError.ts"
import type { Shutdown } from "./internal/delivery/Shutdown.ts"
import { CurrentReservation } from "./internal/rate-limit/Acquire.ts"
import * as Memory from "./internal/rate-limit/MemoryRateLimit.ts"

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

/**
 * The rate limit of a key.
 *
 * @since 0.1.0
 * @category services
 */
export class RateLimit extends Context.Service<RateLimit, {
  /**
   * Waits for a slot, first in, first out, for at most `maxWait`. Fails with `RateLimitWaitExceeded` as soon as the wait is known
   * to exceed `maxWait`, and with `ClientClosed` when the layer is released. The caller can decide on the request once it has the
   * slot. An unused slot is released when its scope closes.
   *
   * @example
   * import { Profiles, RateLimit } from "@plaza/client"
   * import { Duration, Effect } from "effect"
   *
   * const program = Effect.scoped(Effect.gen(function*() {
   *   const { reserve } = yield* RateLimit.RateLimit
   *   const { me } = yield* Profiles
   *   const slot = yield* reserve(Duration.minutes(1))
   *   return yield* RateLimit.inSlot(slot)(me)
   * }))
   */
  readonly reserve: (
    maxWait: Duration.Input,
    options?: WaitOptions
  ) => Effect.Effect<Slot, RateLimitWaitExceeded | ClientClosed, Scope.Scope>
  /**
   * Acquires a slot and runs one request in it: the same as `reserve` and `use`, with less overhead.
   */
  readonly withSlot: <A, E, R>(
    maxWait: Duration.Input,
    request: Effect.Effect<A, E, R>,
    options?: WaitOptions & RequestOptions<E>
  ) => Effect.Effect<A, E | RateLimitWaitExceeded | ClientClosed, R>
  /**
   * Pauses the key, or one operation, for a time of at most a day. The pause applies to waiting requests too. A pause that ends before
   * the current pause has no effect.
   */
  readonly pauseFor: (time: Duration.Duration, operation?: string) => Effect.Effect<void>
  /**
   * Counts requests that another process sent with the key, given the time since each response. `tolerance` is how much more recent
   * they may be, because the clocks of two hosts differ (default: none). Has no effect on an allowance in a database, which already
   * counts them.
   */
  readonly occupy: (ages: ReadonlyArray<Duration.Duration>, tolerance?: Duration.Duration) => Effect.Effect<void>
  /** A snapshot of the free slots, the requests in flight, the waiting requests and the pauses. */
  readonly status: Effect.Effect<Status>
}>()("@plaza/client/RateLimit") {}

/**
 * Sends the first attempt of a call in a reserved slot. Later attempts wait for slots of their own.
 *
 * @since 0.1.0
 * @category combinators
 */
export const inSlot = (slot: Slot) => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  // The fibers of a call share this cell, so that only one attempt takes the slot.
  Effect.provideService(call, CurrentReservation, { slot })

/**
 * An allowance in the memory of this process. Fails with `InvalidSettings` for an invalid limit or window.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeMemory: (allowance?: Allowance) => Effect.Effect<RateLimit["Service"], InvalidSettings, Scope.Scope> = Memory.make

/**
 * Keeps the allowance in the memory of this process. If several processes use the same key, they exceed the limit together: use
 * `@plaza/client/RateLimitSql` instead.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (allowance?: Allowance): Layer.Layer<RateLimit, InvalidSettings> =>
  Layer.effect(RateLimit, makeMemory(allowance))
