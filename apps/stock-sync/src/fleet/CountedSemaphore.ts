/** A semaphore that counts its held permits and the fibers that wait for one, for the status and the metrics of a runner. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

export interface CountedSemaphore {
  /** Runs an effect with a permit. */
  readonly withPermit: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Waits for a permit and holds it until the scope closes. */
  readonly acquire: Effect.Effect<void, never, Scope.Scope>
  readonly counts: () => { readonly held: number; readonly waiting: number }
}

export const make = (permits: number): CountedSemaphore => {
  const semaphore = Semaphore.makeUnsafe(permits)
  let held = 0
  let waiting = 0
  const taken = Effect.suspend(() => {
    waiting++
    return Effect.ensuring(semaphore.takeScoped(1), Effect.sync(() => void waiting--))
  })
  const counted = Effect.acquireRelease(Effect.sync(() => void held++), () => Effect.sync(() => void held--))
  const acquire = Effect.andThen(taken, counted)
  return {
    withPermit: (effect) =>
      Effect.acquireUseRelease(Scope.make(), (scope) => Effect.andThen(Scope.provide(acquire, scope), effect), Scope.close),
    acquire,
    counts: () => ({ held, waiting })
  }
}
