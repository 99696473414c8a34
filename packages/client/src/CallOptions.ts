/**
 * Options of single calls, which override those of the layer: retry schedule, maximum wait and timeout.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Schedule from "effect/Schedule"
import type * as Stream from "effect/Stream"
import { InvalidInput } from "./ClientError.js"
import type { AttemptFailure } from "./ClientError.js"
import * as Durations from "./Durations.js"
import { aroundPulls, fiberLocal, fromEither } from "./internal/Compat.js"

/** @since 0.1.0 @category models */
export interface CallOptions {
  /** When another attempt follows a failure. */
  readonly retry?: Schedule.Schedule<unknown, AttemptFailure>
  /** The longest wait for the key's allowance. */
  readonly maxWait?: Duration.Duration
  /** Time limit of one attempt; of an upload, the time without progress. */
  readonly timeout?: Duration.Duration
}

const none: Either.Either<CallOptions, InvalidInput> = Either.right({})

const overrides = fiberLocal("@plaza/client/CallOptions", none)

/**
 * The options of the calls of this fiber. Fails with `InvalidInput` where an option is a duration that can't be used.
 *
 * @since 0.1.0
 * @category options
 */
export const current: Effect.Effect<CallOptions, InvalidInput> = Effect.flatMap(overrides.get, fromEither)

/**
 * The type of an Effect or a Stream with an option: the same success, failures and requirements.
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
  const within = overrides.locallyWith((outer) => Either.zipWith(outer, change, (before, after) => ({ ...before, ...after })))
  // Each pull runs with the options, and so do the fibers that it forks for the next page.
  const changed = Effect.isEffect(calls) ? within(calls) : aroundPulls(calls, within)
  // A Stream stays a Stream and an Effect an Effect, with the same type parameters.
  return changed as Calls<T>
}

/**
 * Sets the retry schedule of the calls within. The schedule's input is the failure of an attempt, and it applies only where the
 * delivery class allows another attempt. `Schedule.stop` sends each request once.
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
 * Sets the longest time that each call within waits for the key's allowance. A negative, infinite or malformed duration makes
 * every call within fail with `InvalidInput` before anything is sent.
 *
 * @example
 * import { Plaza, Profiles } from "@plaza/client"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Profiles, ({ me }) => me).pipe(Plaza.withMaxWait("10 seconds"))
 *
 * @since 0.1.0
 * @category options
 */
export const withMaxWait = (maxWait: Duration.DurationInput) => overriding(duration("maxWait", Durations.parse(maxWait)))

/**
 * Sets the time limit of one attempt of the calls within; of an upload, the time without progress. A zero, negative, infinite or
 * malformed duration makes every call within fail with `InvalidInput` before anything is sent.
 *
 * @since 0.1.0
 * @category options
 */
export const withTimeout = (timeout: Duration.DurationInput) => overriding(duration("timeout", Durations.parsePositive(timeout)))
