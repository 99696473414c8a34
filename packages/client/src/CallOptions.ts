/**
 * Options of single calls, which override the options of the layer: retry schedule, maximum wait, timeout and observer of attempts.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { InvalidInput } from "./ClientError.ts"
import type { AttemptFailure } from "./ClientError.ts"
import * as Durations from "./Durations.ts"

/**
 * One attempt of a call, after its end.
 *
 * @since 0.1.0
 * @category models
 */
export interface Attempt {
  /** The operation's name, such as `createPost`. */
  readonly operation: string
  /** The number of the attempt in its call, from 1. */
  readonly number: number
  /** From the first byte that was sent, or from the start of the connection, to the end of the response. Waits for a slot don't count. */
  readonly duration: Duration.Duration
  /** The status of the response; undefined if there was none. */
  readonly status: number | undefined
  /** The headers of the response, without the key. Empty if there was none. */
  readonly headers: Readonly<Record<string, string>>
  /** The failure of the attempt; undefined if it succeeded. */
  readonly failure: AttemptFailure | undefined
  /**
   * The wait before the next attempt; undefined if no attempt follows. It is at least the `Retry-After` of the response. It doesn't include
   * the wait for a slot, which follows a 429 without `Retry-After`, nor the search for a post.
   */
  readonly delay: Duration.Duration | undefined
}

/**
 * Observes the attempts of calls. It runs before the next attempt and before the call ends, so it should be quick. It must not call the
 * client, because it would observe that call as well. If it fails or dies, the client logs `on_attempt.failed` and continues. An
 * interrupted attempt is not reported. The search for a post is reported as attempts of `listPosts`.
 *
 * @since 0.1.0
 * @category models
 */
export type OnAttempt = (attempt: Attempt) => Effect.Effect<void>

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
  /** Observes each attempt, before the observer of the layer. */
  readonly onAttempt?: OnAttempt
}

/**
 * Checks a retry schedule, because code without types can pass anything. The failure is the violated requirement.
 *
 * @since 0.1.0
 * @category parsing
 */
export const checkRetry = (
  retry: Schedule.Schedule<unknown, AttemptFailure>
): Result.Result<Schedule.Schedule<unknown, AttemptFailure>, string> =>
  Schedule.isSchedule(retry) ? Result.succeed(retry) : Result.fail("must be a Schedule, such as Schedule.recurs(3)")

/**
 * Checks an observer, because code without types can pass anything. The failure is the violated requirement.
 *
 * @since 0.1.0
 * @category parsing
 */
export const checkObserver = (observe: OnAttempt | undefined): Result.Result<OnAttempt | undefined, string> =>
  observe === undefined || typeof observe === "function"
    ? Result.succeed(observe)
    : Result.fail("must be a function that returns an Effect")

const invalid = (field: string) => (requirement: string) => new InvalidInput({ field, message: `${field} ${requirement}` })

/**
 * The options of the calls of this fiber. Calls fail with the `InvalidInput` of an invalid duration.
 *
 * @since 0.1.0
 * @category options
 */
export const CurrentCallOptions = Context.Reference<Result.Result<CallOptions, InvalidInput>>("@plaza/client/CallOptions", {
  defaultValue: () => Result.succeed({})
})

/**
 * The type of an Effect or a Stream with an option: the same success, failures and requirements.
 *
 * @since 0.1.0
 * @category models
 */
export type Calls<T> = T extends Effect.Effect<infer A, infer E, infer R> ? Effect.Effect<A, E, R>
  : T extends Stream.Stream<infer A, infer E, infer R> ? Stream.Stream<A, E, R>
  : never

type EffectOrStream = Effect.Effect<unknown, unknown, unknown> | Stream.Stream<unknown, unknown, unknown>

const overriding = (change: Result.Result<CallOptions, InvalidInput>) => <T extends EffectOrStream>(calls: T): Calls<T> => {
  const update = (outer: Result.Result<CallOptions, InvalidInput>) =>
    Result.flatMap(outer, (before) => Result.map(change, (after) => ({ ...before, ...after })))
  const changed = Stream.isStream(calls)
    ? Stream.updateService(calls, CurrentCallOptions, update)
    : Effect.updateService(calls, CurrentCallOptions, update)
  // True because both functions return the kind of their argument, with the same type parameters.
  return changed as Calls<T>
}

/**
 * Sets the retry schedule of the calls within an Effect or a Stream. The schedule's input is the failure of an attempt. It decides
 * when to retry, and the delivery class decides whether a retry is safe. `Schedule.recurs(0)` disables retries, except after a 429.
 *
 * @example
 * import { Plaza, Profiles } from "@plaza/client"
 * import { Effect, Schedule } from "effect"
 *
 * // One attempt.
 * const program = Effect.flatMap(Profiles, ({ me }) => me).pipe(Plaza.withRetry(Schedule.recurs(0)))
 *
 * @since 0.1.0
 * @category options
 */
export const withRetry = (retry: Schedule.Schedule<unknown, AttemptFailure>) =>
  overriding(Result.mapBoth(checkRetry(retry), { onFailure: invalid("retry"), onSuccess: (retry) => ({ retry }) }))

const duration = (
  field: "maxWait" | "timeout",
  parsed: Result.Result<Duration.Duration, string>
): Result.Result<CallOptions, InvalidInput> =>
  Result.mapBoth(parsed, {
    onFailure: invalid(field),
    onSuccess: (value) => ({ [field]: value })
  })

/**
 * Sets the longest time that each call within an Effect or a Stream waits for the key's allowance. For a negative, infinite or
 * malformed duration every call within fails with `InvalidInput`, without a request.
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
export const withMaxWait = (maxWait: Duration.Input) => overriding(duration("maxWait", Durations.parse(maxWait)))

/**
 * Sets the timeout of one attempt of the calls within an Effect or a Stream; for an upload, the longest time without progress. For
 * a zero, negative, infinite or malformed duration every call within fails with `InvalidInput`, without a request.
 *
 * @example
 * import { Media, Plaza } from "@plaza/client"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.png", content: new Uint8Array(8) })).pipe(
 *   Plaza.withTimeout("2 minutes")
 * )
 *
 * @since 0.1.0
 * @category options
 */
export const withTimeout = (timeout: Duration.Input) => overriding(duration("timeout", Durations.parsePositive(timeout)))

/**
 * Observes each attempt of the calls within an Effect or a Stream: for logs, metrics or a display of retries. An observer within
 * another one replaces it. The option `onAttempt` of a layer observes every call, in addition.
 *
 * @example
 * import { Plaza, Profiles } from "@plaza/client"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Profiles, ({ me }) => me).pipe(
 *   Plaza.onAttempt(({ delay, number, status }) => Effect.logInfo("attempt", { number, status, delay }))
 * )
 *
 * @since 0.1.0
 * @category options
 */
export const onAttempt = (observe: OnAttempt) =>
  overriding(Result.mapBoth(checkObserver(observe), {
    onFailure: invalid("onAttempt"),
    onSuccess: (onAttempt) => onAttempt === undefined ? {} : { onAttempt }
  }))
