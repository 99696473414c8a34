/**
 * Permits in the order of the requests. The platform's semaphore wakes every waiting fiber for each released permit, so with hundreds
 * of waiting accounts one use costs many times as much (docs/decisions/035-permits.md).
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Permits {
  /** Runs an effect with a permit. The wait for it can be interrupted. */
  readonly withPermit: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Waits for a permit and holds it until the scope closes. */
  readonly acquire: Effect.Effect<void, never, Scope.Scope>
  readonly counts: Effect.Effect<{ readonly held: number; readonly waiting: number }>
}

interface Request {
  granted: boolean
  grant: () => void
}

export const unsafeMake = (permits: number): Permits => {
  let held = 0
  const waiting = new Set<Request>()

  const request = (): Request => {
    const granted = held < permits
    const made: Request = { granted, grant: () => {} }
    if (granted) held++
    else waiting.add(made)
    return made
  }

  /** Whether it was granted is known here only: an interruption may come between the grant and the waiting fiber's next step. */
  const end = (ended: Request) =>
    Effect.sync(() => {
      const [next] = waiting
      if (!ended.granted) {
        waiting.delete(ended)
      } else if (next === undefined) {
        held--
      } else {
        waiting.delete(next)
        next.granted = true
        next.grant()
      }
    })

  const awaitGrant = (made: Request): Effect.Effect<void> =>
    made.granted ? Effect.void : Effect.async<void>((resume) => {
      made.grant = () => resume(Effect.void)
      if (made.granted) made.grant()
    })

  return {
    withPermit: (effect) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() => {
          const made = request()
          return Effect.ensuring(restore(Effect.zipRight(awaitGrant(made), effect)), end(made))
        })
      ),
    acquire: Effect.uninterruptible(Effect.suspend(() => {
      const made = request()
      return Effect.zipRight(Effect.addFinalizer(() => end(made)), Effect.interruptible(awaitGrant(made)))
    })),
    counts: Effect.sync(() => ({ held, waiting: waiting.size }))
  }
}
