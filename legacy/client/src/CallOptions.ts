/**
 * Options of single calls, which override the options of the layer: retry schedule, maximum wait and timeout.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Schedule from "effect/Schedule"
import type * as Stream from "effect/Stream"
import { InvalidInput } from "./ClientError.ts"
import type { AttemptFailure } from "./ClientError.ts"
import * as Durations from "./Durations.ts"
import { aroundPulls, fiberLocal, fromEither } from "./internal/Compat.ts"

/**
 * Options of a call. An absent option means the option of the layer.
 *
 * @since 0.1.0
 * @category models
 */
export interface CallOptions {
  /** When to retry after a failure. */
  readonly retry?: Schedule.Schedule<unknown, AttemptFailure>
  /** The longest wait for the key's allowance, over all attempts of the call. */
  readonly maxWait?: Duration.Duration
  /** The timeout of one attempt; for an upload, the longest time without progress. */
  readonly timeout?: Duration.Duration
}

const none: Either.Either<CallOptions, InvalidInput> = Either.right({})

const overrides = fiberLocal("@plaza-legacy/client/CallOptions", none)

/**
 * The options of the calls of this fiber. Fails with `InvalidInput` if an option is an invalid duration.
 *
 * @since 0.1.0
 * @category options
 */
export const current: Effect.Effect<CallOptions, InvalidInput> = overrides.with(fromEither)

/**
 * The type of an Effect or a Stream with an option: the same success, failures and requirements.
 *
 * @since 0.1.0
 * @category models
 */
export type Calls<T> =
  // The Effect case is first, because every Effect is a Stream too.
  T extends Effect.Effect<infer A, infer E, infer R> ? Effect.Effect<A, E, R>
    : T extends Stream.Stream<infer A, infer E, infer R> ? Stream.Stream<A, E, R>
    : never

type EffectOrStream = Effect.Effect<unknown, unknown, unknown> | Stream.Stream<unknown, unknown, unknown>

const overriding = (change: Either.Either<CallOptions, InvalidInput>) => <T extends EffectOrStream>(calls: T): Calls<T> => {
  const within = overrides.locallyWith((outer) => Either.zipWith(outer, change, (before, after) => ({ ...before, ...after })))
  // A pull runs with the options, and so does the fiber that it forks for the next page.
  const changed = Effect.isEffect(calls) ? within(calls) : aroundPulls(calls, within)
  // True because both functions return the kind of their argument, with the same type parameters.
  return changed as Calls<T>
}

/**
 * Sets the retry schedule of the calls within an Effect or a Stream. The schedule's input is the failure of an attempt. It decides
 * when to retry, and the delivery class decides whether a retry is safe. `Schedule.stop` disables retries, except after a 429.
 *
 * @example
 * import { Plaza } from "@plaza-legacy/client"
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
 * Sets the longest time that each call within an Effect or a Stream waits for the key's allowance. For a negative, infinite or
 * malformed duration every call within fails with `InvalidInput`, without a request.
 *
 * @example
 * import { Plaza, Profiles } from "@plaza-legacy/client"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Profiles, ({ me }) => me).pipe(Plaza.withMaxWait("10 seconds"))
 *
 * @since 0.1.0
 * @category options
 */
export const withMaxWait = (maxWait: Duration.DurationInput) => overriding(duration("maxWait", Durations.parse(maxWait)))

/**
 * Sets the timeout of one attempt of the calls within an Effect or a Stream; for an upload, the longest time without progress. For
 * a zero, negative, infinite or malformed duration every call within fails with `InvalidInput`, without a request.
 *
 * @example
 * import { Media, Plaza } from "@plaza-legacy/client"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.png", content: new Uint8Array(8) })).pipe(
 *   Plaza.withTimeout("2 minutes")
 * )
 *
 * @since 0.1.0
 * @category options
 */
export const withTimeout = (timeout: Duration.DurationInput) => overriding(duration("timeout", Durations.parsePositive(timeout)))
