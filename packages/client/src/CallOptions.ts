/**
 * Options of single calls, which override those of the layer: retry schedule, maximum wait and timeout.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import type * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Durations from "./Durations.js"
import { InvalidInput } from "./ClientError.js"
import type { AttemptFailure } from "./ClientError.js"

/** @since 0.1.0 @category models */
export interface CallOptions {
  readonly retry?: Schedule.Schedule<unknown, AttemptFailure>
  readonly maxWait?: Duration.Duration
  /** Time limit of one attempt; of an upload, the time without progress. */
  readonly timeout?: Duration.Duration
}

const none: Either.Either<CallOptions, InvalidInput> = Either.right({})

const overrides = globalValue(
  Symbol.for("@plaza/client/CallOptions"),
  () => FiberRef.unsafeMake(none)
)

/**
 * The options of the calls of this fiber. Fails where one of them was given a duration that can't be used.
 *
 * @since 0.1.0
 * @category options
 */
export const current: Effect.Effect<CallOptions, InvalidInput> = Effect.flatten(FiberRef.get(overrides))

/**
 * The type of an Effect or a Stream after an option was set on it: the same success, failures and requirements.
 *
 * @since 0.1.0
 * @category models
 */
export type Calls<T> =
  // Every Effect is a Stream too, so it comes first.
  T extends Effect.Effect<infer A, infer E, infer R> ? Effect.Effect<A, E, R>
    : T extends Stream.Stream<infer A, infer E, infer R> ? Stream.Stream<A, E, R>
    : never

type EffectOrStream = Effect.Effect<unknown, unknown, unknown> | Stream.Stream<unknown, unknown, unknown>

const overriding = (change: Either.Either<CallOptions, InvalidInput>) => <T extends EffectOrStream>(calls: T): Calls<T> => {
  const within = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.locallyWith(effect, overrides, (outer) =>
      Either.zipWith(outer, change, (before, after) => ({ ...before, ...after })))
  // Each pull runs with the options, and the fibers that it forks (the next page) inherit them. The consumer's own effects run
  // between pulls, outside.
  const changed = Effect.isEffect(calls) ? within(calls) : Stream.fromPull(within(Effect.map(Stream.toPull(calls), within)))
  // A Stream becomes a Stream and an Effect an Effect, with the type parameters that it had: `changed` only sets a FiberRef.
  return changed as Calls<T>
}

/**
 * Sets the retry schedule of the calls within. `Schedule.stop` sends each request once. The schedule sees each failure and
 * applies only where the delivery class allows another attempt.
 *
 * @example
 * import { Plaza } from "@plaza/client"
 * import { Schedule } from "effect"
 *
 * const once = Plaza.withRetry(Schedule.stop)
 *
 * @since 0.1.0
 * @category options
 */
export const withRetry = (retry: Schedule.Schedule<unknown, AttemptFailure>) => overriding(Either.right({ retry }))

const duration = (
  field: "maxWait" | "timeout",
  parsed: Either.Either<Duration.Duration, string>
): Either.Either<CallOptions, InvalidInput> =>
  Either.mapBoth(parsed, {
    onLeft: (message) => new InvalidInput({ field, message: `${field} ${message}` }),
    onRight: (value) => ({ [field]: value })
  })

/**
 * Sets how long the calls within wait for the key's allowance at most. A duration that can't be used (negative, infinite, not a
 * duration) makes every call within fail with `InvalidInput` before anything is sent.
 *
 * @since 0.1.0
 * @category options
 */
export const withMaxWait = (maxWait: Duration.DurationInput) => overriding(duration("maxWait", Durations.parse(maxWait)))

/**
 * Sets the time limit for one attempt of the calls within; for an upload, the time without progress. A duration that can't be
 * used (zero, negative, infinite, not a duration) makes every call within fail with `InvalidInput` before anything is sent.
 *
 * @since 0.1.0
 * @category options
 */
export const withTimeout = (timeout: Duration.DurationInput) => overriding(duration("timeout", Durations.parsePositive(timeout)))
