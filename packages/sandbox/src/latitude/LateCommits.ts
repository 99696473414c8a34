/**
 * Writes that are carried out after their caller was given up, by the clock of that caller.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"

/** @since 0.1.0 @category services */
export class LateCommits extends Context.Tag("@plaza/sandbox/LateCommits")<LateCommits, {
  /** Runs an effect after so many milliseconds, unless the sandbox is reset or stopped before. */
  readonly schedule: (millis: number, commit: Effect.Effect<unknown, unknown>) => Effect.Effect<void>
  /** Forgets all that are still to come. */
  readonly clear: Effect.Effect<void>
}>() {}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<LateCommits> = Layer.scoped(
  LateCommits,
  Effect.map(FiberSet.make(), (fibers) => ({
    schedule: (millis, commit) =>
      Effect.asVoid(FiberSet.run(fibers, Effect.zipRight(Effect.interruptible(Effect.sleep(Duration.millis(millis))), Effect.ignore(commit)))),
    clear: FiberSet.clear(fibers)
  }))
)
