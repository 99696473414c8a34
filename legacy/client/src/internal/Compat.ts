/**
 * The code that a change to Effect 4 affects: monotonic time, fiber-local values, steps of a schedule, pulls and chunks of a stream,
 * and `Either` as an effect.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
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
 * An instant of the monotonic clock, in milliseconds. A plain number, because the rate limit compares instants for every request.
 * Waits and timeouts use it, because the wall clock may be set while they run.
 *
 * @since 0.1.0
 * @category models
 */
export type MonotonicMillis = number

const momentOf = (clock: Clock.Clock): MonotonicMillis => Number(clock.unsafeCurrentTimeNanos()) / 1_000_000

/** Runs an effect with the current moment. @since 0.1.0 @category monotonic time */
export const monotonicWith = <A, E, R>(f: (now: MonotonicMillis) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Clock.clockWith((clock) => f(momentOf(clock)))

/** Runs an effect with the current moment and the time of the wall clock. @since 0.1.0 @category monotonic time */
export const clocksWith = <A, E, R>(
  f: (now: MonotonicMillis, wallNow: DateTime.Utc) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => Clock.clockWith((clock) => f(momentOf(clock), DateTime.unsafeMake(clock.unsafeCurrentTimeMillis())))

/** The current moment. @since 0.1.0 @category monotonic time */
export const monotonicNow: Effect.Effect<MonotonicMillis> = monotonicWith(Effect.succeed)

// The longest timer of JavaScript. A longer sleep of Effect's clock doesn't end.
const longestSleep = 2 ** 31 - 1

/** Sleeps until a moment, in timers that JavaScript supports. Yields even if the moment has passed. @since 0.1.0 @category monotonic time */
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

/** A value that a fiber passes on to the fibers that it forks. */
interface FiberLocal<A> {
  /** Runs an effect with the value. */
  readonly with: <B, E, R>(f: (value: A) => Effect.Effect<B, E, R>) => Effect.Effect<B, E, R>
  /** Runs an effect with a value that is computed from the current value. */
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
    // One operation of the runtime. `FiberRef.getWith` takes three.
    with: (f) => Effect.withFiberRuntime((fiber) => f(fiber.getFiberRef(ref))),
    locallyWith: (f) => (effect) => Effect.locallyWith(effect, ref, f)
  }
}

/** Rounds up to whole milliseconds, the unit of timers. @since 0.1.0 @category durations */
export const roundUp = (duration: Duration.Duration): Duration.Duration => Duration.millis(Math.ceil(Duration.toMillis(duration)))

/** Rounds the delays of a schedule up to whole milliseconds. @since 0.1.0 @category schedules */
export const wholeMillis = <Out, In, R>(schedule: Schedule.Schedule<Out, In, R>): Schedule.Schedule<Out, In, R> =>
  Schedule.modifyDelay(schedule, (_, delay) => roundUp(delay))

/**
 * Starts a schedule. The returned function passes an input to the schedule, sleeps until the next recurrence and returns true. It
 * returns false without a sleep when the schedule has ended.
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
  // `Schedule.step` has no type for the state that it takes and returns.
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

/**
 * The delay after `earlier` delays: doubles from `first`, at most `longest`. A function instead of a `Schedule`, because its callers
 * count failures themselves, within a step that can't run effects: docs/decisions/036-program-modules.md.
 *
 * @since 0.1.0
 * @category schedules
 */
export const doubled = (first: Duration.Duration, longest: Duration.Duration, earlier: number): Duration.Duration =>
  Duration.millis(Math.min(Duration.toMillis(longest), Duration.toMillis(first) * 2 ** earlier))

/**
 * Applies a function to the start of a stream and to each pull. The consumer's own effects run between pulls, without the function.
 *
 * @since 0.1.0
 * @category streams
 */
export const aroundPulls = <A, E, R>(
  stream: Stream.Stream<A, E, R>,
  around: <B, E2, R2>(effect: Effect.Effect<B, E2, R2>) => Effect.Effect<B, E2, R2>
): Stream.Stream<A, E, R> => Stream.fromPull(around(Effect.map(Stream.toPull(stream), around)))

/** Runs an effect for each chunk of a stream. Doesn't change the chunks. @since 0.1.0 @category streams */
export const tapChunks = <A, E, R>(stream: Stream.Stream<A, E, R>, effect: Effect.Effect<void>): Stream.Stream<A, E, R> =>
  Stream.chunksWith(stream, Stream.tap(() => effect))

/** Converts an `Either` to an effect. In Effect 3 it is one already. @since 0.1.0 @category conversions */
export const fromEither = <A, E>(either: Either.Either<A, E>): Effect.Effect<A, E> =>
  Either.match(either, { onLeft: Effect.fail, onRight: Effect.succeed })
