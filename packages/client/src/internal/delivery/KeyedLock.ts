/**
 * A lock for each key: effects with the same key run one after the other, first in, first out.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

/** @since 0.1.0 @category models */
export type KeyedLock = (key: string) => <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/**
 * Keeps a lock only while an effect uses it. Belongs to no scope, so that a call after the release of the layer still passes and then
 * fails with `ClientClosed`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<KeyedLock> = Effect.gen(function*() {
  const locks = yield* RcMap.make({ lookup: (_: string) => Semaphore.make(1) }).pipe(Scope.provide(yield* Scope.make()))
  return (key) => (effect) => Effect.scoped(Effect.flatMap(RcMap.get(locks, key), (lock) => lock.withPermit(effect)))
})
