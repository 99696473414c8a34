/**
 * Passes a reserved slot from the caller to the first attempt of a call.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { Slot } from "../../RateLimit.ts"
import { fiberLocal } from "../Compat.ts"

/** A reserved slot, until the first attempt takes it. The fibers of a call share this cell, so only one of them takes the slot. */
interface Reservation {
  slot: Slot | undefined
}

const reservation = fiberLocal<Reservation | undefined>("@plaza-legacy/client/Reservation", undefined)

/**
 * Sends the first attempt of a call in a reserved slot. Later attempts wait for slots of their own.
 *
 * @since 0.1.0
 * @category combinators
 */
export const inSlot = (slot: Slot) => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  reservation.locallyWith(() => ({ slot }))(call)

/**
 * Runs an effect with the slot of {@link inSlot}, if no attempt has taken it.
 *
 * @since 0.1.0
 * @category combinators
 */
export const withReserved = <A, E, R>(f: (slot: Slot | undefined) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  reservation.with((reservation) => {
    const slot = reservation?.slot
    if (reservation !== undefined) {
      reservation.slot = undefined
    }
    return f(slot)
  })
