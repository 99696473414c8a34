/** Logs the failures of a step that is repeated: as a warning when they begin, and with the level debug while they repeat. */
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import * as Ref from "effect/Ref"

/** Returns what runs the step and logs its failure, as an event with this name. */
export const make = (event: string) =>
  Effect.map(
    Ref.make(false),
    (isFailing) => <E extends { readonly message: string }, R>(step: Effect.Effect<unknown, E, R>): Effect.Effect<void, never, R> =>
      Effect.matchEffect(step, {
        onSuccess: () => Ref.set(isFailing, false),
        onFailure: ({ message }) =>
          Effect.flatMap(Ref.getAndSet(isFailing, true),
            (isRepeated) =>
              Effect.annotateLogs(Effect.logWithLevel(isRepeated ? LogLevel.Debug : LogLevel.Warning, event), { detail: message }))
      })
  )
