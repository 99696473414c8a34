/** Logs the failures of an effect that a runner repeats: a warning when they begin, and debug lines while they last. */
import * as Effect from "effect/Effect"
import { log } from "../../observability/EventLogger.ts"

/** Each use keeps a state of its own. */
export const logged = (
  event: string
): <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<void, never, R> => {
  let failing = false
  return Effect.matchEffect({
    onSuccess: () =>
      Effect.sync(() => {
        failing = false
      }),
    onFailure: ({ message }) => {
      const level = failing ? "Debug" : "Warn"
      failing = true
      return log(level, event, { detail: message })
    }
  })
}
