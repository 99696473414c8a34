/**
 * What a single call may do otherwise than the layer that it goes through. Knows nothing of how calls are made.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import type * as Schedule from "effect/Schedule"

/** @since 0.1.0 @category models */
export interface CallOptions {
  readonly retry?: Schedule.Schedule<unknown>
  readonly patience?: Duration.Duration
}

const none: CallOptions = {}

const overrides = FiberRef.unsafeMake(none)

/**
 * What the calls of this fiber do otherwise.
 *
 * @since 0.1.0
 * @category options
 */
export const current: Effect.Effect<CallOptions> = FiberRef.get(overrides)

/**
 * Has the calls within be sent again by another schedule, where they may be sent again at all. `Schedule.stop` sends
 * each once.
 *
 * @since 0.1.0
 * @category options
 */
export const withRetry =
  (retry: Schedule.Schedule<unknown>) => <A, E, R>(calls: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.locallyWith(calls, overrides, (options) => ({ ...options, retry }))

/**
 * Has the calls within wait for the key's allowance no longer than this.
 *
 * @since 0.1.0
 * @category options
 */
export const withPatience =
  (patience: Duration.DurationInput) => <A, E, R>(calls: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.locallyWith(calls, overrides, (options) => ({ ...options, patience: Duration.decode(patience) }))
