/** Limits how many sources a runner reads at once. First come, first served. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface ReadSlots {
  /** Waits for a slot and holds it until the scope closes. */
  readonly acquire: Effect.Effect<void, never, Scope.Scope>
  /** Sources that are read now, and accounts that wait for a slot. */
  readonly counts: Effect.Effect<{ readonly reading: number; readonly waiting: number }>
}

export const make = (limit: number): ReadSlots => {
  const semaphore = Effect.unsafeMakeSemaphore(limit)
  let reading = 0
  let waiting = 0
  const take = Effect.sync(() => waiting++).pipe(
    Effect.zipRight(Effect.interruptible(semaphore.take(1))),
    Effect.ensuring(Effect.sync(() => waiting--)),
    Effect.zipRight(Effect.sync(() => reading++))
  )
  return {
    acquire: Effect.asVoid(
      Effect.acquireRelease(Effect.uninterruptible(take), () => Effect.zipRight(Effect.sync(() => reading--), semaphore.release(1)))
    ),
    counts: Effect.sync(() => ({ reading, waiting }))
  }
}
