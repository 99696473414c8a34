/**
 * Calls that have to run one after the other, by key, in the order in which they were made.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"

/** @since 0.1.0 @category models */
export type Turns = (key: string) => <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Turn {
  readonly semaphore: Effect.Semaphore
  users: number
}

/**
 * Holds nothing for a key that no call uses, and needs no scope, so that a call after the end of its layer still fails as
 * the client decides.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (): Turns => {
  const turns = new Map<string, Turn>()
  const acquire = (key: string) =>
    Effect.sync(() => {
      const turn = turns.get(key) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
      turn.users++
      turns.set(key, turn)
      return turn
    })
  const release = (key: string, turn: Turn) =>
    Effect.sync(() => {
      turn.users--
      if (turn.users === 0) {
        turns.delete(key)
      }
    })
  return (key) => (call) =>
    Effect.acquireUseRelease(acquire(key), ({ semaphore }) => semaphore.withPermits(1)(call), (turn) => release(key, turn))
}
