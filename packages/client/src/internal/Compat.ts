/**
 * Everything that is written differently for another line of Effect: monotonic time, fiber-local values, the steps of a
 * schedule, streams by the pull and by the chunk, and `Either` as an effect.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleInterval from "effect/ScheduleInterval"
import * as ScheduleIntervals from "effect/ScheduleIntervals"
import * as Stream from "effect/Stream"

/**
 * A moment of the monotonic clock in milliseconds: a plain number, because the rate limit compares moments for every request.
 * It is not a wall-clock time. Waits and time limits use it, because a wall clock may be set while they run.
 *
 * @since 0.1.0
 * @category models
 */
export type MonotonicMillis = number

/** Runs an effect with the current moment. @since 0.1.0 @category monotonic time */
export const monotonicWith = <A, E, R>(f: (now: MonotonicMillis) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Clock.clockWith((clock) => f(Number(clock.unsafeCurrentTimeNanos()) / 1_000_000))

/** The current moment. @since 0.1.0 @category monotonic time */
export const monotonicNow: Effect.Effect<MonotonicMillis> = monotonicWith(Effect.succeed)

// Effect's clock never ends a sleep that is longer than the longest timer of JavaScript.
const longestSleep = 2 ** 31 - 1

/** Sleeps until a moment, however far away it is. Sleeps at least once, for whole milliseconds. @since 0.1.0 @category monotonic time */
export const sleepUntil = (moment: MonotonicMillis): Effect.Effect<void> =>
  monotonicWith((now) => {
    const rest = Math.max(0, Math.ceil(moment - now))
    return rest <= longestSleep
      ? Effect.sleep(Duration.millis(rest))
      : Effect.andThen(Effect.sleep(Duration.millis(longestSleep)), sleepUntil(moment))
  })

/** `Schedule.elapsed` by the monotonic clock. @since 0.1.0 @category monotonic time */
export const monotonicElapsed: Schedule.Schedule<Duration.Duration> = Schedule.makeWithState<
  MonotonicMillis | undefined,
  unknown,
  Duration.Duration
>(
  undefined,
  (wallNow, _, from) =>
    Effect.map(monotonicNow, (now) => [
      from ?? now,
      Duration.millis(now - (from ?? now)),
      ScheduleDecision.continueWith(ScheduleInterval.after(wallNow))
    ])
)

/**
 * A value that a fiber and the fibers that it forks share.
 *
 * @since 0.1.0
 * @category fiber-local values
 */
export interface FiberLocal<A> {
  readonly get: Effect.Effect<A>
  /** Runs an effect with the value that a function makes of the current one. */
  readonly locallyWith: (f: (current: A) => A) => <B, E, R>(effect: Effect.Effect<B, E, R>) => Effect.Effect<B, E, R>
}

/**
 * A fiber-local value with a name, the same for every copy of this package in a program.
 *
 * @since 0.1.0
 * @category fiber-local values
 */
export const fiberLocal = <A>(name: string, initial: A): FiberLocal<A> => {
  const ref = globalValue(Symbol.for(name), () => FiberRef.unsafeMake(initial))
  return {
    get: FiberRef.get(ref),
    locallyWith: (f) => (effect) => Effect.locallyWith(effect, ref, f)
  }
}

/** The schedule with delays of whole milliseconds, which is what timers count. @since 0.1.0 @category schedules */
export const wholeMillis = <Out, In, R>(schedule: Schedule.Schedule<Out, In, R>): Schedule.Schedule<Out, In, R> =>
  Schedule.modifyDelay(schedule, (_, delay) => Duration.millis(Math.ceil(Duration.toMillis(delay))))

/**
 * A run of a schedule: takes an input and sleeps until the next recurrence. Returns false, at once, when the schedule has
 * ended.
 *
 * @since 0.1.0
 * @category schedules
 */
export const driver = <In>(
  schedule: Schedule.Schedule<unknown, In>
): Effect.Effect<(input: In) => Effect.Effect<boolean>> =>
  Effect.map(Schedule.driver(schedule), (driver) => (input) =>
    Effect.match(driver.next(input), { onFailure: () => false, onSuccess: () => true }))

/**
 * The delays of a schedule, for a caller that sleeps by itself.
 *
 * @since 0.1.0
 * @category schedules
 */
export interface Delays {
  /** The delay before the next recurrence; infinite when the schedule has ended. */
  readonly next: Effect.Effect<Duration.Duration>
  /** Starts the schedule again. */
  readonly reset: Effect.Effect<void>
}

/** @since 0.1.0 @category schedules */
export const delays = (schedule: Schedule.Schedule<unknown>): Delays => {
  // `Schedule.step` takes and returns its own state, which has no type.
  let state: unknown = schedule.initial
  return {
    // Each step starts at 0, so that its interval starts at its delay.
    next: Effect.suspend(() =>
      Effect.map(schedule.step(0, undefined, state), ([after, , decision]) => {
        state = after
        return ScheduleDecision.isDone(decision)
          ? Duration.infinity
          : Duration.millis(ScheduleIntervals.start(decision.intervals))
      })
    ),
    reset: Effect.sync(() => {
      state = schedule.initial
    })
  }
}

/** The first delays of a schedule. @since 0.1.0 @category schedules */
export const firstDelays = (
  schedule: Schedule.Schedule<unknown>,
  count: number
): Effect.Effect<ReadonlyArray<Duration.Duration>> => Effect.suspend(() => Effect.replicateEffect(delays(schedule).next, count))

/**
 * Runs each pull of a stream, and the stream's start, through a function. The consumer's own effects run between pulls,
 * outside of it.
 *
 * @since 0.1.0
 * @category streams
 */
export const aroundPulls = <A, E, R>(
  stream: Stream.Stream<A, E, R>,
  around: <B, E2, R2>(effect: Effect.Effect<B, E2, R2>) => Effect.Effect<B, E2, R2>
): Stream.Stream<A, E, R> => Stream.fromPull(around(Effect.map(Stream.toPull(stream), around)))

/** Runs an effect for each chunk of a stream, and keeps the chunks as they are. @since 0.1.0 @category streams */
export const tapChunks = <A, E, R>(stream: Stream.Stream<A, E, R>, effect: Effect.Effect<void>): Stream.Stream<A, E, R> =>
  Stream.chunksWith(stream, Stream.tap(() => effect))

/** An `Either` as an effect: it is one by itself in this line only. @since 0.1.0 @category conversions */
export const fromEither = <A, E>(either: Either.Either<A, E>): Effect.Effect<A, E> =>
  Either.match(either, { onLeft: Effect.fail, onRight: Effect.succeed })
