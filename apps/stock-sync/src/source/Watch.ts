/**
 * When to open a file again: when its version differs from the last one seen, and after each poll interval in any case.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as PollInterval from "./PollInterval.js"

export interface WatchOptions<E> {
  /** The version of the file; none where there is no file. */
  readonly version: Effect.Effect<Option.Option<string>>
  /** Emits when something has happened in the file's folder. */
  readonly signals: Stream.Stream<unknown, E>
  readonly poll: Duration.Duration
}

const same = Option.getEquivalence((one: string, other: string) => one === other)

/**
 * Emits when the file is worth opening: after a signal if its version differs, and after each `poll` always, so that the listener can
 * tell a file that is there from one that is gone.
 */
export const changes = <E>({ poll, signals, version }: WatchOptions<E>): Stream.Stream<void> => {
  // Without its folder, or with too many watchers on the machine, only polling is left, and another attempt with each poll. The defects
  // are the platform's, which throws where it can't begin to watch.
  const heard = signals.pipe(
    Stream.catchAllCause(() => Stream.empty),
    Stream.repeat(Schedule.spaced(poll)),
    // Signals that come during a look are one.
    Stream.buffer({ capacity: 1, strategy: "sliding" })
  )
  return Stream.unwrap(Effect.map(version, (first) => {
    let known = first
    const differs = Effect.map(version, (found) => {
      const different = !same(found, known)
      known = found
      return different
    })
    return Stream.merge(
      Stream.filterEffect(heard, () => differs),
      Stream.mapEffect(PollInterval.every(poll), () => differs)
    ).pipe(Stream.as(undefined))
  }))
}
