/**
 * The key's allowance: at most 120 requests in any 60 seconds as the service counts them. A slot is taken before a request
 * is sent and comes free a whole window after its response, because the service counted the request somewhere between the
 * two.
 *
 * Limits: it holds for callers that share one `RateLimit`, and for a service that does not count what it refuses with 429
 * nor a request after its caller gave it up.
 *
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Shutdown } from "./internal/delivery/Shutdown.js"
import type { ClientClosed, InvalidSettings, RateLimitWaitExceeded } from "./ClientError.js"
import * as Memory from "./internal/rate-limit/MemoryRateLimit.js"

/** @since 0.1.0 @category models */
export interface Allowance {
  /** Requests in a window (default: 120). */
  readonly limit?: number
  /** Length of the window (default: 60 seconds). */
  readonly window?: Duration.DurationInput
}

/**
 * How a slot is waited for.
 *
 * @since 0.1.0
 * @category models
 */
export interface WaitOptions {
  /** The name of the request's operation. While the operation is paused, the request waits without holding up others. */
  readonly operation?: string | undefined
  /** Goes before those who wait already: for a request that the service refused, which keeps its turn. */
  readonly isRetry?: boolean | undefined
  /** Ends the wait with `ClientClosed` when it closes. The allowance's own end does so in any case. */
  readonly shutdown?: Shutdown | undefined
}

/**
 * A response that asks for a pause.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refusal {
  /** What `Retry-After` asks for. */
  readonly retryAfter: Duration.Duration | undefined
  /** False for a 429: the service did not count the request. */
  readonly counted: boolean
}

/**
 * How a request is sent in its slot.
 *
 * @since 0.1.0
 * @category models
 */
export interface RequestOptions<in E> {
  /** The name of the request's operation, which is what a quota pauses. */
  readonly operation?: string | undefined
  /**
   * Recognises a failure that asks for a pause. Up to a window long it pauses the key, and beyond that the operation
   * alone: then it is a quota, of which the interface does not show what counts against it.
   */
  readonly refusal?: ((failure: E) => Refusal | undefined) | undefined
}

/** @since 0.1.0 @category models */
export interface PausedOperation {
  readonly operation: string
  readonly until: DateTime.Utc
}

/**
 * The allowance at one moment.
 *
 * @since 0.1.0
 * @category models
 */
export interface Status {
  /** Requests that could go at once. */
  readonly free: number
  /** Slots taken by requests that have no response yet; of all processes that share the allowance. */
  readonly inFlight: number
  /** Requests of this process that wait for a slot. */
  readonly waiting: number
  /** Until when the service wants no request of the key. */
  readonly pausedUntil: DateTime.Utc | undefined
  /** Operations whose quota is used up. */
  readonly pausedOperations: ReadonlyArray<PausedOperation>
}

/**
 * A place in the allowance, for one request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Slot {
  /**
   * Runs the request. The slot counts as used from then on, until a window after the request has ended. A second request,
   * or one after the scope of the slot has closed, is a defect.
   */
  readonly use: <A, E, R>(
    request: Effect.Effect<A, E, R>,
    options?: RequestOptions<E>
  ) => Effect.Effect<A, E | ClientClosed, R>
}

/** @since 0.1.0 @category services */
export class RateLimit extends Context.Tag("@plaza/client/RateLimit")<RateLimit, {
  /**
   * Waits for a slot, in the order of asking, no longer than `maxWait`, and fails as soon as it is known that the wait
   * will be longer. What is sent in it can be chosen when it is there. A slot that isn't used by the time its scope
   * closes goes to the next one, as does the place of a wait that is interrupted. Every wait fails with `ClientClosed`
   * when the layer is released.
   */
  readonly reserve: (
    maxWait: Duration.Duration,
    options?: WaitOptions
  ) => Effect.Effect<Slot, RateLimitWaitExceeded | ClientClosed, Scope.Scope>
  /**
   * Runs one request in a slot of its own: what reserving one and using it does, with less.
   */
  readonly withSlot: <A, E, R>(
    maxWait: Duration.Duration,
    request: Effect.Effect<A, E, R>,
    options?: WaitOptions & RequestOptions<E>
  ) => Effect.Effect<A, E | RateLimitWaitExceeded | ClientClosed, R>
  /**
   * Lets no request go for a while, or none of one operation, those that wait already included. A shorter time than one
   * that runs already changes nothing.
   */
  readonly pauseFor: (time: Duration.Duration, operation?: string) => Effect.Effect<void>
  /**
   * Counts requests of the key that another process sent and that were answered this long ago, so that both together keep
   * to the allowance. A shared allowance knows them already.
   */
  readonly occupy: (ages: ReadonlyArray<Duration.Duration>) => Effect.Effect<void>
  /** What is free, in flight, waiting and paused. */
  readonly status: Effect.Effect<Status>
}>() {}

const reserved = FiberRef.unsafeMake<Slot | undefined>(undefined)

/**
 * Has the first attempt of a call go out in a slot that was reserved before the call was chosen. Attempts after it wait
 * for slots of their own.
 *
 * @since 0.1.0
 * @category combinators
 */
export const inSlot = (slot: Slot) => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.locally(call, reserved, slot)

/**
 * Takes the slot that {@link inSlot} left for this call, if one is left.
 *
 * @since 0.1.0
 * @category combinators
 */
export const takeReserved: Effect.Effect<Slot | undefined> = Effect.flatMap(
  FiberRef.get(reserved),
  // Set only where there is something to take away: a reference that was set costs at every fork and join from then on.
  (slot) => slot === undefined ? Effect.succeed(undefined) : Effect.as(FiberRef.set(reserved, undefined), slot)
)

/**
 * An allowance that this process has for itself.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeMemory: (allowance?: Allowance) => Effect.Effect<RateLimit["Type"], InvalidSettings, Scope.Scope> =
  Memory.make

/**
 * Keeps the allowance in the memory of this process. It does not know of other processes with the same key, which then
 * meet 429s together; `@plaza/client/RateLimitSql` shares it.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (allowance?: Allowance): Layer.Layer<RateLimit, InvalidSettings> =>
  Layer.scoped(RateLimit, makeMemory(allowance))
