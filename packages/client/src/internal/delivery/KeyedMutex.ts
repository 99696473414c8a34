/**
 * A mutex for each key: effects with the same key run one after the other, first in, first out.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"

/** @since 0.1.0 @category models */
export type KeyedMutex = (key: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Entry {
  readonly semaphore: Effect.Semaphore
  users: number
}

/**
 * Needs no scope. A call after the layer's release still passes and then fails with `ClientClosed`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (): KeyedMutex => {
  const entries = new Map<string, Entry>()
  const acquire = (key: string) =>
    Effect.sync(() => {
      const entry = entries.get(key) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
      entry.users++
      entries.set(key, entry)
      return entry
    })
  const release = (key: string, entry: Entry) =>
    Effect.sync(() => {
      entry.users--
      if (entry.users === 0) {
        entries.delete(key)
      }
    })
  return (key) => (effect) =>
    Effect.acquireUseRelease(acquire(key), ({ semaphore }) => semaphore.withPermits(1)(effect), (entry) => release(key, entry))
}
