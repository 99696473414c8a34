/** The common part of the callers on Effect. Apart from `Caller`, so that the others do not load Effect. */
import * as Effect from "effect/Effect"

/** Makes calls of an effect in as many fibers as the concurrency. */
export const inFibers = <A, E, R>(once: Effect.Effect<A, E, R>) => (calls: number, concurrency: number): Effect.Effect<void, E, R> =>
  Effect.suspend(() => {
    let left = calls
    const loop = Effect.whileLoop({ while: () => left-- > 0, body: () => once, step: () => {} })
    return Effect.replicateEffect(loop, concurrency, { concurrency, discard: true })
  })
