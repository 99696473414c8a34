/** Stops waiting for work that can't be interrupted at once, such as a statement of a database that does not respond. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/** Runs an effect whose interruption ends in the background: a stop or a timeout does not wait for it. */
export const disconnect = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) =>
    Effect.onInterrupt(Fiber.join(fiber), () => Effect.sync(() => fiber.interruptUnsafe())))
