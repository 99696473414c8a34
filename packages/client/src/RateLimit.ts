/**
 * The key's allowance: at most 120 requests in any 60 seconds as the service counts them. A request acquires a slot before it is
 * sent. The slot comes free a whole window after the response, because the service counted the request at some time between.
 *
 * Limits: callers have to share one `RateLimit`, and the service must not count requests that it refuses with 429, nor requests
 * after their callers gave them up.
 *
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { ClientClosed, InvalidSettings, RateLimitWaitExceeded } from "./ClientError.js"
import type { Shutdown } from "./internal/delivery/Shutdown.js"
import * as Memory from "./internal/rate-limit/MemoryRateLimit.js"
import * as Reservation from "./internal/rate-limit/Reservation.js"

/** @since 0.1.0 @category models */
export interface Allowance {
  /** Requests in a window (default: 120). */
  readonly limit?: number
  /** Length of the window (default: 60 seconds). */
  readonly window?: Duration.DurationInput
}

/**
 * Options of a wait for a slot.
 *
 * @since 0.1.0
 * @category models
 */
export interface WaitOptions {
  /** The name of the request's operation. While the operation is paused, the request waits without holding up others. */
  readonly operation?: string | undefined
  /** Whether the service refused the request before. It then goes before the other waiters. */
  readonly isRetry?: boolean | undefined
  /** Ends the wait with `ClientClosed`, as the shutdown of the allowance does. */
  readonly shutdown?: Shutdown | undefined
}

/**
 * An error response that asks for a pause.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refusal {
  /** The time of `Retry-After`. */
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
   * Recognises a failure that asks for a pause. A pause of up to a window applies to the key. A longer one applies to the
   * operation alone: it comes from a quota, and the interface does not document what counts against quotas.
   */
  readonly refusal?: ((failure: E) => Refusal | undefined) | undefined
}

/** @since 0.1.0 @category models */
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
  /** Requests that can be sent now. */
  readonly free: number
  /** Slots of requests without a response, of all processes that share the allowance. */
  readonly inFlight: number
  /** Requests of this process that wait for a slot. */
  readonly waiting: number
  /** The end of the key's pause, where it is paused. */
  readonly pausedUntil: DateTime.Utc | undefined
  /** Operations with an exhausted quota. */
  readonly pausedOperations: ReadonlyArray<PausedOperation>
}

/**
 * A permit for one request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Slot {
  /**
   * Runs the request. The slot is in use until a window after the end of the request. A second request, or one after the scope
   * of the slot has closed, is a defect.
   */
  readonly use: <A, E, R>(
    request: Effect.Effect<A, E, R>,
    options?: RequestOptions<E>
  ) => Effect.Effect<A, E | ClientClosed, R>
}

/** @since 0.1.0 @category services */
export class RateLimit extends Context.Tag("@plaza/client/RateLimit")<RateLimit, {
  /**
   * Waits for a slot, in the order of asking and no longer than `maxWait`. Fails with `RateLimitWaitExceeded` as soon as it is
   * known that the wait will be longer, and with `ClientClosed` when the layer is released. The caller can choose the request
   * after the slot is there. An unused slot goes to the next waiter when its scope closes.
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
    maxWait: Duration.Duration,
    options?: WaitOptions
  ) => Effect.Effect<Slot, RateLimitWaitExceeded | ClientClosed, Scope.Scope>
  /**
   * Runs one request in a slot of its own: the same as `reserve` and `use`, at a lower cost.
   */
  readonly withSlot: <A, E, R>(
    maxWait: Duration.Duration,
    request: Effect.Effect<A, E, R>,
    options?: WaitOptions & RequestOptions<E>
  ) => Effect.Effect<A, E | RateLimitWaitExceeded | ClientClosed, R>
  /**
   * Pauses the key, or one operation, for a time. The pause applies to waiting requests too. A pause that ends before the
   * current one changes nothing.
   */
  readonly pauseFor: (time: Duration.Duration, operation?: string) => Effect.Effect<void>
  /**
   * Counts requests of the key that another process sent, by the time since each response. An allowance in a database counts
   * them already and ignores this.
   */
  readonly occupy: (ages: ReadonlyArray<Duration.Duration>) => Effect.Effect<void>
  /** Free slots, requests in flight and waiting, and pauses. */
  readonly status: Effect.Effect<Status>
}>() {}

/**
 * Sends the first attempt of a call in a reserved slot. Later attempts wait for slots of their own.
 *
 * @since 0.1.0
 * @category combinators
 */
export const inSlot: (slot: Slot) => <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Reservation.inSlot

/**
 * An allowance in the memory of this process.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeMemory: (allowance?: Allowance) => Effect.Effect<RateLimit["Type"], InvalidSettings, Scope.Scope> = Memory.make

/**
 * Keeps the allowance in the memory of this process. Several processes with the same key together exceed the limit and get 429s:
 * share the allowance with `@plaza/client/RateLimitSql`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (allowance?: Allowance): Layer.Layer<RateLimit, InvalidSettings> =>
  Layer.scoped(RateLimit, makeMemory(allowance))
