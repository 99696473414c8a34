/**
 * How a slot is taken and what becomes of it: it serves one request, or goes back unused. Knows nothing of where slots
 * are kept.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { RateLimitWaitExceeded } from "../Failures.js"
import type { RateLimit, Slot } from "../RateLimit.js"

/** Lets an effect be interrupted as much as whoever asked for the slot. @since 0.1.0 @category models */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Where slots come from and go to. Nothing interrupts these but what they restore themselves.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source<S> {
  /** Waits for a slot, no longer than `patience`. */
  readonly take: (patience: Duration.Duration, restore: Restore) => Effect.Effect<S, RateLimitWaitExceeded>
  /** Runs a request in a slot, which counts as used however the request ends. */
  readonly spend: <A, E, R>(slot: S, request: Effect.Effect<A, E, R>, restore: Restore) => Effect.Effect<A, E, R>
  /** Nothing was sent from a slot. */
  readonly giveBack: (slot: S) => Effect.Effect<void>
}

/** @since 0.1.0 @category constructors */
export const from = <S>({ giveBack, spend, take }: Source<S>): Pick<RateLimit["Type"], "reserve" | "withSlot"> => ({
  reserve: (patience) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(take(patience, restore), (taken) => {
        let gone = false
        const slot: Slot = {
          use: (request) =>
            Effect.uninterruptibleMask((restore) => {
              if (gone) {
                return Effect.dieMessage("a slot of the allowance serves one request, as long as its scope is open")
              }
              gone = true
              return spend(taken, request, restore)
            })
        }
        const giveBackUnused = Effect.suspend(() => {
          if (gone) {
            return Effect.void
          }
          gone = true
          return giveBack(taken)
        })
        return Effect.as(Effect.addFinalizer(() => giveBackUnused), slot)
      })
    ),
  withSlot: (patience, request) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(take(patience, restore), (taken) => spend(taken, request, restore))
    )
})
