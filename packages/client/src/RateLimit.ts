/**
 * The key's allowance: at most 120 requests in any 60 seconds as the service counts them. The client acquires a slot before it
 * sends a request. The slot is free again one window after the response, because the service counted the request at some time
 * before the response.
 *
 * With a backlog, the client uses 99.5% of the limit without a 429, if the service has a sliding log, fixed windows, or a bucket of the
 * size of the limit. A sliding-window counter and a smaller bucket refuse some requests within the limit. After a 429 the client spaces
 * requests evenly for ten windows, and every call succeeds at the rate of the limit.
 *
 * Limits: all callers of a key must share one `RateLimit`. The service may still respond with 429 if it counts requests that it
 * refused with 429, or counts a request after its caller gave up.
 *
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { ClientClosed, InvalidSettings, RateLimitWaitExceeded } from "./ClientError.ts"
import { CurrentReservation } from "./internal/rate-limit/Acquire.ts"
import * as Memory from "./internal/rate-limit/MemoryRateLimit.ts"
import type { Allowance, RequestOptions, Slot, Status, WaitOptions } from "./internal/rate-limit/Models.ts"

export type { Allowance, PausedOperation, PauseRequest, RequestOptions, Slot, Status, WaitOptions } from "./internal/rate-limit/Models.ts"

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
