/**
 * Emits when to open a file again: when its version has changed, and after each poll interval in any case.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as PollInterval from "./PollInterval.ts"

export interface WatchOptions<E> {
  /** The version of the file; none if there is no file. */
  readonly version: Effect.Effect<Option.Option<string>>
  /** Emits after a change in the file's folder. */
  readonly signals: Stream.Stream<unknown, E>
  readonly poll: Duration.Duration
}

const same = Option.getEquivalence((one: string, other: string) => one === other)

/**
 * Emits after a signal if the version differs, and after each `poll` always, so that the reader notices a missing file.
 */
export const changes = <E>({ poll, signals, version }: WatchOptions<E>): Stream.Stream<void> => {
  // Without the folder, or with too many watchers on the machine, watching fails, and is retried after each interval. The platform throws a
  // defect then.
  const changed = signals.pipe(
    Stream.catchAllCause(() => Stream.empty),
    Stream.repeat(Schedule.spaced(poll)),
    // Signals during a check are merged.
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
      Stream.filterEffect(changed, () => differs),
      Stream.mapEffect(PollInterval.every(poll), () => differs)
    ).pipe(Stream.as(undefined))
  }))
}
