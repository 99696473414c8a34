/**
 * When a file is worth reading again: once it differs from what it was and has come to rest, and from time to time in any case. Knows
 * nothing of files but how to ask for the version of one.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as Poll from "./Poll.js"

/** @since 0.1.0 @category models */
export interface WatchOptions<E> {
  /** The version the file is in; none where there is no file. */
  readonly version: Effect.Effect<Option.Option<string>>
  /** Whether two versions are of different files that had the name one after the other, not of one that was written. */
  readonly replaced: (before: string, after: string) => boolean
  /**
   * Says that something has happened near the file, that is in its folder: an editor that writes a new file and gives it the name of
   * the old one leaves nothing to watch in the old one.
   */
  readonly signals: Stream.Stream<unknown, E>
  readonly poll: Duration.Duration
}

/**
 * For how long a file has to stay as it is to be at rest.
 *
 * @since 0.1.0
 * @category constants
 */
export const rest: Duration.Duration = Duration.seconds(1)

// So many looks in a row that each find another file: whoever puts new ones in the place of old ones all the time doesn't write in them,
// and waiting for rest would be waiting for ever.
const restless = 10

const same = Option.getEquivalence((one: string, other: string) => one === other)

/**
 * Says that the file is worth opening. After a signal only if it is in another version than it was; after each `poll` always, so that
 * who listens can tell a source that is there from one that is gone. Never while the file is being written; one that is replaced again
 * and again is opened every ten seconds.
 *
 * @since 0.1.0
 * @category streams
 */
export const changes = <E>({ poll, replaced, signals, version }: WatchOptions<E>): Stream.Stream<void> => {
  /** The version that the file has come to rest in, or the latest of one that never does. */
  const settled: Effect.Effect<Option.Option<string>> = Effect.flatMap(version, (first) => {
    const again = (before: Option.Option<string>, files: number): Effect.Effect<Option.Option<string>> =>
      Effect.flatMap(Effect.delay(version, rest), (after) => {
        const others = Option.exists(Option.zipWith(before, after, replaced), (other) => other) ? files + 1 : 0
        return same(before, after) || others >= restless ? Effect.succeed(after) : again(after, others)
      })
    return again(first, 0)
  })
  // No word can be had where the folder isn't there or the system watches too much already: then the time alone remains, and
  // another try with it. The defects are the platform's, which throws where it can't begin to watch.
  const heard = signals.pipe(
    Stream.catchAllCause(() => Stream.empty),
    Stream.repeat(Schedule.spaced(poll)),
    // While one look lasts any number of signals are one.
    Stream.buffer({ capacity: 1, strategy: "sliding" })
  )
  return Stream.unwrap(Effect.map(version, (first) => {
    let known = first
    const look = Effect.map(settled, (found) => {
      const different = !same(found, known)
      known = found
      return different
    })
    return Stream.merge(
      Stream.filterEffect(heard, () => Effect.flatMap(version, (now) => (same(now, known) ? Effect.succeed(false) : look))),
      Stream.mapEffect(Poll.every(poll), () => look)
    ).pipe(Stream.as(undefined))
  }))
}
